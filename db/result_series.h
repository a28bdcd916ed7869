/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_RESULT_SERIES_H
#define DB_RESULT_SERIES_H

/* Which series the metrics of a boot belong to. Private to db/result*.c. */

#include "db/result.h"

/*
 * One id for each metric of each run, in the order of result->runs and their metrics; the caller frees.
 * Metrics and series that are not there yet are made. runs[i] is the row of result->runs.v[i].
 * A metric whose unit or direction is not the stored one is ERR_FAILED.
 */
bool result_series(struct db *db, int64_t setup, const struct result *result, const int64_t *runs,
		   int64_t **series, struct err *err) _must_check;

#endif

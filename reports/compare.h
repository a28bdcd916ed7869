/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_COMPARE_H
#define REPORTS_COMPARE_H

/* Two commits side by side, in the layout that mm people know from mmtests. */

#include "base/js.h"
#include "db/compare.h"
#include "db/settings.h"
#include "reports/counter_table.h"
#include "stats/compare.h"

struct compare_row {
	const struct compared_series *series; /* in data */
	struct comparison stats; /* its p, and so significant, is Holm's over the whole table */
	char *problem;		 /* why there are no stats; NULL = there are */
};

struct compare_table {
	struct compare_data data;
	struct compare_row *rows;
	size_t n_rows, cap_rows;
	struct compared_counters counters;
	struct counter_table counter_rows;
};

void compare_table_release(struct compare_table *table);
/* Reads the boots and does the statistics. A pair without common boots has no rows. */
bool compare_table_read(struct db *db, const struct compare_key *key, struct compare_table *out,
			struct err *err) _must_check;
/* The statistics of table->data, filled by the caller. */
void compare_table_compute(struct compare_table *table);
/* A row with a direction got significantly worse, by as much as is worth reporting. */
bool compare_table_worse(const struct compare_table *table, const struct worth *worth);

void compare_table_print(const struct compare_table *table, struct str *out);
/* A new reference. */
json_t *compare_table_json(const struct compare_table *table);

#endif

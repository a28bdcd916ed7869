/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_REQUEST_WORK_H
#define DB_REQUEST_WORK_H

/* Requests by hand as the bisector moves them on; db/request.h is the person's side. */

#include "base/js.h"
#include "db/conn.h"

/* Ids of requests that are queued or running, oldest first; the caller frees *ids. */
bool requests_open(struct db *db, int64_t **ids, size_t *n, struct err *err) _must_check;
/* Ids of cancelled requests that still have jobs or a bisection going on. */
bool requests_to_stop(struct db *db, int64_t **ids, size_t *n, struct err *err) _must_check;

bool request_start(struct db *db, int64_t id, struct err *err) _must_check;
/* These two do nothing to a request that was cancelled meanwhile. */
bool request_finish(struct db *db, int64_t id, const json_t *result, struct err *err) _must_check;
bool request_fail(struct db *db, int64_t id, const char *error, struct err *err) _must_check;

#endif

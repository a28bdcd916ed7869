/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_RESULT_COPY_H
#define DB_RESULT_COPY_H

/* Bulk rows by COPY, in PostgreSQL's text format. Private to db/result*.c. */

#include "db/result.h"

/* One COPY; it begins with its first row, so that an empty one costs nothing. */
struct copy {
	struct db *db;
	const char *sql;
	struct str text;
	bool begun;
	bool in_row;
};

/* sql is borrowed. An abandoned COPY is undone by the transaction's rollback. */
struct copy copy_into(struct db *db, const char *sql);
void copy_release(struct copy *copy);
/* Columns, in order; copy_text() takes NULL for SQL NULL. */
void copy_i64(struct copy *copy, int64_t value);
void copy_f64(struct copy *copy, double value);
void copy_text(struct copy *copy, const char *text);
void copy_bool(struct copy *copy, bool value);
void copy_f64s(struct copy *copy, const double *v, size_t n);
void copy_i64s(struct copy *copy, const int64_t *v, size_t n);
/* Ends a row; sends when enough has come together. */
bool copy_row(struct copy *copy, struct err *err) _must_check;
bool copy_end(struct copy *copy, struct err *err) _must_check;

/* Lock waits, lock health, histograms and counters; runs[i] is the row of result->runs.v[i]. */
bool result_copy_details(struct db *db, const struct result *result, const int64_t *runs,
			 struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_ROW_H
#define DB_ROW_H

/*
 * Typed reads of a result. Text is borrowed until rows_free(). An unknown column, a NULL where a
 * number is read, or text that is no number aborts: the SQL stands just above, it is our bug.
 */

#include "db/conn.h"

size_t rows_n(const struct rows *rows); /* 0 for NULL */
void rows_free(struct rows *rows);
void rows_free_ptr(struct rows **rows);
#define AUTO_ROWS CLEANUP(rows_free_ptr) struct rows

bool row_is_null(const struct rows *rows, size_t i, const char *column);
int64_t row_i64(const struct rows *rows, size_t i, const char *column);
/* NULL reads as 0: for optional references. */
int64_t row_id(const struct rows *rows, size_t i, const char *column);
double row_f64(const struct rows *rows, size_t i, const char *column);
/* NULL reads as NAN. */
double row_f64_or_nan(const struct rows *rows, size_t i, const char *column);
bool row_bool(const struct rows *rows, size_t i, const char *column);
/* NULL pointer for SQL NULL. */
const char *row_text(const struct rows *rows, size_t i, const char *column);
/* A copy that the caller frees; NULL for SQL NULL. */
char *row_dup(const struct rows *rows, size_t i, const char *column);
/* One-dimensional arrays without NULLs; *out is the caller's to free. */
size_t row_i64s(const struct rows *rows, size_t i, const char *column, int64_t **out);
size_t row_f64s(const struct rows *rows, size_t i, const char *column, double **out);

#endif

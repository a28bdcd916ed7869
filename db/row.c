// SPDX-License-Identifier: GPL-2.0-or-later
/* Typed reads of results. */
#include "db/row.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/conn_internal.h"

size_t rows_n(const struct rows *rows)
{
	return rows ? (size_t)PQntuples(rows->result) : 0;
}

void rows_free(struct rows *rows)
{
	if (!rows)
		return;
	PQclear(rows->result);
	free(rows);
}

void rows_free_ptr(struct rows **rows)
{
	rows_free(*rows);
}

static _Noreturn void misread(const char *column, const char *what, const char *text)
{
	fprintf(stderr, "bug: column %s: %s (%s)\n", column, what, text);
	abort();
}

static int field(const struct rows *rows, const char *column)
{
	int f = PQfnumber(rows->result, column);

	if (f < 0)
		misread(column, "not in the result", "");
	return f;
}

bool row_is_null(const struct rows *rows, size_t i, const char *column)
{
	return PQgetisnull(rows->result, (int)i, field(rows, column));
}

const char *row_text(const struct rows *rows, size_t i, const char *column)
{
	int f = field(rows, column);

	return PQgetisnull(rows->result, (int)i, f) ? NULL : PQgetvalue(rows->result, (int)i, f);
}

char *row_dup(const struct rows *rows, size_t i, const char *column)
{
	return xstrdup_null(row_text(rows, i, column));
}

static const char *value(const struct rows *rows, size_t i, const char *column)
{
	const char *text = row_text(rows, i, column);

	if (!text)
		misread(column, "is null", "");
	return text;
}

int64_t row_i64(const struct rows *rows, size_t i, const char *column)
{
	const char *text = value(rows, i, column);
	long long v;

	if (!str_to_i64(text, &v))
		misread(column, "is no integer", text);
	return v;
}

int64_t row_id(const struct rows *rows, size_t i, const char *column)
{
	return row_is_null(rows, i, column) ? 0 : row_i64(rows, i, column);
}

double row_f64(const struct rows *rows, size_t i, const char *column)
{
	const char *text = value(rows, i, column);
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end)
		misread(column, "is no number", text);
	return v;
}

double row_f64_or_nan(const struct rows *rows, size_t i, const char *column)
{
	return row_is_null(rows, i, column) ? NAN : row_f64(rows, i, column);
}

bool row_bool(const struct rows *rows, size_t i, const char *column)
{
	return value(rows, i, column)[0] == 't';
}

static void split_array(const struct rows *rows, size_t i, const char *column, struct strs *out)
{
	const char *text = row_text(rows, i, column);

	if (text)
		strs_split(out, text, "{},");
}

size_t row_i64s(const struct rows *rows, size_t i, const char *column, int64_t **out)
{
	AUTO_STRS items = STRS_INIT;

	split_array(rows, i, column, &items);
	*out = xcalloc(items.n, sizeof(**out));
	for (size_t k = 0; k < items.n; k++) {
		long long v;

		if (!str_to_i64(items.v[k], &v))
			misread(column, "holds no integer", items.v[k]);
		(*out)[k] = v;
	}
	return items.n;
}

size_t row_f64s(const struct rows *rows, size_t i, const char *column, double **out)
{
	AUTO_STRS items = STRS_INIT;

	split_array(rows, i, column, &items);
	*out = xcalloc(items.n, sizeof(**out));
	for (size_t k = 0; k < items.n; k++)
		(*out)[k] = strtod(items.v[k], NULL);
	return items.n;
}

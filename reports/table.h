/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_TABLE_H
#define REPORTS_TABLE_H

/* Columns of text that line up: the first on its left edge, the others on their right. */

#include "base/str.h"

struct table {
	size_t columns;
	const char *left; /* a letter 'l' for each further column on its left edge; NULL = none */
	struct strs cells;
};

#define AUTO_TABLE CLEANUP(table_release) struct table

void table_release(struct table *table);
/* `columns` texts; they are copied and must not hold newlines. */
void table_row(struct table *table, const char *const *cells);
#define TABLE_ROW(table, ...) table_row(table, (const char *const[]){__VA_ARGS__})
/* Two blanks between columns, no blanks at line ends; indent goes in front of each line. */
void table_print(const struct table *table, const char *indent, struct str *out);

/* Words of text (broken at blanks) in lines of at most width columns; every line but the first gets
 * indent in front. */
void table_wrap(struct str *out, const char *text, size_t width, const char *indent);

#endif

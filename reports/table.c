// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns that align. */
#include "reports/table.h"

#include <string.h>

void table_release(struct table *table)
{
	strs_release(&table->cells);
}

void table_row(struct table *table, const char *const *cells)
{
	for (size_t i = 0; i < table->columns; i++)
		strs_push(&table->cells, cells[i] ? cells[i] : "");
}

/* Code points, which is what a terminal shows for everything that we print. */
static size_t width_of(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void pad(struct str *out, size_t n)
{
	while (n--)
		str_addc(out, ' ');
}

static bool on_left(const struct table *table, size_t column)
{
	if (!column)
		return true;
	return table->left && column - 1 < strlen(table->left) && table->left[column - 1] == 'l';
}

static void cut_blanks(struct str *out)
{
	while (out->len && out->s[out->len - 1] == ' ')
		out->s[--out->len] = '\0';
}

void table_print(const struct table *table, const char *indent, struct str *out)
{
	AUTO_FREE size_t *widths = xcalloc(table->columns, sizeof(*widths));

	for (size_t i = 0; i < table->cells.n; i++) {
		size_t width = width_of(table->cells.v[i]);

		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
	for (size_t i = 0; i < table->cells.n; i++) {
		size_t column = i % table->columns;
		size_t fill = widths[column] - width_of(table->cells.v[i]);

		str_add(out, column ? "  " : indent);
		if (!on_left(table, column))
			pad(out, fill);
		str_add(out, table->cells.v[i]);
		if (on_left(table, column))
			pad(out, fill);
		if (column == table->columns - 1) {
			cut_blanks(out);
			str_addc(out, '\n');
		}
	}
}

void table_wrap(struct str *out, const char *text, size_t width, const char *indent)
{
	AUTO_STRS words = STRS_INIT;
	size_t line = width_of(indent);

	strs_split(&words, text, " ");
	for (size_t i = 0; i < words.n; i++) {
		size_t more = width_of(words.v[i]);

		if (i && line + 1 + more > width) {
			str_addf(out, "\n%s", indent);
			line = width_of(indent);
		} else if (i) {
			str_addc(out, ' ');
			line++;
		}
		str_add(out, words.v[i]);
		line += more;
	}
	str_addc(out, '\n');
}

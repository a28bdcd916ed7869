// SPDX-License-Identifier: GPL-2.0-or-later
/* Tables for a terminal. */
#include "cli/show.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"

void show_safe(const char *text, struct str *out)
{
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;
		/* U+0080 to U+009F are controls too: C2 80 to C2 9F in UTF-8. */
		bool c1 = c == 0xc2 && (unsigned char)text[1] >= 0x80 &&
			  (unsigned char)text[1] <= 0x9f;

		if (c1)
			text++;
		str_addc(out, c < ' ' || c == 0x7f || c1 ? '?' : (char)c);
	}
}

static void add_number(double v, enum show_as as, struct str *out)
{
	switch (as) {
	case SHOW_SHARE:
		str_addf(out, "%.1f %%", 100 * v);
		break;
	case SHOW_EFFECT:
		str_addf(out, "%+.1f %%", 100 * expm1(v));
		break;
	case SHOW_PROB:
		str_addf(out, "%.4f", v);
		break;
	case SHOW_SPAN:
		clock_add_span(out, v);
		break;
	case SHOW_NUMBER:
		str_addf(out, "%.4g", v);
		break;
	case SHOW_TEXT:
	case SHOW_OID:
	case SHOW_COUNT:
		str_addf(out, "%.0f", v);
		break;
	}
}

void show_value(const json_t *value, enum show_as as, struct str *out)
{
	if (json_is_string(value) && as == SHOW_OID)
		str_addf(out, "%.12s", json_string_value(value));
	else if (json_is_string(value))
		show_safe(json_string_value(value), out);
	else if (json_is_number(value))
		add_number(json_number_value(value), as, out);
	else if (json_is_boolean(value))
		str_add(out, json_is_true(value) ? "yes" : "no");
	else
		str_addc(out, '-');
}

/* Characters, not bytes: what a column is wide. */
static int width_of(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void cut(struct str *text, int max)
{
	char *s = text->s;

	if (max <= 0 || width_of(s) <= max)
		return;
	for (int n = 0; *s; s++) {
		n += ((unsigned char)*s & 0xc0) != 0x80;
		if (n == max)
			break;
	}
	text->len = (size_t)(s - text->s);
	*s = '\0';
	str_add(text, "\xe2\x80\xa6");
}

static bool right_aligned(enum show_as as)
{
	return as != SHOW_TEXT && as != SHOW_OID;
}

static struct str cell(const json_t *row, const struct show_column *column)
{
	struct str text = str_new();

	show_value(json_object_get(row, column->key), column->as, &text);
	cut(&text, column->max);
	return text;
}

static void print_cell(FILE *f, const char *text, int width, const struct show_column *column)
{
	int pad = width - width_of(text);
	bool last = !column[1].title;

	if (right_aligned(column->as))
		fprintf(f, "%*s%s%s", pad, "", text, last ? "" : "  ");
	else
		fprintf(f, "%s%*s", text, last ? 0 : pad + 2, "");
}

#define COLUMNS_MAX 16

static void measure(const json_t *rows, const struct show_column *columns, int *widths)
{
	json_t *row;
	size_t i;

	for (size_t c = 0; columns[c].title; c++)
		widths[c] = width_of(columns[c].title);
	json_array_foreach(rows, i, row)
	{
		for (size_t c = 0; columns[c].title; c++) {
			AUTO_STR text = cell(row, &columns[c]);
			int w = width_of(text.s);

			widths[c] = w > widths[c] ? w : widths[c];
		}
	}
}

void show_table(const json_t *rows, const struct show_column *columns, FILE *f)
{
	int widths[COLUMNS_MAX] = {0};
	json_t *row;
	size_t i;

	measure(rows, columns, widths);
	for (size_t c = 0; columns[c].title; c++)
		print_cell(f, columns[c].title, widths[c], &columns[c]);
	fputc('\n', f);
	json_array_foreach(rows, i, row)
	{
		for (size_t c = 0; columns[c].title; c++) {
			AUTO_STR text = cell(row, &columns[c]);

			print_cell(f, text.s, widths[c], &columns[c]);
		}
		fputc('\n', f);
	}
}

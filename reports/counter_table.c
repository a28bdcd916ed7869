// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters, ranked. */
#include "reports/counter_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/escape.h"
#include "reports/number.h"
#include "reports/table.h"
#include "stats/multiple.h"

enum {
	MOST_ROWS = 20 /* a screen */
};

void counter_table_release(struct counter_table *table)
{
	free(table->v);
	*table = (struct counter_table){0};
}

static int by_change(const void *a, const void *b)
{
	const struct counter_row *x = a, *y = b;
	double dx = fabs(x->stats.change), dy = fabs(y->stats.change);

	if (dx != dy)
		return dx > dy ? -1 : 1;
	return strcmp(x->counter->name, y->counter->name);
}

void counter_table_compute(const struct compared_counters *counters, struct counter_table *out)
{
	AUTO_FREE double *p = xcalloc(counters->n, sizeof(*p));
	size_t kept = 0;

	*out = (struct counter_table){0};
	for (size_t i = 0; i < counters->n; i++) {
		const struct compared_counter *c = &counters->v[i];
		struct standardised stats;

		if (!standardise(c->before, c->before_n, c->after, c->after_n, &stats))
			continue;
		p[out->n] = stats.p;
		*array_push(out->v, out->n, out->cap) = (struct counter_row){c, stats};
	}
	out->compared = out->n;
	multiple_holm(p, out->n);
	for (size_t i = 0; i < out->n; i++) {
		out->v[i].stats.p = p[i];
		if (p[i] < 0.05)
			out->v[kept++] = out->v[i];
	}
	out->n = kept;
	if (kept)
		qsort(out->v, kept, sizeof(*out->v), by_change);
}

void counter_table_print(struct str *out, const struct counter_table *table, const char *before,
			 const char *after)
{
	AUTO_TABLE rows = {.columns = 6, .left = " "};
	size_t most = table->n < MOST_ROWS ? table->n : MOST_ROWS;

	if (!table->compared)
		return;
	str_addf(out,
		 "\nCounters that differ (clean passes, per boot; change in standard deviations of "
		 "one boot):\n%s",
		 table->n ? "\n" : "none of ");
	if (!table->n) {
		str_addf(out, "%zu, beyond chance.\n", table->compared);
		return;
	}
	TABLE_ROW(&rows, "", "benchmark", before, after, "change", "in sd");
	for (size_t i = 0; i < most; i++) {
		const struct counter_row *row = &table->v[i];
		AUTO_FREE char *sd = xasprintf("%+.1f", row->stats.change);
		AUTO_STR name = str_new(), benchmark = str_new();

		escape_text(&name, row->counter->name);
		escape_text(&benchmark, row->counter->benchmark);
		TABLE_ROW(&rows, name.s, benchmark.s, number_value(row->stats.before, "count").s,
			  number_value(row->stats.after, "count").s,
			  row->stats.before > 0
				  ? number_pct(100 * (row->stats.after / row->stats.before - 1)).s
				  : "new",
			  sd);
	}
	table_print(&rows, "  ", out);
	if (table->n > most)
		str_addf(out, "  and %zu more of %zu\n", table->n - most, table->compared);
}

json_t *counter_table_json(const struct counter_table *table)
{
	json_t *list = json_array();

	for (size_t i = 0; i < table->n; i++) {
		const struct counter_row *row = &table->v[i];
		json_t *item = json_object();

		js_set_str(item, "benchmark", row->counter->benchmark);
		js_set_str(item, "params", row->counter->params);
		js_set_str(item, "name", row->counter->name);
		js_set_f64(item, "before", row->stats.before);
		js_set_f64(item, "after", row->stats.after);
		js_set_f64(item, "change_sd", row->stats.change);
		js_set_f64(item, "p", row->stats.p);
		json_array_append_new(list, item);
	}
	return list;
}

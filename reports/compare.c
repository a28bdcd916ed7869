// SPDX-License-Identifier: GPL-2.0-or-later
/* Side by side tables. */
#include "reports/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/environment.h"
#include "reports/escape.h"
#include "reports/lock_table.h"
#include "reports/number.h"
#include "reports/table.h"
#include "stats/multiple.h"

void compare_table_release(struct compare_table *table)
{
	for (size_t i = 0; i < table->n_rows; i++)
		free(table->rows[i].problem);
	free(table->rows);
	counter_table_release(&table->counter_rows);
	compared_counters_release(&table->counters);
	compare_data_release(&table->data);
	*table = (struct compare_table){0};
}

static struct compare_events counted(const struct events *events)
{
	if (events->kind == EVENTS_NONE)
		return (struct compare_events){0};
	return (struct compare_events){events->n,	events->hits,
				       events->of,	(const int64_t *const *)events->boots,
				       events->buckets, events->q};
}

/* Shares and tails have tests of their own; without counts of every boot it stays with their numbers. */
static void look_at_events(const struct compared_series *series, struct comparison *stats)
{
	struct compare_events before = counted(&series->before_events);
	struct compare_events after = counted(&series->after_events);

	compare_events(&before, &after, series->floor, better_parse(series->direction), stats);
}

static void compute_row(const struct compared_series *series, struct compare_row *row)
{
	struct err err = {0};

	row->series = series;
	if (!series->before_n || !series->after_n)
		row->problem = xasprintf("measured on one side only (%zu + %zu boots)",
					 series->before_n, series->after_n);
	else if (!compare_boots(series->before, series->before_n, series->after, series->after_n,
				series->floor, better_parse(series->direction), &row->stats, &err))
		row->problem = xstrdup(err.msg);
	else
		look_at_events(series, &row->stats);
}

/* A table of twenty metrics would star one of them by chance alone. */
static void correct_for_many(struct compare_table *table)
{
	AUTO_FREE double *p = xcalloc(table->n_rows, sizeof(*p));
	size_t n = 0;

	for (size_t i = 0; i < table->n_rows; i++)
		if (!table->rows[i].problem)
			p[n++] = table->rows[i].stats.p;
	multiple_holm(p, n);
	n = 0;
	for (size_t i = 0; i < table->n_rows; i++) {
		struct compare_row *row = &table->rows[i];

		if (row->problem)
			continue;
		row->stats.p = p[n++];
		row->stats.significant = row->stats.p < 0.05;
	}
}

void compare_table_compute(struct compare_table *table)
{
	for (size_t i = 0; i < table->data.n; i++)
		compute_row(&table->data.v[i],
			    array_push(table->rows, table->n_rows, table->cap_rows));
	correct_for_many(table);
	counter_table_compute(&table->counters, &table->counter_rows);
}

bool compare_table_read(struct db *db, const struct compare_key *key, struct compare_table *out,
			struct err *err)
{
	*out = (struct compare_table){0};
	if (!compare_data_read(db, key, &out->data, err) ||
	    !compared_counters_read(db, key, &out->counters, err))
		return false;
	compare_table_compute(out);
	return true;
}

static bool has_direction(const struct compare_row *row)
{
	return better_parse(row->series->direction) != BETTER_NONE;
}

bool compare_table_worse(const struct compare_table *table, const struct worth *worth)
{
	for (size_t i = 0; i < table->n_rows; i++) {
		const struct compare_row *row = &table->rows[i];

		if (!row->problem && has_direction(row) && row->stats.significant &&
		    row->stats.effect >= worth_of(worth, row->series->metric))
			return true;
	}
	return false;
}

static const char *word_of(const struct compare_row *row)
{
	if (!row->stats.significant || !has_direction(row))
		return "";
	return row->stats.effect > 0 ? "worse" : "better";
}

/* Percent of the value, whatever the direction: + is more. */
static double change_pct(const struct compare_row *row, double effect)
{
	return 100 * compare_relative(better_sign(better_parse(row->series->direction)) * effect);
}

static struct number_text interval_of(const struct compare_row *row)
{
	double a = change_pct(row, row->stats.lo), b = change_pct(row, row->stats.hi);

	return number_interval(fmin(a, b), fmax(a, b));
}

static void print_row(struct table *out, const struct compare_row *row)
{
	const struct comparison *stats = &row->stats;
	const char *star = stats->significant ? "*" : "";
	AUTO_STR name = str_new();
	AUTO_FREE char *n = xasprintf("%zu+%zu", stats->before_n, stats->after_n);
	AUTO_FREE char *change = xasprintf("%s%s", number_pct(change_pct(row, stats->effect)).s,
					   *star ? " *" : "  ");

	escape_text(&name, row->series->metric);
	if (row->problem) {
		TABLE_ROW(out, name.s, "-", "-", "-", "-", "-", "-", row->problem);
		return;
	}
	TABLE_ROW(out, name.s, number_value(stats->before_mean, row->series->unit).s,
		  number_value(stats->after_mean, row->series->unit).s, change, interval_of(row).s,
		  n, number_pct(100 * compare_relative(stats->mde)).s, word_of(row));
}

static bool same_group(const struct compared_series *a, const struct compared_series *b)
{
	return !strcmp(a->class_name, b->class_name) && !strcmp(a->benchmark, b->benchmark) &&
	       !strcmp(a->params_hash, b->params_hash) && !strcmp(a->pass, b->pass);
}

static void print_group(const struct compare_table *table, size_t from, size_t to, struct str *out)
{
	const struct compared_series *first = table->rows[from].series;
	AUTO_TABLE rows = {.columns = 8, .left = "      l"};
	AUTO_FREE char *before = xasprintf("%.12s", table->data.before_oid);
	AUTO_FREE char *after = xasprintf("%.12s", table->data.after_oid);

	str_addc(out, '\n');
	escape_text(out, first->benchmark);
	if (first->params && *first->params) {
		str_add(out, " (");
		escape_text(out, first->params);
		str_addc(out, ')');
	}
	str_add(out, " on ");
	escape_text(out, first->class_name);
	str_addf(out, ", %s pass:\n\n", first->pass);
	TABLE_ROW(&rows, "", before, after, "change  ", "95 % interval", "n", "detectable", "");
	for (size_t i = from; i < to; i++)
		print_row(&rows, &table->rows[i]);
	table_print(&rows, "  ", out);
}

static void print_head(const struct compare_data *data, struct str *out)
{
	str_addf(out, "base  %.12s  ", data->before_oid);
	escape_text(out, data->before_subject);
	str_addf(out, "\nnew   %.12s  ", data->after_oid);
	escape_text(out, data->after_subject);
	str_addc(out, '\n');
	if (json_array_size(data->differences)) {
		AUTO_STR text = str_new(), clean = str_new();

		str_add(&text,
			"The two sides were measured in different environments, and no series "
			"has both: ");
		environment_differences_text(data->differences, 5, &text);
		escape_text(&clean, text.s);
		str_addc(out, '\n');
		table_wrap(out, clean.s, 78, "");
		str_addc(out, '\n');
	}
	if (data->same_image)
		str_add(out, "\nBoth build to the same code: there is nothing to compare.\n");
}

/* Rows that were compared by their events, by name. */
static void name_rows(const struct compare_table *table, enum compare_test test, struct str *out)
{
	AUTO_STRS names = STRS_INIT;

	for (size_t i = 0; i < table->n_rows; i++) {
		const struct compare_row *row = &table->rows[i];

		if (row->problem || row->stats.test != test ||
		    strs_has(&names, row->series->metric))
			continue;
		if (names.n)
			str_add(out, ", ");
		escape_text(out, row->series->metric);
		strs_push(&names, row->series->metric);
	}
}

static void print_special(const struct compare_table *table, struct str *out)
{
	AUTO_STR shares = str_new(), tails = str_new();

	name_rows(table, COMPARE_SHARES, &shares);
	name_rows(table, COMPARE_TAILS, &tails);
	if (shares.len)
		str_addf(out, "By what the boots counted, as shares of all events: %s.\n",
			 shares.s);
	if (tails.len)
		str_addf(out, "No surer than the events of the boots' histograms allow: %s.\n",
			 tails.s);
}

void compare_table_print(const struct compare_table *table, struct str *out)
{
	size_t to;

	print_head(&table->data, out);
	if (table->data.same_image)
		return;
	if (!table->n_rows)
		str_add(out, "\nNo good boots of these two yet.\n");
	for (size_t from = 0; from < table->n_rows; from = to) {
		for (to = from + 1; to < table->n_rows; to++)
			if (!same_group(table->rows[from].series, table->rows[to].series))
				break;
		print_group(table, from, to, out);
	}
	for (size_t i = 0; i < table->data.n_locks; i++) {
		str_addc(out, '\n');
		escape_text(out, table->data.locks[i].benchmark);
		str_add(out, ": ");
		lock_table_print(out, &table->data.locks[i].changes, "base", "new");
	}
	counter_table_print(out, &table->counter_rows, "base", "new");
	if (table->n_rows)
		str_add(out, "\nGeometric means of n boots. * significant: p < 0.05 after Holm's "
			     "correction for the\nnumber of rows; Welch's t on logarithms, from 8 "
			     "boots a side Yuen's on trimmed ones.\nDetectable: the change that a "
			     "row by itself would have shown 9 times of 10.\n");
	print_special(table, out);
}

static json_t *row_json(const struct compare_row *row)
{
	const struct compared_series *series = row->series;
	json_t *obj = json_object();

	js_set_str(obj, "class", series->class_name);
	js_set_str(obj, "benchmark", series->benchmark);
	js_set_str(obj, "params", series->params);
	js_set_str(obj, "pass", series->pass);
	js_set_str(obj, "metric", series->metric);
	js_set_str(obj, "unit", series->unit);
	js_set_str(obj, "direction", series->direction);
	js_set_i64(obj, "base_n", (int64_t)series->before_n);
	js_set_i64(obj, "new_n", (int64_t)series->after_n);
	js_set_str(obj, "problem", row->problem);
	if (row->problem)
		return obj;
	js_set_f64(obj, "base", row->stats.before_mean);
	js_set_f64(obj, "new", row->stats.after_mean);
	js_set_f64(obj, "change_pct", change_pct(row, row->stats.effect));
	js_set_f64(obj, "change_lo_pct",
		   fmin(change_pct(row, row->stats.lo), change_pct(row, row->stats.hi)));
	js_set_f64(obj, "change_hi_pct",
		   fmax(change_pct(row, row->stats.lo), change_pct(row, row->stats.hi)));
	js_set_f64(obj, "detectable_pct", 100 * compare_relative(row->stats.mde));
	js_set_f64(obj, "p", row->stats.p);
	js_set_bool(obj, "significant", row->stats.significant);
	js_set_str(obj, "word", word_of(row));
	js_set_str(obj, "test", compare_test_name(row->stats.test));
	return obj;
}

json_t *compare_table_json(const struct compare_table *table)
{
	const struct compare_data *data = &table->data;
	json_t *obj = json_object(), *rows = json_array(), *locks = json_array();

	js_set_str(obj, "base", data->before_oid);
	js_set_str(obj, "base_subject", data->before_subject);
	js_set_str(obj, "new", data->after_oid);
	js_set_str(obj, "new_subject", data->after_subject);
	js_set_bool(obj, "same_image", data->same_image);
	for (size_t i = 0; i < table->n_rows; i++)
		json_array_append_new(rows, row_json(&table->rows[i]));
	js_set_new(obj, "rows", rows);
	for (size_t i = 0; i < data->n_locks; i++) {
		json_t *one = lock_table_json(&data->locks[i].changes);

		js_set_str(one, "benchmark", data->locks[i].benchmark);
		js_set_str(one, "params", data->locks[i].params);
		json_array_append_new(locks, one);
	}
	js_set_new(obj, "locks", locks);
	js_set_new(obj, "counters", counter_table_json(&table->counter_rows));
	if (data->differences)
		js_set_new(obj, "environments", json_deep_copy(data->differences));
	return obj;
}

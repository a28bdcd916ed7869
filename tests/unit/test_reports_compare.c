// SPDX-License-Identifier: GPL-2.0-or-later
/* The comparison table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "reports/compare.h"

static const struct worth worth = {.effect = 0.02, .wait_effect = 0.25};

static double *copy(const double *from, size_t n)
{
	double *out = xcalloc(n, sizeof(*out));

	memcpy(out, from, n * sizeof(*out));
	return out;
}

static void add_series(struct compare_data *data, const char *metric, const char *direction,
		       const double *before, const double *after, size_t n)
{
	struct compared_series *s = array_push(data->v, data->n, data->cap);

	*s = (struct compared_series){.class_name = xstrdup("ci"),
				      .benchmark = xstrdup("fault"),
				      .version = 1,
				      .params_hash = xstrdup("p"),
				      .params = xstrdup("threads=4"),
				      .pass = xstrdup("clean"),
				      .metric = xstrdup(metric),
				      .unit = xstrdup("ns"),
				      .direction = xstrdup(direction),
				      .before = copy(before, n),
				      .before_n = n,
				      .after = copy(after, n),
				      .after_n = n};
}

static void fill(struct compare_table *table, const char *direction)
{
	static const double low[] = {100, 101, 99, 100}, high[] = {120, 121, 119, 120};

	table->data.before_oid = xstrdup("1111111111111111111111111111111111111111");
	table->data.before_subject = xstrdup("before");
	table->data.after_oid = xstrdup("2222222222222222222222222222222222222222");
	table->data.after_subject = xstrdup("after\r\nx: y");
	add_series(&table->data, "latency", direction, low, high, 4);
	add_series(&table->data, "same", "lower", low, low, 4);
	add_series(&table->data, "gone", "lower", low, high, 4);
	table->data.v[2].after_n = 0;
	compare_table_compute(table);
}

static void prints_what_changed(void **state _unused)
{
	CLEANUP(compare_table_release) struct compare_table table = {0};
	AUTO_STR out = str_new();

	fill(&table, "lower");
	compare_table_print(&table, &out);
	assert_non_null(
		strstr(out.s, "base  111111111111  before\nnew   222222222222  after\\r\\nx: y\n"));
	assert_non_null(strstr(out.s, "fault (threads=4) on ci, clean pass:\n"));
	assert_non_null(strstr(out.s, "  latency      100.0 ns      120.0 ns  +20.0 % *  "));
	assert_non_null(strstr(out.s, "worse\n"));
	assert_non_null(strstr(out.s, "measured on one side only (4 + 0 boots)"));
	assert_true(compare_table_worse(&table, &worth));
}

static void more_can_be_better(void **state _unused)
{
	CLEANUP(compare_table_release) struct compare_table table = {0};
	AUTO_STR out = str_new();

	fill(&table, "higher");
	compare_table_print(&table, &out);
	assert_non_null(strstr(out.s, "+20.0 % *"));
	assert_non_null(strstr(out.s, "better\n"));
	assert_false(compare_table_worse(&table, &worth));
}

static void no_direction_is_not_judged(void **state _unused)
{
	CLEANUP(compare_table_release) struct compare_table table = {0};

	fill(&table, "none");
	assert_true(table.rows[0].stats.significant);
	assert_false(compare_table_worse(&table, &worth));
}

static void json_has_the_rows(void **state _unused)
{
	CLEANUP(compare_table_release) struct compare_table table = {0};
	AUTO_JSON *json = NULL;
	json_t *rows;
	struct err err = {0};

	fill(&table, "lower");
	json = compare_table_json(&table);
	assert_true(js_get_array(json, "rows", &rows, &err));
	assert_int_equal(json_array_size(rows), 3);
	assert_string_equal(js_str_or(json_array_get(rows, 0), "word", ""), "worse");
	assert_true(js_f64_or(json_array_get(rows, 0), "change_pct", 0) > 19.9);
	assert_non_null(js_str_or(json_array_get(rows, 2), "problem", NULL));
}

static void little_is_not_worse(void **state _unused)
{
	CLEANUP(compare_table_release) struct compare_table table = {0};
	const struct worth much = {.effect = 0.2, .wait_effect = 0.2};

	fill(&table, "lower");
	assert_true(table.rows[0].stats.significant);
	assert_false(compare_table_worse(&table, &much));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_what_changed),	      cmocka_unit_test(more_can_be_better),
		cmocka_unit_test(no_direction_is_not_judged), cmocka_unit_test(json_has_the_rows),
		cmocka_unit_test(little_is_not_worse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

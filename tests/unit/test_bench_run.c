// SPDX-License-Identifier: GPL-2.0-or-later
/* Parameters, tables, and a real run of the fault benchmark. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "bench/bench_run.h"
#include "bench/benchmarks.h"

static const char *text_of(const json_t *params, const char *key)
{
	return js_str_or(params, key, "(none)");
}

static void settled_parameters_are_canonical(void **state)
{
	AUTO_JSON *given =
		json_pack("{s:s, s:s, s:s}", "size", "16384K", "threads", "03", "preset", "guest");
	AUTO_JSON *params = NULL;
	struct err err;

	(void)state;
	assert_true(bench_params_settle(&bench_fault, given, &params, &err));
	assert_string_equal(text_of(params, "size"), "16M");
	assert_string_equal(text_of(params, "threads"), "3");
	assert_string_equal(text_of(params, "rounds"), "2");
	assert_string_equal(text_of(params, "preset"), "(none)");
}

static void bad_parameters_say_what_and_where(void **state)
{
	static const struct {
		const char *key, *value, *says;
	} cases[] = {
		{"size", "big", "size"},
		{"threads", "2x", "whole number"},
		{"colour", "red", "--help"},
		{"preset", "none-such", "preset"},
	};
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_JSON *given = json_pack("{s:s}", cases[i].key, cases[i].value);
		json_t *params = NULL;

		assert_false(bench_params_settle(&bench_fault, given, &params, &err));
		assert_non_null(strstr(err.msg, cases[i].says));
		assert_null(params);
	}
}

static void number_instead_of_text(void **state)
{
	AUTO_JSON *given = json_pack("{s:i}", "threads", 4);
	json_t *params = NULL;
	struct err err;

	(void)state;
	assert_false(bench_params_settle(&bench_fault, given, &params, &err));
	assert_non_null(strstr(err.msg, "threads"));
}

static void assert_name(const char *name)
{
	assert_true(*name && strlen(name) <= 60);
	for (; *name; name++)
		assert_true(islower((unsigned char)*name) || isdigit((unsigned char)*name) ||
			    *name == '_');
}

static void tables_keep_the_protocol(void **state)
{
	static const char *const units[] = {"ns", "bytes", "count", "count/s", "cycles", "ratio"};
	struct err err;

	(void)state;
	for (size_t b = 0; benchmark_at(b); b++) {
		const struct bench *bench = benchmark_at(b);
		AUTO_JSON *described = bench_describe(bench);
		bool any_primary = false;

		assert_ptr_equal(benchmark_find(bench->name), bench);
		assert_string_equal(js_str_or(described, "name", ""), bench->name);
		for (const struct bench_metric *m = bench->metrics; m->name; m++) {
			bool known = false;

			assert_name(m->name);
			for (size_t i = 0; i < ARRAY_SIZE(units); i++)
				known |= !strcmp(units[i], m->unit);
			assert_true(known);
			assert_true(m->floor > 0);
			any_primary |= m->primary;
		}
		assert_true(any_primary);
		for (const struct bench_preset *p = bench->presets; p && p->name; p++) {
			AUTO_JSON *given = json_pack("{s:s}", "preset", p->name);
			AUTO_JSON *params = NULL;

			assert_true(bench_params_settle(bench, given, &params, &err));
		}
	}
	assert_null(benchmark_find("none-such"));
}

/* Runs it with stdout in a file; the lines. */
static void run_to_lines(struct bench_run *run, struct strs *lines)
{
	char path[] = "/tmp/test_bench_XXXXXX";
	int file = mkstemp(path), saved = dup(STDOUT_FILENO);
	AUTO_STR text = str_new();
	struct err err;
	bool ok;

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	ok = bench_run_execute(run, &err);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(file);
	if (!ok)
		fail_msg("%s", err.msg);
	assert_true(fs_read(path, 1 << 20, &text, &err));
	unlink(path);
	strs_split(lines, text.s, "\n");
}

static void fault_runs_here(void **state)
{
	CLEANUP(bench_run_free_ptr) struct bench_run *run = bench_run_new(&bench_fault, BENCH_JSON);
	AUTO_STRS lines = STRS_INIT;
	bool seen_fault_time = false, seen_done = false;
	struct err err;

	(void)state;
	/* inherit: works for everybody, on any kernel */
	assert_true(bench_run_set(run, "folio", "inherit", &err));
	assert_true(bench_run_set(run, "threads", "2", &err));
	assert_true(bench_run_set(run, "size", "256K", &err));
	assert_true(bench_run_set(run, "rounds", "3", &err));
	assert_true(bench_run_set(run, "iterations", "4", &err));
	run_to_lines(run, &lines);
	for (size_t i = 0; i < lines.n; i++) {
		AUTO_JSON *line = NULL;
		const char *type, *name;

		assert_true(js_parse(lines.v[i], strlen(lines.v[i]), &line, &err));
		type = js_str_or(line, "type", "");
		name = js_str_or(line, "name", "");
		if (!strcmp(type, "metric") && !strcmp(name, "fault_time")) {
			const json_t *values = json_object_get(line, "values");

			assert_int_equal(json_array_size(values), 4);
			for (size_t k = 0; k < 4; k++)
				assert_true(json_real_value(json_array_get(values, k)) > 0);
			assert_string_equal(js_str_or(line, "unit", ""), "ns");
			assert_true(js_bool_or(line, "primary", false));
			seen_fault_time = true;
		}
		if (!strcmp(type, "done")) {
			assert_int_equal(js_i64_or(line, "operations", 0), 2 * 64 * 3 * 4);
			assert_int_equal(js_i64_or(line, "threads", 0), 2);
			assert_true(js_f64_or(line, "seconds", 0) > 0);
			seen_done = true;
		}
	}
	assert_true(seen_fault_time);
	assert_true(seen_done);
}

static void fault_refuses_nonsense(void **state)
{
	static const struct {
		const char *key, *value;
	} cases[] = {{"threads", "0"},
		     {"size", "1000"},
		     {"iterations", "0"},
		     {"touch", "harder"},
		     {"folio", "soft"}};
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(bench_run_free_ptr)
		struct bench_run *run = bench_run_new(&bench_fault, BENCH_JSON);

		assert_true(bench_run_set(run, "folio", "inherit", &err));
		assert_true(bench_run_set(run, cases[i].key, cases[i].value, &err));
		assert_false(bench_run_execute(run, &err));
		assert_int_equal(err.kind, ERR_USAGE);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settled_parameters_are_canonical),
		cmocka_unit_test(bad_parameters_say_what_and_where),
		cmocka_unit_test(number_instead_of_text),
		cmocka_unit_test(tables_keep_the_protocol),
		cmocka_unit_test(fault_runs_here),
		cmocka_unit_test(fault_refuses_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
#include "bench/histogram.h"
#include "tests/unit/bench_lines.h"

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
	/* Added later: told where it differs, and not where it is as it always was. */
	assert_string_equal(text_of(params, "latency"), "0");
	assert_string_equal(text_of(params, "release"), "(none)");
}

static void bad_parameters_say_what_and_where(void **state)
{
	static const struct {
		const char *key, *value, *says;
	} cases[] = {
		{"size", "big", "size"},
		{"threads", "2x", "whole number"},
		{"threads", "0", "1 to 4096"},
		{"size", "1000", "4K"},
		{"mode", "fibres", "threads|processes"},
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
		size_t real = 0;

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
			real += bench_wants_real_cpus(bench, m);
		}
		assert_true(any_primary);
		/* Each name is a metric's. */
		for (const char *const *name = bench->real_cpus; name && *name; name++)
			assert_true(real-- > 0);
		for (const struct bench_preset *p = bench->presets; p && p->name; p++) {
			AUTO_JSON *given = json_pack("{s:s}", "preset", p->name);
			AUTO_JSON *params = NULL;

			assert_true(bench_params_settle(bench, given, &params, &err));
		}
	}
	assert_null(benchmark_find("none-such"));
}

static void fault_runs_here(void **state)
{
	AUTO_STRS lines = STRS_INIT;
	bool seen_fault_time = false, seen_done = false;
	struct err err;

	(void)state;
	/* inherit: works for everybody, on any kernel */
	run_with(&bench_fault, "folio=inherit threads=2 size=256K rounds=3 iterations=4", &lines);
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

/* A slot of small pages: what is advised against is never served by larger folios. */
#define SMALL "folio=inherit advise=nohuge threads=2 size=1M rounds=2 iterations=1 latency=1 "

static void every_fault_is_counted(void **state)
{
	static const char *const variants[] = {
		"mode=threads",
#ifndef __SANITIZE_ADDRESS__ /* its shadow of a forked process is copied on write, which counts */
		"mode=processes",
		"mode=processes release=exit",
		"mode=processes mapping=private",
#endif
		"mode=threads release=dontneed",
		"mode=threads mapping=shared",
		"place=kernel guard=0",
		"offset=64K align=4M",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(variants); i++) {
		AUTO_STRS lines = STRS_INIT;
		AUTO_FREE char *settings = xasprintf(SMALL "%s", variants[i]);
		AUTO_JSON *histogram = NULL;
		int64_t timed = 0;
		size_t k;
		json_t *n;

		run_with(&bench_fault, settings, &lines);
		/* Touches, and what a task and its owner fault besides. */
		assert_true(value_of(&lines, "faults_per_touch", 0) > 0.99);
		assert_true(value_of(&lines, "faults_per_touch", 0) < 1.2);
		histogram = line_of(&lines, "histogram", "latency_mean");
		assert_non_null(histogram);
		json_array_foreach(json_object_get(histogram, "buckets"), k, n)
		{
			timed += json_integer_value(n);
		}
		assert_int_equal(timed, 2 * 2 * 256);
		assert_true(value_of(&lines, "latency_p50", 0) <=
			    value_of(&lines, "latency_p999", 0));
		assert_true(value_of(&lines, "latency_p999", 0) <=
			    value_of(&lines, "latency_max", 0));
		assert_true(value_of(&lines, "vmas", 0) > 2);
	}
}

/* 512 touches of which only the first faults cannot be a latency distribution of faults. */
static void latency_of_other_things_is_missing(void **state)
{
	AUTO_STRS lines = STRS_INIT;
	AUTO_JSON *missing = NULL;

	(void)state;
	/* Without knowing of huge pages every touch is timed. */
	run_with(&bench_fault,
		 "folio=inherit advise=huge size=4M threads=1 rounds=1 iterations=1 latency=1",
		 &lines);
	if (value_of(&lines, "faults_per_touch", 0) > 0.5)
		return; /* no huge page was free, or this kernel has none */
	missing = line_of(&lines, "missing", "latency_mean");
	assert_non_null(missing);
	assert_non_null(strstr(js_str_or(missing, "reason", ""), "minor faults"));
}

static void fault_by_time_counts_per_task(void **state)
{
	AUTO_STRS lines = STRS_INIT;
	AUTO_JSON *done = NULL;

	(void)state;
	run_with(&bench_fault,
		 "folio=inherit mode=processes threads=2 size=64K seconds=50ms warmup=1 "
		 "iterations=3 "
		 "scaling=auto latency=0",
		 &lines);
	for (size_t i = 0; i < 3; i++)
		assert_true(value_of(&lines, "per_process_ops", i) * 2 /
				    value_of(&lines, "throughput", i) >
			    0.999);
	assert_true(value_of(&lines, "scalability-1", 0) == 1.0);
	assert_true(value_of(&lines, "scalability-2", 0) > 0);
	done = line_of(&lines, "done", "");
	assert_non_null(done);
	assert_true(js_i64_or(done, "operations", 0) > 0);
}

static void quantiles_of_a_histogram(void **state)
{
	AUTO_FREE struct histogram *h = xcalloc(1, sizeof(*h));
	uint64_t log2_buckets[HISTOGRAM_LOG2];

	(void)state;
	assert_true(histogram_quantile(h, 0.5) == 0);
	for (uint64_t v = 1; v <= 1000; v++)
		histogram_add(h, v);
	assert_true(histogram_mean(h) == 500.5);
	assert_true(histogram_quantile(h, 0.5) > 484 && histogram_quantile(h, 0.5) < 516);
	assert_true(histogram_quantile(h, 0.999) > 967 && histogram_quantile(h, 0.999) <= 1000);
	assert_true(histogram_quantile(h, 0) == 1);
	histogram_add(h, UINT64_MAX);
	assert_true(h->max == UINT64_MAX);
	assert_true(histogram_quantile(h, 1) > 0.96 * (double)UINT64_MAX);
	histogram_log2(h, log2_buckets);
	assert_int_equal(log2_buckets[0], 1);
	assert_int_equal(log2_buckets[4], 16);
	assert_int_equal(log2_buckets[9], 1000 - 511);
	assert_int_equal(log2_buckets[63], 1);
}

static void fault_refuses_nonsense(void **state)
{
	static const struct {
		const char *key, *value;
	} cases[] = {{"threads", "0"},	   {"size", "1000"},	{"iterations", "0"},
		     {"touch", "harder"},  {"folio", "soft"},	{"mode", "fibres"},
		     {"mapping", "paper"}, {"release", "exit"}, {"release", "halves"},
		     {"align", "12K"},	   {"offset", "1"},	{"scaling", "1,many"},
		     {"guard", "2"},	   {"thp", "always"}};
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		CLEANUP(bench_run_free_ptr)
		struct bench_run *run = bench_run_new(&bench_fault, BENCH_JSON);

		assert_true(bench_run_set(run, "folio",
					  strcmp(cases[i].key, "thp") ? "inherit" : "none", &err));
		/* Some are wrong by themselves, some only beside the others. */
		assert_false(bench_run_set(run, cases[i].key, cases[i].value, &err) &&
			     bench_run_execute(run, &err));
		assert_int_equal(err.kind, ERR_USAGE);
		assert_non_null(strstr(err.msg, cases[i].key));
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
		cmocka_unit_test(every_fault_is_counted),
		cmocka_unit_test(latency_of_other_things_is_missing),
		cmocka_unit_test(fault_by_time_counts_per_task),
		cmocka_unit_test(quantiles_of_a_histogram),
		cmocka_unit_test(fault_refuses_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

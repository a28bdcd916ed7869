// SPDX-License-Identifier: GPL-2.0-or-later
/* The small benchmarks, and the template for new ones, run here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bench/benchmarks.h"
#include "bench/thp.h"
#include "tests/unit/bench_lines.h"

/* The template is a benchmark like all others. */
#include "../../docs/benchmark.c"

/* Each with as little work as it takes; what it must report then. */
static void small_benchmarks_run_here(void **state)
{
	static const struct {
		const struct bench *bench;
		const char *settings, *metrics;
		int operations;
	} cases[] = {
		{&bench_munmap, "size=256K iterations=3", "release_time fault_time", 192},
		{&bench_munmap, "size=256K iterations=3 how=dontneed", "release_time", 192},
		{&bench_munmap, "size=256K iterations=3 how=free", "release_time", 192},
		{&bench_mremap, "size=256K iterations=3", "move_time touch_time", 192},
		{&bench_mremap, "size=256K iterations=3 offset=4K", "move_time", 192},
		{&bench_fork, "size=256K iterations=3", "fork_time cow_time exit_time", 192},
		{&bench_mprotect, "size=256K iterations=3", "protect_time write_time", 192},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		AUTO_STRS lines = STRS_INIT, names = STRS_INIT;
		AUTO_FREE char *settings = xasprintf("folio=inherit %s", cases[i].settings);
		AUTO_JSON *done = NULL;

		run_with(cases[i].bench, settings, &lines);
		strs_split(&names, cases[i].metrics, " ");
		for (size_t k = 0; k < names.n * 3; k++)
			assert_true(value_of(&lines, names.v[k / 3], k % 3) > 0);
		done = line_of(&lines, "done", "");
		assert_int_equal(js_i64_or(done, "operations", 0), cases[i].operations);
	}
}

static void every_write_after_fork_copies(void **state)
{
	AUTO_STRS lines = STRS_INIT;
	AUTO_KNOBS knobs = KNOBS_INIT;
	struct err err;

	(void)state;
	/* Only root can forbid larger folios. */
	if (!thp_allow_only(&knobs, "none", &err))
		return;
	run_with(&bench_fork, "folio=none size=256K iterations=2", &lines);
	assert_true(value_of(&lines, "cow_faults", 0) >= 1);
	assert_true(value_of(&lines, "cow_faults", 0) < 1.2);
}

static void reclaim_takes_pages_away_or_says_not(void **state)
{
	AUTO_STRS lines = STRS_INIT, in_memory = STRS_INIT;
	AUTO_JSON *missing = NULL, *metric = NULL;

	(void)state;
	run_with(&bench_reclaim, "size=256K iterations=2", &lines);
	metric = line_of(&lines, "metric", "reclaimed");
	missing = line_of(&lines, "missing", "reclaimed");
	assert_true(!metric != !missing);
	if (metric) {
		assert_true(value_of(&lines, "reclaimed", 0) > 0);
		assert_true(value_of(&lines, "reclaimed", 0) <= 1);
		assert_true(value_of(&lines, "refault_time", 1) > 0);
	}
	js_decref_ptr(&missing);
	missing = NULL;
	run_with(&bench_reclaim, "size=256K iterations=2 dir=/dev/shm", &in_memory);
	missing = line_of(&in_memory, "missing", "reclaim_time");
	/* Where there is swap, memory files can be reclaimed too. */
	if (!missing)
		assert_true(value_of(&in_memory, "reclaimed", 0) > 0);
}

static void template_is_short(void **state)
{
	AUTO_STR text = str_new();
	size_t lines = 0;
	struct err err;

	(void)state;
	assert_true(fs_read("docs/benchmark.c", 1 << 20, &text, &err));
	for (const char *c = text.s; *c; c++)
		lines += *c == '\n';
	assert_in_range(lines, 50, 99);
}

static void manual_names_every_benchmark(void **state)
{
	AUTO_STR text = str_new();
	struct err err;

	(void)state;
	assert_true(fs_read("docs/man/mmperf-bench.7", 1 << 20, &text, &err));
	for (size_t i = 0; benchmark_at(i); i++) {
		AUTO_FREE char *section = xasprintf("\n.Ss %s\n", benchmark_at(i)->name);

		if (!strstr(text.s, section))
			fail_msg("mmperf-bench.7 has no section %s", benchmark_at(i)->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_benchmarks_run_here),
		cmocka_unit_test(every_write_after_fork_copies),
		cmocka_unit_test(reclaim_takes_pages_away_or_says_not),
		cmocka_unit_test(template_is_short),
		cmocka_unit_test(manual_names_every_benchmark),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

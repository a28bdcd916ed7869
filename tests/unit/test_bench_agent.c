// SPDX-License-Identifier: GPL-2.0-or-later
/* What the agent says: counters, build-id, lock lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/agent_env.h"
#include "bench/agent_locks.h"
#include "bench/counters.h"

static void vmstat_deltas(void **state)
{
	AUTO_COUNTERS before = COUNTERS_INIT;
	AUTO_COUNTERS after = COUNTERS_INIT;
	struct err err;
	int64_t delta;

	(void)state;
	assert_true(
		counters_parse(&before, "nr_free_pages 5\npgfault 10\ncompact_stall 1\n", &err));
	assert_true(counters_parse(&after, "pgfault 25\ncompact_stall 1\nnew_one 3\n", &err));
	assert_true(counters_delta(&before, &after, "pgfault", &delta));
	assert_int_equal(delta, 15);
	assert_true(counters_delta(&before, &after, "compact_stall", &delta));
	assert_int_equal(delta, 0);
	assert_false(counters_delta(&before, &after, "new_one", &delta));
	after.v[0].of = 7; /* another thread's than before */
	assert_true(counters_delta(&before, &after, "pgfault", &delta));
	assert_int_equal(delta, 25);
	assert_null(counters_get(&before, "nr_free_pages"));
	assert_true(counter_is_headline("compact_stall"));
	assert_false(counter_is_headline("pgreuse"));
}

static void vmstat_garbage(void **state)
{
	AUTO_COUNTERS counters = COUNTERS_INIT;
	struct err err;

	(void)state;
	assert_false(counters_parse(&counters, "pgfault\n", &err));
	assert_false(counters_parse(&counters, "pgfault many\n", &err));
	assert_non_null(strstr(err.msg, "pgfault many"));
}

static void pressure_and_tasks(void **state)
{
	AUTO_COUNTERS counters = COUNTERS_INIT;

	(void)state;
	assert_true(counters_parse_pressure(&counters, "memory",
					    "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234\n"
					    "full avg10=0.00 avg60=0.00 avg300=0.00 total=17\n"));
	assert_true(counters_parse_schedstat(&counters, "khugepaged", "1000 200 3\n"));
	assert_int_equal(*counters_get(&counters, "psi.memory.some_us"), 1234);
	assert_int_equal(*counters_get(&counters, "psi.memory.full_us"), 17);
	assert_int_equal(*counters_get(&counters, "task.khugepaged.run_ns"), 1000);
	assert_int_equal(*counters_get(&counters, "task.khugepaged.slices"), 3);
	assert_false(counters_parse_pressure(&counters, "cpu", "some avg10=0.00\n"));
	assert_false(counters_parse_schedstat(&counters, "kswapd0", "1000 x 3\n"));
	assert_null(counters_get(&counters, "task.kswapd0.run_ns"));
}

static void build_id_of_notes(void **state)
{
	static const unsigned char notes[] = {
		/* another owner first */
		4, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 'X', 'e', 'n', 0, 1, 2, 0, 0,
		/* GNU, type 3 */
		4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0xef};
	static const unsigned char liar[] = {4, 0, 0, 0, 0xff, 0xff, 0xff, 0xff,
					     3, 0, 0, 0, 'G',  'N',  'U',  0};
	AUTO_STR hex = str_new();

	(void)state;
	assert_true(env_build_id(notes, sizeof(notes), &hex));
	assert_string_equal(hex.s, "deadbeef");
	str_clear(&hex);
	assert_false(env_build_id(notes, sizeof(notes) - 1, &hex));
	assert_false(env_build_id(liar, sizeof(liar), &hex));
	assert_false(env_build_id(notes, 0, &hex));
}

static void options_that_matter(void **state)
{
	AUTO_FREE char *a = env_options("BOOT_IMAGE=/vmlinuz root=/dev/sda2 ro quiet nosmt "
					"console=ttyS0 mitigations=off panic=-1 -- --job x\n");
	AUTO_FREE char *b = env_options("mitigations=off nosmt");
	AUTO_FREE char *none = env_options("ro console=ttyS0\n");
	AUTO_FREE char *alike = env_options("rotten panic_on_warn=1");

	(void)state;
	assert_string_equal(a, "mitigations=off nosmt");
	assert_string_equal(a, b);
	assert_string_equal(none, "");
	assert_string_equal(alike, "panic_on_warn=1 rotten");
}

static void spinlock_kinds(void **state)
{
	struct spinlock_facts f = {.cpus = 8};
	const char *reason;

	(void)state;
	assert_int_equal(spinlock_kind_of(&f), SPINLOCK_NATIVE);
	f.hypervisor = true;
	assert_int_equal(spinlock_kind_of(&f), SPINLOCK_NATIVE);
	f.paravirt = true;
	assert_int_equal(spinlock_kind_of(&f), SPINLOCK_TEST_AND_SET);
	assert_false(spinlock_measurable(&f, &reason));
	assert_non_null(strstr(reason, "test-and-set"));
	f.nopvspin = true;
	assert_int_equal(spinlock_kind_of(&f), SPINLOCK_NATIVE);
	f.nopvspin = false;
	f.kvm = f.pv_unhalt = true;
	assert_int_equal(spinlock_kind_of(&f), SPINLOCK_PV);
	assert_true(spinlock_measurable(&f, &reason));
	f.dedicated = true;
	assert_int_equal(spinlock_kind_of(&f), SPINLOCK_NATIVE);
	f.cpus = 2;
	assert_false(spinlock_measurable(&f, &reason));
}

static void collect(void *arg, json_t *line)
{
	json_array_append_new(arg, line);
}

static const json_t *find_line(const json_t *lines, const char *type, const char *name)
{
	size_t i;
	json_t *line;

	json_array_foreach(lines, i, line)
	{
		if (!strcmp(js_str_or(line, "type", ""), type) &&
		    (!name || !strcmp(js_str_or(line, "name", ""), name)))
			return line;
	}
	return NULL;
}

static double value_of(const json_t *lines, const char *name)
{
	const json_t *line = find_line(lines, "metric", name);

	assert_non_null(line);
	return json_real_value(json_array_get(json_object_get(line, "values"), 0));
}

static void add_wait(struct lock_waits *waits, const char *class, uint64_t ns)
{
	struct lock_wait *wait = array_push(waits->v, waits->n, waits->cap);

	wait->class = xstrdup(class);
	wait->site = xstrdup("somewhere");
	lock_stat_add(&wait->stat, ns);
}

static void lock_metrics(void **state)
{
	AUTO_JSON *lines = json_array();
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};
	struct lock_context context = {.operations = 100,
				       .thread_s = 2,
				       .spin = {.cpus = 4},
				       .say = collect,
				       .arg = lines};
	struct lock_health health = {.begins = 3, .ends = 3};

	(void)state;
	add_wait(&waits, "lruvec", 1000000000);
	add_wait(&waits, "pte", 500);
	add_wait(&waits, "other:f", 500);
	agent_locks_tell(&context, &waits, &health);
	assert_true(value_of(lines, "lock.lruvec.wait_per_op") == 1e7);
	assert_true(value_of(lines, "lock.lruvec.wait_share") == 0.5);
	assert_true(value_of(lines, "lock.deferred_split.wait_per_op") == 0);
	assert_true(value_of(lines, "lock.pte.wait_per_op") == 5);
	assert_null(find_line(lines, "metric", "lock.other:f.wait_per_op"));
	assert_null(find_line(lines, "missing", NULL));
}

static void unseen_is_missing_and_never_zero(void **state)
{
	AUTO_JSON *lines = json_array();
	struct lock_waits waits = {NULL, 0, 0};
	struct lock_context context = {.operations = 100,
				       .thread_s = 2,
				       .spin = {.cpus = 4, .hypervisor = true, .paravirt = true},
				       .say = collect,
				       .arg = lines};
	struct lock_health health = {.begins = 0};
	const json_t *told;

	(void)state;
	agent_locks_tell(&context, &waits, &health);
	assert_null(find_line(lines, "metric", "lock.lruvec.wait_per_op"));
	assert_non_null(find_line(lines, "missing", "lock.lruvec.wait_per_op"));
	assert_non_null(find_line(lines, "missing", "lock.zone.wait_share"));
	/* A rwsem is seen everywhere. */
	assert_non_null(find_line(lines, "metric", "lock.mmap_lock.wait_per_op"));
	told = find_line(lines, "lock_health", NULL);
	assert_false(js_bool_or(told, "measurable", true));
	assert_non_null(strstr(js_str_or(told, "reason", ""), "test-and-set"));
}

static void unhealthy_is_missing(void **state)
{
	AUTO_JSON *lines = json_array();
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};
	struct lock_context context = {.operations = 100,
				       .thread_s = 2,
				       .spin = {.cpus = 4},
				       .say = collect,
				       .arg = lines};
	struct lock_health health = {.begins = 100, .ends = 50, .lost = 50};

	(void)state;
	add_wait(&waits, "lruvec", 1000);
	agent_locks_tell(&context, &waits, &health);
	assert_null(find_line(lines, "metric", NULL));
	assert_null(find_line(lines, "lock", NULL));
	assert_non_null(find_line(lines, "missing", "lock.mmap_lock.wait_per_op"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vmstat_deltas),
		cmocka_unit_test(vmstat_garbage),
		cmocka_unit_test(pressure_and_tasks),
		cmocka_unit_test(build_id_of_notes),
		cmocka_unit_test(options_that_matter),
		cmocka_unit_test(spinlock_kinds),
		cmocka_unit_test(lock_metrics),
		cmocka_unit_test(unseen_is_missing_and_never_zero),
		cmocka_unit_test(unhealthy_is_missing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

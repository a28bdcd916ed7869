// SPDX-License-Identifier: GPL-2.0-or-later
/* Knobs come back: in any order, and after kill -9. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "bench/agent_knobs.h"
#include "bench/knob_journal.h"
#include "bench/knobs.h"
#include "bench/swap_knob.h"
#include "bench/swapfile.h"

static char dir[] = "/tmp/mmperf-knobs.XXXXXX";

/* A file that behaves as a knob: values of one length. */
static char *knob(const char *name, const char *value)
{
	char *path = xasprintf("%s/%s", dir, name);
	struct err err;

	assert_true(fs_write_atomic(path, value, strlen(value), 0644, &err));
	return path;
}

static void expect(const char *path, const char *value)
{
	AUTO_FREE char *now = NULL;
	struct err err;

	assert_true(knob_read(path, &now, &err));
	assert_string_equal(now, value);
}

static void expect_soon(const char *path, const char *value)
{
	double deadline = clock_mono_s() + 20;

	for (;;) {
		AUTO_FREE char *now = NULL;
		struct err err;

		assert_true(knob_read(path, &now, &err));
		if (!strcmp(now, value))
			return;
		assert_true(clock_mono_s() < deadline);
		clock_sleep_s(0.01);
	}
}

static void expect_no_journal(void)
{
	AUTO_FREE char *file = xasprintf("%s/run/knobs", dir);

	assert_false(fs_exists(file));
}

static void set_and_restored(void **state)
{
	AUTO_FREE char *a = knob("a", "111"), *b = knob("b", "always [madvise] never ");
	AUTO_FREE char *c = knob("c0", "5");
	struct knobs knobs = KNOBS_INIT;
	struct err err;

	(void)state;
	assert_true(knob_set(&knobs, a, "222", &err));
	assert_true(knob_set(&knobs, a, "333", &err));
	assert_true(knob_set(&knobs, b, "madvise", &err));
	assert_true(knob_set(&knobs, c, "6", &err));
	expect(a, "333");
	assert_int_equal(knobs.n, 2);
	knobs_restore(&knobs);
	expect(a, "111");
	expect(c, "5");
	expect_no_journal();
}

static void what_refuses_is_told(void **state)
{
	struct knobs knobs = KNOBS_INIT;
	AUTO_FREE char *none = xasprintf("%s/none", dir);
	struct err err;

	(void)state;
	assert_false(knob_set(&knobs, none, "1", &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_int_equal(knobs.n, 0);
	/* Always says the same, whatever is written. */
	assert_false(knob_set(&knobs, "/proc/sys/kernel/ostype", "Minix", &err));
	knobs_restore(&knobs);
	expect_no_journal();
}

/* A process that sets path to value and waits to be killed. */
static pid_t holder(const char *path, const char *value)
{
	int ready[2];
	char byte = 0;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		struct knobs knobs = KNOBS_INIT;
		struct err err;

		byte = knob_set(&knobs, path, value, &err) ? '+' : '-';
		_exit(write(ready[1], &byte, 1) == 1 ? pause() : 1);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(byte, '+');
	close(ready[0]);
	return pid;
}

static void killed(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void kill_9_leaves_nothing(void **state)
{
	AUTO_FREE char *a = knob("c", "111");
	pid_t pid = holder(a, "222");

	(void)state;
	expect(a, "222");
	killed(pid);
	expect_soon(a, "111");
}

/* An agent and its benchmark, both have set the same knob: killed in either order. */
static void layers_in_either_order(void **state)
{
	(void)state;
	for (int first = 0; first < 2; first++) {
		AUTO_FREE char *a = knob("d", "111");
		pid_t pids[2];

		pids[0] = holder(a, "222");
		pids[1] = holder(a, "333");
		killed(pids[first]);
		expect_soon(a, first ? "222" : "333");
		/* The one above is still in force until its process ends, too. */
		clock_sleep_s(0.2);
		expect(a, first ? "222" : "333");
		killed(pids[1 - first]);
		expect_soon(a, "111");
	}
}

/* The guard died as well (the whole process group of a container, say): the next one recovers. */
static void next_start_recovers(void **state)
{
	AUTO_FREE char *a = knob("e", "222"), *boot = NULL, *text = NULL;
	AUTO_FREE char *file = xasprintf("%s/run/knobs", dir);
	struct knobs knobs = KNOBS_INIT;
	struct err err;
	size_t n;

	(void)state;
	assert_true(knob_read("/proc/sys/kernel/random/boot_id", &boot, &err));
	text = xasprintf("%s\n999999999\t1\t%s\t111\n", boot, a);
	assert_true(fs_write_atomic(file, text, strlen(text), 0644, &err));
	assert_true(knob_journal_recover(&n, &err));
	assert_int_equal(n, 1);
	expect(a, "111");
	/* Of an earlier boot: nothing to do, the knobs went with it. */
	free(text);
	text = xasprintf("another-boot\n999999999\t1\t%s\t555\n", a);
	assert_true(fs_write_atomic(file, text, strlen(text), 0644, &err));
	assert_true(knob_journal_recover(&n, &err));
	assert_int_equal(n, 0);
	expect(a, "111");
	knobs_restore(&knobs);
	expect_no_journal();
}

static json_t *wishes_of(const char *text)
{
	json_t *wishes;
	struct err err;

	assert_true(js_parse(text, strlen(text), &wishes, &err));
	return wishes;
}

static void wishes_are_set_told_and_restored(void **state)
{
	AUTO_JSON *wishes =
		wishes_of("{\"smt\": \"off\", \"lru_gen\": \"off\", \"turbo\": \"on\"}");
	AUTO_JSON *core = json_object(), *others = json_object(), *refused = json_object();
	struct knobs_told told = {core, others, refused};
	AUTO_FREE char *cpu = xasprintf("%s/sys/devices/system/cpu/smt", dir);
	AUTO_FREE char *mm = xasprintf("%s/sys/kernel/mm/lru_gen", dir);
	struct knobs knobs = KNOBS_INIT;
	AUTO_FREE char *smt = NULL, *lru = NULL;
	struct err err;

	(void)state;
	assert_true(fs_mkdirs(cpu, 0755, &err) && fs_mkdirs(mm, 0755, &err));
	smt = knob("sys/devices/system/cpu/smt/control", "on\n");
	lru = knob("sys/kernel/mm/lru_gen/enabled", "0x0007\n");
	agent_knobs_wish(&knobs, wishes, dir, &told);
	expect(smt, "off");
	expect(lru, "0x0000");
	assert_string_equal(js_str_or(core, "/sys/devices/system/cpu/smt/control", ""), "off");
	assert_string_equal(js_str_or(core, "/sys/kernel/mm/lru_gen/enabled", ""), "0x0000");
	assert_string_equal(js_str_or(refused, "turbo", ""), "no such wish");
	assert_int_equal(json_object_size(refused), 1);
	knobs_restore(&knobs);
	expect(lru, "0x0007");
	expect_no_journal();
}

static void a_kernel_without_the_knob_is_told(void **state)
{
	AUTO_JSON *wishes = wishes_of("{\"lru_gen\": \"on\"}");
	AUTO_JSON *core = json_object(), *others = json_object(), *refused = json_object();
	struct knobs_told told = {core, others, refused};
	struct knobs knobs = KNOBS_INIT;

	(void)state;
	agent_knobs_wish(&knobs, wishes, "/nowhere", &told);
	assert_string_equal(js_str_or(refused, "/sys/kernel/mm/lru_gen/enabled", ""), "absent");
	assert_string_equal(js_str_or(core, "/sys/kernel/mm/lru_gen/enabled", ""), "absent");
	assert_int_equal(knobs.n, 0);
}

#define SWAPS_HEAD "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

static void swap_goes_only_when_it_fits(void **state)
{
	AUTO_SWAP_AREAS areas = SWAP_AREAS_INIT;
	struct err err;

	(void)state;
	swap_areas_parse(&areas, SWAPS_HEAD "/dev/sda2  partition\t1048572\t600\t-2\n"
					    "/a\\040b  file\t\t1020\t\t400\t5\n"
					    "/gone\\040(deleted) file 1020 0 -3\n"
					    "half a line\n");
	assert_int_equal(areas.n, 2);
	assert_string_equal(areas.v[0].path, "/dev/sda2");
	assert_int_equal(areas.v[0].priority, -2);
	assert_string_equal(areas.v[1].path, "/a b");
	assert_int_equal(areas.v[1].used_kb, 400);
	assert_true(swap_areas_fit(&areas, "MemFree: 1 kB\nMemAvailable:   2000 kB\n", &err));
	assert_false(swap_areas_fit(&areas, "MemAvailable: 1999 kB\n", &err));
	assert_non_null(strstr(err.msg, "1000 KB"));
	assert_false(swap_areas_fit(&areas, "", &err));
}

static bool is_swapped_to(const char *path, int *priority)
{
	AUTO_SWAP_AREAS areas = SWAP_AREAS_INIT;
	AUTO_STR text = str_new();
	struct err err;

	if (!fs_read("/proc/swaps", 65536, &text, &err))
		return false;
	swap_areas_parse(&areas, text.s);
	for (size_t i = 0; i < areas.n; i++) {
		if (!strcmp(areas.v[i].path, path)) {
			*priority = areas.v[i].priority;
			return true;
		}
	}
	return false;
}

/* Swap space of our own, so that the machine's is left alone. */
static void swap_comes_back_after_kill_9(void **state)
{
	AUTO_SWAPFILE file = SWAPFILE_INIT;
	struct swap_area area;
	double deadline;
	struct err err;
	int priority = 0;
	pid_t pid;

	(void)state;
	if (!swapfile_on(&file, dir, (size_t)1 << 20, &err))
		skip(); /* not root, or a file system that does not let itself be swapped to */
	assert_true(is_swapped_to(file.path, &priority));
	area = (struct swap_area){file.path, priority, 0};
	pid = fork();
	if (!pid) {
		struct knobs knobs = KNOBS_INIT;

		_exit(swap_area_off(&knobs, &area, &err) ? pause() : 1);
	}
	deadline = clock_mono_s() + 20;
	while (is_swapped_to(file.path, &priority) && clock_mono_s() < deadline)
		clock_sleep_s(0.01);
	assert_false(is_swapped_to(file.path, &priority));
	killed(pid);
	while (!is_swapped_to(file.path, &priority) && clock_mono_s() < deadline)
		clock_sleep_s(0.01);
	assert_true(is_swapped_to(file.path, &priority));
	assert_int_equal(priority, area.priority);
}

static int set_up(void **state)
{
	AUTO_FREE char *run = NULL;

	(void)state;
	if (!mkdtemp(dir))
		return -1;
	run = xasprintf("%s/run", dir);
	return setenv("MMPERF_KNOBS", run, 1);
}

static int tear_down(void **state)
{
	struct err err;

	(void)state;
	return fs_remove_tree(dir, &err) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(set_and_restored),
		cmocka_unit_test(what_refuses_is_told),
		cmocka_unit_test(kill_9_leaves_nothing),
		cmocka_unit_test(layers_in_either_order),
		cmocka_unit_test(next_start_recovers),
		cmocka_unit_test(wishes_are_set_told_and_restored),
		cmocka_unit_test(a_kernel_without_the_knob_is_told),
		cmocka_unit_test(swap_goes_only_when_it_fits),
		cmocka_unit_test(swap_comes_back_after_kill_9),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

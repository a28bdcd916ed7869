// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's deadline, without a watchdog; a file takes what would restart the machine. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "bench/agent_guard.h"

#define PATIENCE_S 30.0

static char sysrq[] = "/tmp/mmperf-test-guard-XXXXXX";

/* The last key that was pressed. */
static char key(void)
{
	AUTO_STR text = str_new();
	struct err err;

	assert_true(fs_read(sysrq, 16, &text, &err));
	return text.s[0];
}

static int set_up(void **state _unused)
{
	int fd;

	strcpy(sysrq + sizeof(sysrq) - 7, "XXXXXX");
	fd = mkstemp(sysrq);
	assert_true(fd >= 0);
	close(fd);
	return 0;
}

static int tear_down(void **state _unused)
{
	unlink(sysrq);
	return 0;
}

static void test_restarts(void **state _unused)
{
	double end = clock_mono_s() + PATIENCE_S;
	AUTO_FREE char *note = NULL;
	struct guard guard;

	guard_start(&guard, 0, 1, sysrq, &note);
	assert_string_equal(note, "no watchdog, deadline 1 s");
	while (key() != 'b' && clock_mono_s() < end)
		clock_sleep_s(0.05);
	assert_int_equal(key(), 'b');
	/* A machine that lives on all the same: the guard ends when it is told. */
	guard_stop(&guard);
	assert_int_equal(guard.pid, 0);
}

static void test_ends_in_time(void **state _unused)
{
	AUTO_FREE char *note = NULL;
	struct guard guard;

	guard_start(&guard, 0, 1000, sysrq, &note);
	assert_true(guard.pid > 0);
	guard_stop(&guard);
	assert_int_equal(key(), '\0');
}

static void test_without_sysrq(void **state _unused)
{
	AUTO_FREE char *note = NULL, *none = NULL;
	struct guard guard;

	guard_start(&guard, 0, 1000, "/proc/none", &note);
	assert_non_null(strstr(note, "no CONFIG_MAGIC_SYSRQ"));
	guard_stop(&guard);
	guard_start(&guard, 0, 0, sysrq, &none);
	assert_string_equal(none, "no watchdog, no deadline");
	assert_int_equal(guard.pid, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_restarts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_ends_in_time, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_without_sysrq, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

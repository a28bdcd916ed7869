// SPDX-License-Identifier: GPL-2.0-or-later
/* Power verbs over a program that does what a script says: order, settling, fencing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/fs.h"
#include "base/repo.h"
#include "runner/power.h"

static char dir[] = "/tmp/mmperf-test-power-XXXXXX";

/* Keeps its state in a file, as the machine would; the words before the verb change its ways. */
static const char script[] =
	"#!/bin/sh\n"
	"ways=$1 verb=$2\n"
	"[ $verb = state ] || echo $verb >>$0.orders\n"
	"case $ways,$verb in\n"
	"mute,state | poor,cycle | poor,reset) exit 2 ;;\n"
	"broken,*) echo some noise; echo no contact; exit 1 ;;\n"
	"deaf,off) ;;\n"
	"slow,state) n=$(cat $0.looks 2>/dev/null || echo 0); echo $((n + 1)) >$0.looks\n"
	"  [ $n -lt 2 ] && echo on || cat $0.state ;;\n"
	"*,state) cat $0.state ;;\n"
	"*,off | *,soft) echo off >$0.state ;;\n"
	"*,nmi) ;;\n"
	"*) echo on >$0.state ;;\n"
	"esac\n";

static char *file(const char *end)
{
	return xasprintf("%s/switch%s", dir, end);
}

static void write_file(const char *end, const char *text, mode_t mode)
{
	AUTO_FREE char *path = file(end);
	struct err err;

	if (!fs_write_atomic(path, text, strlen(text), mode, &err))
		fail_msg("%s", err.msg);
}

static void load(struct settings *settings, const char *ways)
{
	AUTO_FREE char *path = xasprintf("%s/config", dir), *text = NULL;
	struct err err;

	text = xasprintf("[machine \"m\"]\n\tclass = c\n\tdriver = fake\n\tpower = exec\n"
			 "\tpower-delay = 0\n\tpower-timeout = %s\n"
			 "\tpower-command = %s/switch %s\n",
			 strcmp(ways, "deaf") ? "60s" : "1s", dir, ways);
	assert_true(fs_write_atomic(path, text, strlen(text), 0644, &err));
	if (!settings_load(path, settings, &err))
		fail_msg("%s", err.msg);
}

static bool yes(void *arg _unused, double for_s, struct err *err _unused)
{
	assert_true(for_s > 0 && for_s <= 60);
	return true;
}

/* *arg orders may be given. */
static bool counted(void *arg, double for_s _unused, struct err *err)
{
	int *left = arg;

	if ((*left)-- > 0)
		return true;
	return err_set(err, ERR_CONFLICT, "the lease was lost");
}

static bool act(const char *ways, const char *state, enum power_verb verb,
		const struct power_guard *guard, struct str *orders, struct err *err)
{
	CLEANUP(settings_release) struct settings settings = {0};
	CLEANUP(power_free_ptr) struct power *p = NULL;
	const struct power_guard any = {.may = yes};
	AUTO_FREE char *path = file(".orders");
	bool ok;

	write_file(".state", state, 0644);
	write_file(".orders", "", 0644);
	write_file(".looks", "0\n", 0644);
	load(&settings, ways);
	if (!power_open(&settings, "m", guard ? guard : &any, &p, err))
		fail_msg("%s", err->msg);
	ok = power_do(p, verb, err);
	str_clear(orders);
	assert_true(fs_read(path, 4096, orders, &(struct err){0}));
	for (char *c = orders->s; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return ok;
}

static void does(const char *ways, const char *state, enum power_verb verb, const char *wanted)
{
	AUTO_STR orders = str_new();
	struct err err;

	if (!act(ways, state, verb, NULL, &orders, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(orders.s, wanted);
}

static void fails(const char *ways, enum power_verb verb, const char *wanted, const char *why)
{
	AUTO_STR orders = str_new();
	struct err err;

	assert_false(act(ways, "on", verb, NULL, &orders, &err));
	assert_string_equal(orders.s, wanted);
	if (!strstr(err.msg, why))
		fail_msg("%s", err.msg);
}

static void test_verbs(void **state _unused)
{
	does("good", "off", POWER_ON, "on ");
	does("good", "on", POWER_OFF, "off ");
	does("good", "on", POWER_CYCLE, "cycle ");
	does("good", "on", POWER_RESET, "reset ");
	does("good", "on", POWER_SOFT, "soft on ");
	does("good", "on", POWER_NMI, "nmi ");
}

static void test_from_off(void **state _unused)
{
	does("good", "off", POWER_RESET, "on ");
	does("good", "off", POWER_SOFT, "on ");
}

static void test_what_is_missing_is_made(void **state _unused)
{
	does("poor", "on", POWER_CYCLE, "cycle off on ");
	does("poor", "on", POWER_RESET, "reset cycle off on ");
	does("poor", "off", POWER_CYCLE, "cycle on ");
}

static void test_settling(void **state _unused)
{
	does("slow", "on", POWER_OFF, "off ");
	does("mute", "on", POWER_OFF, "off ");
	fails("deaf", POWER_OFF, "off ", "the order was taken, but after 1 s power is still on");
}

static void test_failures(void **state _unused)
{
	fails("broken", POWER_OFF, "off ", "machine m: power off: exec: ");
	fails("broken", POWER_OFF, "off ", "/switch off ended with status 1: no contact");
}

static void test_without_the_lease_nothing_is_touched(void **state _unused)
{
	int left = 0;
	const struct power_guard guard = {.may = counted, .arg = &left};
	AUTO_STR orders = str_new();
	struct err err;

	assert_false(act("good", "on", POWER_RESET, &guard, &orders, &err));
	assert_string_equal(orders.s, "");
	assert_int_equal(err.kind, ERR_CONFLICT);
	left = 2; /* lost between the two halves of a cycle */
	assert_false(act("poor", "on", POWER_CYCLE, &guard, &orders, &err));
	assert_string_equal(orders.s, "cycle off ");
	assert_int_equal(err.kind, ERR_CONFLICT);
}

static int set_up(void **state _unused)
{
	repo_init();
	if (!mkdtemp(dir))
		return -1;
	write_file("", script, 0755);
	return 0;
}

static int tear_down(void **state _unused)
{
	struct err err;

	return fs_remove_tree(dir, &err) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_verbs),
		cmocka_unit_test(test_from_off),
		cmocka_unit_test(test_what_is_missing_is_made),
		cmocka_unit_test(test_settling),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_without_the_lease_nothing_is_touched),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Call trees and ranked counters. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "reports/counter_table.h"
#include "reports/profile_tree.h"

static void tree_of_two_sides(void **state)
{
	struct profile_stack stacks[] = {
		{(char[]){"entry;compact_zone;migrate_pages;lru_add_drain"}, {70, 0}},
		{(char[]){"entry;compact_zone;migrate_pages"}, {110, 90}},
		{(char[]){"entry;compact_zone;rare"}, {1, 2}},
		{(char[]){"entry"}, {20, 20}},
		{(char[]){"[user]"}, {799, 888}},
	};
	const struct profile_pair pair = {.benchmark = (char[]){"compaction"},
					  .source = (char[]){"cycles"},
					  .samples = {1000, 1000},
					  .boots = {4, 4},
					  .v = stacks,
					  .n = 5};
	AUTO_STR text = str_new();
	AUTO_JSON *json = profile_tree_json(&pair, 0.005);
	const json_t *tree = json_object_get(json, "tree");

	(void)state;
	profile_tree_print(&text, &pair, 0.005, "base", "new");
	assert_string_equal(text.s,
			    "\ncompaction: where CPUs spend their time, cycles, 1000 + 1000 "
			    "samples of 4 + 4 boots\n\n"
			    "      base       new   points\n"
			    "   79.90 %   88.80 %    +8.90  [user]\n"
			    "   20.10 %   11.20 %    -8.90  entry\n"
			    "   18.10 %    9.20 %    -8.90    compact_zone\n"
			    "   18.00 %    9.00 %    -9.00      migrate_pages\n"
			    "    7.00 %    0.00 %    -7.00        lru_add_drain\n");
	assert_int_equal(json_array_size(tree), 2);
	assert_string_equal(js_str_or(json_array_get(tree, 1), "name", ""), "entry");
}

static void timers_say_nothing_of_spinlocks(void **state)
{
	const struct profile_pair pair = {
		.benchmark = (char[]){"fault"}, .source = (char[]){"cpu-clock"}, .samples = {1, 1}};
	AUTO_STR text = str_new();

	(void)state;
	profile_tree_print(&text, &pair, 0.005, "base", "new");
	assert_non_null(strstr(text.s, "no word on spinlocks"));
}

static void counters_ranked(void **state)
{
	static double same0[] = {100, 105, 95, 101}, same1[] = {102, 98, 104, 99};
	static double stall0[] = {0, 0, 0, 0}, stall1[] = {40, 38, 45, 41};
	static double drain0[] = {1000, 1010, 990, 1005}, drain1[] = {1500, 1490, 1510, 1505};
	struct compared_counter v[] = {
		{(char[]){"b"}, NULL, (char[]){"pgfault"}, same0, 4, same1, 4},
		{(char[]){"b"}, NULL, (char[]){"compact_stall"}, stall0, 4, stall1, 4},
		{(char[]){"b"}, NULL, (char[]){"pgmigrate_success"}, drain0, 4, drain1, 4},
		{(char[]){"b"}, NULL, (char[]){"one_boot"}, same0, 1, same1, 4},
	};
	const struct compared_counters counters = {v, 4, 4};
	CLEANUP(counter_table_release) struct counter_table table;
	AUTO_STR text = str_new();
	const char *stall, *migrate;

	(void)state;
	counter_table_compute(&counters, &table);
	assert_int_equal(table.compared, 3);
	assert_int_equal(table.n, 2);
	counter_table_print(&text, &table, "base", "new");
	migrate = strstr(text.s, "pgmigrate_success");
	stall = strstr(text.s, "compact_stall");
	assert_non_null(migrate);
	assert_non_null(stall);
	assert_non_null(strstr(text.s, "+49.9"));
	assert_non_null(strstr(stall, "new"));
	assert_null(strstr(text.s, "pgfault"));
	assert_null(strstr(text.s, "one_boot"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tree_of_two_sides),
		cmocka_unit_test(timers_say_nothing_of_spinlocks),
		cmocka_unit_test(counters_ranked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

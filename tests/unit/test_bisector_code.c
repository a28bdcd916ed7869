// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of functions, compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bisector/code.h"

static struct regression_functions compare(const char *parent, const char *culprit, const char *hot)
{
	AUTO_STRS names = STRS_INIT;
	struct regression_functions change;

	strs_split(&names, hot, " ");
	code_compare(parent, culprit, &names, &change);
	return change;
}

static void check(const char *parent, const char *culprit, const char *hot, const char *wanted)
{
	struct regression_functions c = compare(parent, culprit, hot);
	AUTO_FREE char *got =
		xasprintf("%d %zu %zu/%zu %s", c.suspect, c.differ, c.hot_differ, c.hot, c.names);

	for (char *p = got; *p; p++)
		*p = *p == '\n' ? ',' : *p;
	assert_string_equal(got, wanted);
	assert_true(c.known);
	regression_functions_release(&c);
}

static void test_all_count(void **state _unused)
{
	check("a 1\nb 2\n", "a 1\nb 2\n", "", "1 0 0/0 ");
	check("a 1\nb 2\n", "a 1\nb 3\n", "", "0 1 0/0 b");
	check("", "", "", "1 0 0/0 ");
	check("a 1\n", "", "", "0 1 0/0 a");
}

static void test_come_and_gone(void **state _unused)
{
	check("a 1\nc 2\n", "a 1\nb 5\nc 2\n", "", "0 1 0/0 b");
	check("a 1\nab 4\nc 2\n", "a 1\nc 2\n", "", "0 1 0/0 ab");
	check("a 1\nb 2\n", "c 1\nd 2\n", "", "0 4 0/0 a,b,c,d");
}

/* Parts that the compiler split off, and functions of one name in several files. */
static void test_several_of_a_name(void **state _unused)
{
	check("a 1\na 2\nb 3\n", "a 1\na 2\nb 3\n", "a", "1 0 0/1 ");
	check("a 1\na 2\nb 3\n", "a 1\na 4\nb 3\n", "a", "0 1 1/1 a");
	check("a 1\na 2\nb 3\n", "a 1\nb 3\n", "b", "1 1 0/1 a");
}

static void test_hot(void **state _unused)
{
	check("a 1\nb 2\nc 3\n", "a 1\nb 9\nc 9\n", "a", "1 2 0/1 b,c");
	check("a 1\nb 2\nc 3\n", "a 1\nb 9\nc 9\n", "a c", "0 2 1/2 c,b");
	/* of user space or a module: as if no profile were there */
	check("a 1\nb 2\n", "a 1\nb 9\n", "main", "0 1 0/0 b");
}

static void test_what_is_no_list(void **state _unused)
{
	struct regression_functions c = compare("\n\n a\nb 1", " \nb", "");

	assert_true(c.differ <= 5); /* lines; that it ends is what counts */
	regression_functions_release(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_count),	  cmocka_unit_test(test_come_and_gone),
		cmocka_unit_test(test_several_of_a_name), cmocka_unit_test(test_hot),
		cmocka_unit_test(test_what_is_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

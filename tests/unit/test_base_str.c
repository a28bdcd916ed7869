// SPDX-License-Identifier: GPL-2.0-or-later
/* Text, lists, times. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/str.h"

static void utf8_is(const char *bytes, size_t n, const char *want)
{
	AUTO_STR out = str_new();

	str_add_utf8(&out, bytes, n);
	assert_string_equal(out.s, want);
}

static void test_add_utf8(void **state _unused)
{
	utf8_is("plain", 5, "plain");
	utf8_is("a\0b", 3, "ab");
	utf8_is("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	utf8_is("\xe9t\xe9", 3, "\xef\xbf\xbdt\xef\xbf\xbd");
	utf8_is("\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd");
	utf8_is("\xed\xa0\x80", 3, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	utf8_is("\xf4\x90\x80\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	utf8_is("x\xe2\x82", 3, "x\xef\xbf\xbd\xef\xbf\xbd");
}

static void test_growth(void **state _unused)
{
	AUTO_STR s = str_new();
	AUTO_FREE char *taken = NULL;

	for (int i = 0; i < 1000; i++)
		str_addf(&s, "%d,", i);
	assert_int_equal(s.len, 10 * 2 + 90 * 3 + 900 * 4);
	taken = str_take(&s);
	assert_int_equal(strlen(taken), 3890);
	assert_string_equal(s.s, "");
}

static void test_distance(void **state _unused)
{
	assert_int_equal(str_distance("", ""), 0);
	assert_int_equal(str_distance("", "abc"), 3);
	assert_int_equal(str_distance("kitten", "sitting"), 3);
	assert_int_equal(str_distance("branhc", "branch"), 1);
	assert_int_equal(str_distance("passwordfile", "password-file"), 1);
	assert_true(str_resembles("treee", "tree"));
	assert_false(str_resembles("mail", "tree"));
	assert_false(str_resembles("x", "url"));
}

static void test_lists(void **state _unused)
{
	AUTO_STRS list = STRS_INIT;
	AUTO_FREE char *joined = NULL;

	strs_split(&list, ",a, b,,c ,", ", ");
	strs_pushf(&list, "%03d", 7);
	joined = strs_join(&list, "|");
	assert_string_equal(joined, "a|b|c|007");
	assert_null(list.v[list.n]);
	assert_true(strs_has(&list, "c"));
	assert_false(strs_has(&list, "d"));
}

static void test_numbers(void **state _unused)
{
	long long i = 5;
	double d = 5;

	assert_true(str_to_i64("-12", &i));
	assert_int_equal(i, -12);
	assert_false(str_to_i64("", &i));
	assert_false(str_to_i64("12x", &i));
	assert_false(str_to_i64("9223372036854775808", &i));
	assert_int_equal(i, -12);
	assert_true(str_to_f64("1e3", &d));
	assert_true(d > 999 && d < 1001);
	assert_false(str_to_f64("nan", &d));
	assert_false(str_to_f64("inf", &d));
}

static void test_units(void **state _unused)
{
	long long bytes;
	double s;

	assert_true(str_to_bytes("16M", &bytes));
	assert_int_equal(bytes, 16 << 20);
	assert_true(str_to_bytes("512", &bytes));
	assert_int_equal(bytes, 512);
	assert_false(str_to_bytes("-1", &bytes));
	assert_false(str_to_bytes("1X", &bytes));
	assert_true(str_to_seconds("250ms", &s));
	assert_true(s > 0.2499 && s < 0.2501);
	assert_true(str_to_seconds("15m", &s));
	assert_int_equal((int)s, 900);
	assert_false(str_to_seconds("soon", &s));
	assert_false(str_to_seconds("-3s", &s));
}

static void test_hide_password(void **state _unused)
{
	AUTO_FREE char *hidden = str_hide_password("https://me:secret@host/x:y@z");
	AUTO_FREE char *plain = str_hide_password("https://host/a:b@c");

	assert_string_equal(hidden, "https://me@host/x:y@z");
	assert_string_equal(plain, "https://host/a:b@c");
}

static void span_is(double seconds, const char *want)
{
	AUTO_STR out = str_new();

	clock_add_span(&out, seconds);
	assert_string_equal(out.s, want);
}

static void test_spans(void **state _unused)
{
	span_is(0, "0 s");
	span_is(0.25, "250 ms");
	span_is(45.2, "45 s");
	span_is(59.7, "1 min");
	span_is(200, "3 min 20 s");
	span_is(7500, "2 h 5 min");
	span_is(90000, "1 d 1 h");
	span_is(-200, "-3 min 20 s");
}

static void test_dates(void **state _unused)
{
	AUTO_STR out = str_new();

	clock_add_utc(&out, 1790858096);
	assert_string_equal(out.s, "2026-10-01 12:34:56");
	str_clear(&out);
	clock_add_rfc5322(&out, 1790858096);
	assert_string_equal(out.s, "Thu, 01 Oct 2026 12:34:56 +0000");
}

static void test_clock_moves(void **state _unused)
{
	double before = clock_mono_s();

	clock_sleep_s(0.02);
	assert_true(clock_mono_s() - before >= 0.02);
	assert_true(clock_wall_s() > 1700000000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add_utf8),      cmocka_unit_test(test_growth),
		cmocka_unit_test(test_distance),      cmocka_unit_test(test_lists),
		cmocka_unit_test(test_numbers),	      cmocka_unit_test(test_units),
		cmocka_unit_test(test_hide_password), cmocka_unit_test(test_spans),
		cmocka_unit_test(test_dates),	      cmocka_unit_test(test_clock_moves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Hostile text, numbers. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "reports/escape.h"
#include "reports/number.h"
#include "reports/table.h"

struct pair {
	const char *in, *out;
};

static void check(void (*escape)(struct str *, const char *), const struct pair *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		AUTO_STR out = str_new();

		escape(&out, pairs[i].in);
		assert_string_equal(out.s, pairs[i].out);
	}
}

static void text_is_one_visible_line(void **state _unused)
{
	static const struct pair pairs[] = {
		{"", ""},
		{"mm/swap: plain", "mm/swap: plain"},
		{"a\r\nBcc: b\tc", "a\\r\\nBcc: b\\tc"},
		{"\x1b[31mred\x7f", "\\x1b[31mred\\x7f"},
		{"\xc3\x96rn", "\xc3\x96rn"},
		{"bad \xff\xc3 end", "bad \xef\xbf\xbd\xef\xbf\xbd end"},
		{"turn \xe2\x80\xae round", "turn \\u202e round"},
		{"c1 \xc2\x9b", "c1 \\u009b"},
		{"tag \xf3\xa0\x80\xa1", "tag \\U000e0021"},
		{"\xf0\x9f\x90\xa7", "\xf0\x9f\x90\xa7"},
	};

	check(escape_text, pairs, ARRAY_SIZE(pairs));
}

static void html_is_inert(void **state _unused)
{
	static const struct pair pairs[] = {
		{"<script>alert('1')</script>", "&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"},
		{"\" onload=\"x", "&quot; onload=&quot;x"},
		{"&amp;", "&amp;amp;"},
		{"a\nb", "a\\nb"},
	};

	check(escape_html, pairs, ARRAY_SIZE(pairs));
}

static void links_are_web_links(void **state _unused)
{
	static const struct pair pairs[] = {
		{"https://lore.kernel.org/r/1@x", "https://lore.kernel.org/r/1@x"},
		{"http://a/?b=1&c=2", "http://a/?b=1&amp;c=2"},
		{"javascript:alert(1)", "#"},
		{"https://a\" onclick=\"b", "#"},
		{"https://a/<b>", "#"},
		{"https://a\n", "#"},
	};

	check(escape_href, pairs, ARRAY_SIZE(pairs));
}

static void shell_words_stay_words(void **state _unused)
{
	static const struct pair pairs[] = {
		{"mm-unstable", "mm-unstable"},	       {"a b", "'a b'"},
		{"$(reboot)", "'$(reboot)'"},	       {"it's", "'it'\\''s'"},
		{"a\n; rm -rf x", "'a\\n; rm -rf x'"}, {"", "''"},
	};

	check(escape_shell, pairs, ARRAY_SIZE(pairs));
}

static void cuts_between_characters(void **state _unused)
{
	AUTO_STR out = str_new();

	escape_text_cut(&out, "\xc3\x96\xc3\x96\xc3\x96", 2);
	assert_string_equal(out.s, "\xc3\x96\xc3\x96...");
	str_clear(&out);
	escape_text_cut(&out, "abc", 3);
	assert_string_equal(out.s, "abc");
}

static void numbers_have_four_digits(void **state _unused)
{
	static const struct {
		double value;
		const char *unit, *text;
	} table[] = {
		{412.34, "ns", "412.3 ns"},
		{1.2e6, "ns", "1.200 ms"},
		{0, "ns", "0.000 ns"},
		{-0.0, "ns", "0.000 ns"},
		{16777216, "bytes", "16.00 MiB"},
		{2.425e6, "count/s", "2.425M/s"},
		{12, "count/s", "12.00/s"},
		{0.5, "ratio", "0.5000"},
		{NAN, "ns", "-"},
		{INFINITY, "count", "-"},
		{123456, "count", "123.5 k"},
		{3e9, "cycles", "3.000 Gcycles"},
		{7, "parsecs", "7.000"},
		{99.9999, "ns", "100.0 ns"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		assert_string_equal(number_value(table[i].value, table[i].unit).s, table[i].text);
}

static void percents_and_probabilities(void **state _unused)
{
	AUTO_STR out = str_new();

	assert_string_equal(number_pct(12.34).s, "+12.3 %");
	assert_string_equal(number_pct(-0.05).s, "-0.05 %");
	assert_string_equal(number_pct(-0.0001).s, "0.00 %");
	assert_string_equal(number_pct(1500).s, "x 16.0");
	assert_string_equal(number_pct(INFINITY).s, "-");
	assert_string_equal(number_interval(-1, 2).s, "-1.0 .. +2.0 %");
	assert_string_equal(number_interval(-INFINITY, INFINITY).s, "-inf .. inf");
	number_add_probability(&out, 0.99999999);
	assert_string_equal(out.s, "> 0.9999");
	str_clear(&out);
	number_add_probability(&out, 1);
	assert_string_equal(out.s, "1.0000");
}

static void tables_line_up(void **state _unused)
{
	AUTO_TABLE table = {.columns = 3, .left = " l"};
	AUTO_STR out = str_new();

	TABLE_ROW(&table, "a", "1", "x");
	TABLE_ROW(&table, "\xc3\x96", "22", NULL);
	table_print(&table, "> ", &out);
	assert_string_equal(out.s, "> a   1  x\n> \xc3\x96  22\n");
	str_clear(&out);
	table_wrap(&out, "one two three", 9, "  ");
	assert_string_equal(out.s, "one two\n  three\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(text_is_one_visible_line),
		cmocka_unit_test(html_is_inert),
		cmocka_unit_test(links_are_web_links),
		cmocka_unit_test(shell_words_stay_words),
		cmocka_unit_test(cuts_between_characters),
		cmocka_unit_test(numbers_have_four_digits),
		cmocka_unit_test(percents_and_probabilities),
		cmocka_unit_test(tables_line_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Command line options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/opt.h"

struct values {
	bool quiet, all;
	const char *name;
	long long count, bytes;
	double ratio, timeout_s;
	struct strs tags;
};

/* Parses words separated by blanks; the operands come back joined. */
static bool parse(struct values *v, const char *words, char **operands, bool *help, struct err *err)
{
	const struct opt opts[] = {
		{'q', "quiet", OPT_FLAG, &v->quiet, NULL, "say less"},
		{'a', "all", OPT_FLAG, &v->all, NULL, "everything"},
		{'n', "name", OPT_STRING, &v->name, "NAME", "a name"},
		{'c', "count", OPT_INT, &v->count, "N", "how many"},
		{0, "bytes", OPT_BYTES, &v->bytes, "SIZE", "how much"},
		{0, "ratio", OPT_FLOAT, &v->ratio, "X", "a ratio"},
		{0, "timeout", OPT_SECONDS, &v->timeout_s, "TIME", "how long"},
		{'t', "tag", OPT_LIST, &v->tags, "TAG", "a tag, again and again"},
		{0},
	};
	static struct strs argv; /* options borrow from it */
	AUTO_STRS rest = STRS_INIT;
	bool ok;

	strs_release(&argv);
	strs_push(&argv, "program");
	strs_split(&argv, words, " ");
	ok = opt_parse(opts, (int)argv.n, argv.v, &rest, help, err);
	*operands = strs_join(&rest, " ");
	return ok;
}

static void test_all_types(void **state _unused)
{
	struct values v = {0};
	AUTO_FREE char *operands = NULL;
	AUTO_FREE char *tags = NULL;
	struct err err;
	bool help;

	assert_true(parse(&v,
			  "one -qa --name=x -c5 --bytes 16M two --ratio 0.5 --timeout=2m "
			  "-t a --tag=b -- --three -q",
			  &operands, &help, &err));
	assert_true(v.quiet && v.all && !help);
	assert_string_equal(v.name, "x");
	assert_int_equal(v.count, 5);
	assert_int_equal(v.bytes, 16 << 20);
	assert_int_equal((int)(v.ratio * 10), 5);
	assert_int_equal((int)v.timeout_s, 120);
	tags = strs_join(&v.tags, ",");
	assert_string_equal(tags, "a,b");
	assert_string_equal(operands, "one two --three -q");
	strs_release(&v.tags);
}

static void refuses(const char *words, const char *message)
{
	struct values v = {0};
	AUTO_FREE char *operands = NULL;
	struct err err;
	bool help;

	assert_false(parse(&v, words, &operands, &help, &err));
	assert_string_equal(err.msg, message);
	assert_int_equal(err_exit_status(&err), 2);
}

static void test_mistakes(void **state _unused)
{
	refuses("--nmae x", "unknown option --nmae; did you mean --name?");
	refuses("--zzzzzzzz", "unknown option --zzzzzzzz; --help lists the options");
	refuses("-z", "unknown option -z; --help lists the options");
	refuses("--count", "--count needs a value: N");
	refuses("-c five", "--count: \"five\" is not a whole number");
	refuses("--quiet=yes", "--quiet takes no value");
	refuses("--timeout=soon",
		"--timeout: \"soon\" is not a time such as 90, 250ms, 90s, 15m or 2h");
}

static void test_help_ends_parsing(void **state _unused)
{
	struct values v = {0};
	AUTO_FREE char *operands = NULL;
	struct err err;
	bool help;

	assert_true(parse(&v, "-q --help --nonsense", &operands, &help, &err));
	assert_true(help && v.quiet);
}

static void test_help_text(void **state _unused)
{
	const struct opt opts[] = {
		{'n', "name", OPT_STRING, NULL, "NAME", "a name"},
		{0, "all", OPT_FLAG, NULL, NULL, "everything"},
		{0},
	};
	AUTO_FREE char *text = NULL;
	size_t n;
	FILE *f = open_memstream(&text, &n);

	opt_help(opts, f);
	fclose(f);
	assert_string_equal(text, "  -n, --name NAME  a name\n"
				  "      --all        everything\n"
				  "  -h, --help       show this help and exit\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_types),
		cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_help_ends_parsing),
		cmocka_unit_test(test_help_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

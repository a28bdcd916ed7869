// SPDX-License-Identifier: GPL-2.0-or-later
/* Digests of functions, of objects that the compiler makes here. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <unistd.h>

#include "base/proc.h"
#include "runner/functions.h"
#include "scratch.h"

/* What MORE brings stands before all else and moves it. */
static const char source[] =
	"int printk(const char *, ...);\n"
	"struct state { int n; unsigned short half; char flag; long at[4]; };\n"
	"static unsigned char first;\n"
	"#ifdef MORE\n"
	"static int more_once;\n"
	"static __attribute__((noinline)) int more(int x)\n"
	"{ return more_once++ ? printk(\"brand new %d\\n\", x) : x * 77; }\n"
	"int more_of_it(int x) { return more(x) + more(x + 1); }\n"
	"#endif\n"
	"static int once; static struct state state; static unsigned char flag;\n"
	"static __attribute__((noinline)) int helper(int x)\n"
	"{ state.at[x & 3]++; return printk(\"helper %d\\n\", x) + x; }\n"
	"static __attribute__((noinline, cold)) int rare(int x) { return printk(\"rare\\n\") + x; "
	"}\n"
	"int hot(int x)\n"
	"{ if (once == 4711) flag = 1; state.half = 7; state.flag |= 3; first ^= 1; once = 70000;\n"
	"  if (__builtin_expect(x < 0, 0)) return rare(x);\n"
	"  for (int i = 0; i < x; i++) x += helper(i);\n"
	"  return x + helper(CONSTANT); }\n"
	"int calls(int x) { return hot(x) + helper(x); }\n"
	"int says(void) { return printk(WORDS); }\n"
	"int (*pointer(void))(int) { return helper; }\n";

/* The list of the source under these options of the compiler. */
static char *list_of(const char *options)
{
	AUTO_FREE char *c = xasprintf("%s/f.c", dir), *o = xasprintf("%s/f.o", dir);
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	CLEANUP(proc_result_release) struct proc_result result = {0};
	AUTO_STR out = str_new();
	struct err err;

	assert_true(fs_write_atomic(c, source, strlen(source), 0600, &err));
	strs_pushl(&spec.argv, "gcc", "-O2", "-fno-pic", "-mcmodel=kernel",
		   "-fno-asynchronous-unwind-tables", "-c", "-o", o, c, NULL);
	strs_split(&spec.argv, options, " ");
	if (!proc_run(&spec, &result, &err) || result.status)
		fail_msg("gcc: status %d", result.status);
	if (!functions_list(o, &out, &err))
		fail_msg("%s", err.msg);
	return str_take(&out);
}

/* "NAME DIGEST" of the one function; NULL: it has not got it. */
static char *line_of(const char *list, const char *name)
{
	AUTO_FREE char *start = xasprintf("%s ", name);

	for (; *list; list += strcspn(list, "\n") + 1)
		if (str_starts(list, start))
			return xstrndup(list, strcspn(list, "\n"));
	return NULL;
}

static bool same(const char *a, const char *b, const char *name)
{
	AUTO_FREE char *x = line_of(a, name), *y = line_of(b, name);

	assert_non_null(x);
	assert_non_null(y);
	return !strcmp(x, y);
}

static const char *const all[] = {"hot", "helper", "rare", "calls", "says", "pointer"};

#define USUAL "-DCONSTANT=5 -DWORDS=\"abc\" "

static void check_moved(const char *as, const char *moved_by)
{
	AUTO_FREE char *options = xasprintf(USUAL "%s %s", as, moved_by);
	AUTO_FREE char *plain = xasprintf(USUAL "%s", as);
	AUTO_FREE char *usual = list_of(plain), *moved = list_of(options);

	for (size_t i = 0; i < ARRAY_SIZE(all); i++)
		if (!same(usual, moved, all[i]))
			fail_msg("%s differs with %s", all[i], options);
}

static void test_moved_code_is_the_same(void **state _unused)
{
	check_moved("", "-DMORE");
	check_moved("", "-DMORE -falign-functions=64");
	check_moved("", "-falign-functions=128");
	check_moved("-ffunction-sections", "-DMORE");
	check_moved("-ffunction-sections -fdata-sections", "-DMORE");
}

static void test_another_constant_is_not(void **state _unused)
{
	AUTO_FREE char *a = list_of(USUAL), *b = list_of("-DCONSTANT=6 -DWORDS=\"abc\"");

	assert_false(same(a, b, "hot"));
	for (size_t i = 1; i < ARRAY_SIZE(all); i++)
		assert_true(same(a, b, all[i]));
}

static void test_other_words_are_not(void **state _unused)
{
	AUTO_FREE char *a = list_of(USUAL), *b = list_of("-DCONSTANT=5 -DWORDS=\"abd\"");

	assert_false(same(a, b, "says"));
	assert_true(same(a, b, "hot"));
}

static void test_another_callee_is_not(void **state _unused)
{
	AUTO_FREE char *a = list_of(USUAL), *b = list_of(USUAL "-Dprintk=printf");

	assert_false(same(a, b, "helper"));
	assert_true(same(a, b, "hot"));
}

/* Each byte of the headers and tables turned over: a list or an error, never a read outside. */
static void test_hostile(void **state _unused)
{
	AUTO_FREE char *o = xasprintf("%s/f.o", dir);
	AUTO_FREE char *first = list_of(USUAL);
	AUTO_CLOSE int fd = open(o, O_RDWR | O_CLOEXEC);
	char good, bad;

	assert_true(*first);
	for (off_t at = 0; pread(fd, &good, 1, at) == 1; at++) {
		AUTO_STR out = str_new();
		struct err err;

		bad = (char)~good;
		assert_true(pwrite(fd, &bad, 1, at) == 1);
		if (!functions_list(o, &out, &err))
			assert_true(*err.msg);
		assert_true(pwrite(fd, &good, 1, at) == 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_moved_code_is_the_same),
		cmocka_unit_test(test_another_constant_is_not),
		cmocka_unit_test(test_other_words_are_not),
		cmocka_unit_test(test_another_callee_is_not),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}

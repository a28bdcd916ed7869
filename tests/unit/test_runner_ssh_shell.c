// SPDX-License-Identifier: GPL-2.0-or-later
/* A shell that stays open, without an ssh in front of it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "runner/ssh_shell.h"
#include "scratch.h"

#define PATIENCE_S 30.0

static void open_sh(struct ssh_shell *shell)
{
	AUTO_STRS argv = STRS_INIT;
	AUTO_FREE char *said = xasprintf("%s/said", dir);
	struct err err;

	*shell = (struct ssh_shell)SSH_SHELL_NONE;
	strs_pushl(&argv, "sh", "-s", NULL);
	assert_true(ssh_shell_open(shell, &argv, said, &err));
}

/* Its output; the caller frees it. */
static char *answer(struct ssh_shell *shell, const char *script, int *status)
{
	double end = clock_mono_s() + PATIENCE_S;
	AUTO_STR out = str_new();

	ssh_shell_ask(shell, script);
	while (!ssh_shell_hear(shell, 0.1, &out, status))
		assert_true(clock_mono_s() < end);
	return xstrdup(out.s);
}

static void expect(struct ssh_shell *shell, const char *script, const char *said, int status)
{
	int got = -1;
	AUTO_FREE char *text = answer(shell, script, &got);

	assert_string_equal(text, said);
	assert_int_equal(got, status);
}

static void test_many_scripts(void **state _unused)
{
	struct ssh_shell shell;
	AUTO_FREE char *one = NULL, *two = NULL;
	int status;

	open_sh(&shell);
	one = answer(&shell, "echo $$", &status);
	/* what ends a script does not end the shell, nor does anything read what the shell reads */
	expect(&shell, "printf 'no newline'; exit 3", "no newline", 3);
	expect(&shell, "cat; echo to stderr >&2", "to stderr\n", 0);
	expect(&shell, "cd /; x=1\nf() { echo \"$1 (\"; }\nf a", "a (\n", 0);
	expect(&shell, "echo \"$x$(pwd | grep -c '^/$')\"", "0\n", 0);
	expect(&shell, "head -c 300000 /dev/zero | tr '\\0' x | wc -c", "300000\n", 0);
	two = answer(&shell, "echo $$", &status);
	assert_string_equal(one, two);
	ssh_shell_close(&shell);
	assert_false(ssh_shell_lives(&shell));
}

static void test_end(void **state _unused)
{
	struct ssh_shell shell;
	AUTO_FREE char *text = NULL;
	int status = -1;

	open_sh(&shell);
	assert_true(ssh_shell_lives(&shell));
	text = answer(&shell, "echo first; kill -9 $$; sleep 100", &status);
	assert_string_equal(text, "first\n");
	assert_int_equal(status, 128 + 9);
	assert_false(ssh_shell_lives(&shell));

	/* what it said about its end comes with it */
	open_sh(&shell);
	free(TAKE(text));
	text = answer(&shell, ")", &status);
	assert_non_null(strstr(text, "yntax error"));
	assert_int_not_equal(status, 0);
	ssh_shell_close(&shell);
}

static void test_hand_over(void **state _unused)
{
	struct ssh_shell shell;
	struct proc proc = PROC_NONE;
	AUTO_CLOSE int fd = -1;
	char buf[64] = "";
	ssize_t n;
	int status = -1;

	open_sh(&shell);
	expect(&shell, "echo before", "before\n", 0);
	ssh_shell_hand_over(&shell,
			    "echo one; exec sh -c 'sleep 0.2; echo last; exit 4' </dev/null\n",
			    &proc, &fd);
	assert_false(ssh_shell_lives(&shell));
	/* nobody waits for what does not come */
	while ((n = read(fd, buf, 4)) < 0)
		assert_int_equal(errno, EAGAIN);
	assert_int_equal(n, 4);
	assert_true(proc_wait(&proc, PATIENCE_S, &status));
	assert_int_equal(status, 4);
	n = read(fd, buf, sizeof(buf) - 1);
	assert_true(n > 0);
	buf[n] = '\0';
	assert_string_equal(buf, "last\n");
	assert_int_equal(read(fd, buf, sizeof(buf)), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_many_scripts),
		cmocka_unit_test(test_end),
		cmocka_unit_test(test_hand_over),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}

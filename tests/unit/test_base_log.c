// SPDX-License-Identifier: GPL-2.0-or-later
/* Log lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/log.h"
#include "base/str.h"

/* What log_error() and log_debug() write while stderr is a pipe. */
static char *logged(bool in_journal, const char *text)
{
	char buf[4096];
	struct stat st;
	ssize_t n;
	int ends[2], old = dup(STDERR_FILENO);

	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fstat(ends[1], &st), 0);
	if (in_journal) {
		AUTO_FREE char *stream = xasprintf("%llu:%llu", (unsigned long long)st.st_dev,
						   (unsigned long long)st.st_ino);

		setenv("JOURNAL_STREAM", stream, 1);
	}
	dup2(ends[1], STDERR_FILENO);
	log_error("%s", text);
	log_debug("%s", text);
	dup2(old, STDERR_FILENO);
	close(old);
	close(ends[1]);
	n = read(ends[0], buf, sizeof(buf));
	close(ends[0]);
	assert_true(n > 0);
	return xstrndup(buf, (size_t)n);
}

static void test_terminal_line(void **state _unused)
{
	AUTO_FREE char *line = NULL;

	log_set_program("runner");
	setenv("JOURNAL_STREAM", "1:1", 1);
	line = logged(false, "job 8: boot: silent");
	assert_int_equal(strspn(line, "0123456789-: "), 20);
	assert_string_equal(line + 20, "runner: error: job 8: boot: silent\n");
}

static void test_journal_line(void **state _unused)
{
	AUTO_FREE char *line = logged(true, "job 8: boot: silent");

	assert_string_equal(line, "<3>job 8: boot: silent\n");
}

static void test_hostile_text_stays_one_line(void **state _unused)
{
	AUTO_FREE char *line = logged(true, "a\n<0>forged\033[2J");

	assert_string_equal(line, "<3>a <0>forged [2J\n");
}

static void test_level(void **state _unused)
{
	AUTO_FREE char *line = NULL;

	log_set_level(LOG_LEVEL_DEBUG);
	line = logged(true, "x");
	log_set_level(LOG_LEVEL_INFO);
	assert_string_equal(line, "<3>x\n<7>x\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_terminal_line),
		cmocka_unit_test(test_journal_line),
		cmocka_unit_test(test_hostile_text_stays_one_line),
		cmocka_unit_test(test_level),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

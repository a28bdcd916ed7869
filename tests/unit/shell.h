/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_SHELL_H
#define TESTS_UNIT_SHELL_H

/* Scripts that tests of repositories run in dir, which has to be there before: a test's own, or scratch.h's. */

#include "base/proc.h"
#include "base/str.h"

/* Runs a script in the test's directory; the output without its last newline. */
static char *shell(const char *fmt, ...) _printf_(1, 2);
static char *shell(const char *fmt, ...)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {.timeout_s = 120, .cwd = dir};
	CLEANUP(proc_result_release) struct proc_result result = {0};
	AUTO_STR script = str_new();
	struct err err = {0};
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&script, fmt, ap);
	va_end(ap);
	strs_pushl(&spec.argv, "sh", "-e", "-c", script.s, NULL);
	strs_pushl(&spec.env, "GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org",
		   "GIT_COMMITTER_NAME=A", "GIT_COMMITTER_EMAIL=a@example.org",
		   "GIT_CONFIG_GLOBAL=/dev/null", NULL);
	if (!proc_run(&spec, &result, &err) || result.status)
		fail_msg("%s%s: %s", err.msg, script.s, result.out.s);
	if (str_ends(result.out.s, "\n"))
		result.out.s[result.out.len - 1] = '\0';
	return str_take(&result.out);
}

#endif

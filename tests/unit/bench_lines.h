/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_BENCH_LINES_H
#define TESTS_UNIT_BENCH_LINES_H

/* Runs a benchmark inside a unit test and looks at the lines that it printed. After cmocka.h. */

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "bench/bench_run.h"

/* Runs it with stdout in a file; the lines. */
static inline void run_to_lines(struct bench_run *run, struct strs *lines)
{
	char path[] = "/tmp/test_bench_XXXXXX";
	int file = mkstemp(path), saved = dup(STDOUT_FILENO);
	AUTO_STR text = str_new();
	struct err err;
	bool ok;

	fflush(stdout);
	dup2(file, STDOUT_FILENO);
	ok = bench_run_execute(run, &err);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	close(file);
	if (!ok)
		fail_msg("%s", err.msg);
	assert_true(fs_read(path, 1 << 20, &text, &err));
	unlink(path);
	strs_split(lines, text.s, "\n");
}

/* The settings are "NAME=VALUE" words. */
static inline void run_with(const struct bench *bench, const char *settings, struct strs *lines)
{
	CLEANUP(bench_run_free_ptr) struct bench_run *run = bench_run_new(bench, BENCH_JSON);
	AUTO_STRS words = STRS_INIT;
	struct err err;

	strs_split(&words, settings, " ");
	for (size_t i = 0; i < words.n; i++) {
		char *value = strchr(words.v[i], '=');

		assert_non_null(value);
		*value++ = '\0';
		if (!bench_run_set(run, words.v[i], value, &err))
			fail_msg("%s", err.msg);
	}
	run_to_lines(run, lines);
}

/* The line of that type and name; a new reference, NULL when there is none. */
static inline json_t *line_of(const struct strs *lines, const char *type, const char *name)
{
	for (size_t i = 0; i < lines->n; i++) {
		AUTO_JSON *line = NULL;
		struct err err;

		assert_true(js_parse(lines->v[i], strlen(lines->v[i]), &line, &err));
		if (!strcmp(js_str_or(line, "type", ""), type) &&
		    !strcmp(js_str_or(line, "name", ""), name))
			return TAKE(line);
	}
	return NULL;
}

/* The i-th value of a metric that must be there. */
static inline double value_of(const struct strs *lines, const char *metric, size_t i)
{
	AUTO_JSON *line = line_of(lines, "metric", metric);

	if (!line)
		fail_msg("no metric %s", metric);
	return json_real_value(json_array_get(json_object_get(line, "values"), i));
}

#endif

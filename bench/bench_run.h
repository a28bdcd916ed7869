/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_BENCH_RUN_H
#define BENCH_BENCH_RUN_H

/* One run of a benchmark: its parameters before, what it reported after. */

#include "base/js.h"
#include "bench/bench.h"

enum bench_mode {
	BENCH_HUMAN, /* one table on stdout at the end, talk on stderr */
	BENCH_JSON,  /* lines of JSON on stdout */
	BENCH_SYNC,  /* as JSON, and each phase waits for one byte on stdin */
};

struct bench_run *bench_run_new(const struct bench *bench, enum bench_mode mode);
void bench_run_free(struct bench_run *run);
void bench_run_free_ptr(struct bench_run **run);

/* Checks the text against the parameter's type, limits and choices, and stores it in canonical form ("16M"). */
bool bench_run_set(struct bench_run *run, const char *param, const char *text,
		   struct err *err) _must_check;
/* Sets what the preset names, before single parameters are set over it. */
bool bench_run_preset(struct bench_run *run, const char *preset, struct err *err) _must_check;
/* A new reference: all parameters as text, defaults filled in; without those that were added later
 * and are at their default. */
json_t *bench_run_params(const struct bench_run *run);
/* The same settled from an object of texts (key "preset" allowed), as it stands in a job. */
bool bench_params_settle(const struct bench *bench, const json_t *given, json_t **out,
			 struct err *err) _must_check;

/* Runs it and prints what it reported, as the mode says. */
bool bench_run_execute(struct bench_run *run, struct err *err) _must_check;

/* Whether an emulator's number of this metric says nothing. */
bool bench_wants_real_cpus(const struct bench *bench, const struct bench_metric *metric);
/* "lower", "higher", "none". */
const char *bench_direction_word(enum bench_direction direction);
/* A new reference: the tables as JSON. */
json_t *bench_describe(const struct bench *bench);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

/*
 * The contract of a benchmark: one file bench/NAME.c that exports `const struct bench bench_NAME`
 * (and stands in the table of bench/benchmarks.c). The tables below are its documentation, its
 * command line, and what the database learns about its metrics. docs/benchmark.md shows how.
 */

#include "base/str.h"

#include <stdint.h>

enum bench_type {
	BENCH_INT,
	BENCH_BYTES,
	BENCH_SECONDS,
	BENCH_FLOAT,
	BENCH_TEXT
};
enum bench_direction {
	BENCH_LOWER,
	BENCH_HIGHER,
	BENCH_NONE
};

struct bench_param {
	const char *name;
	enum bench_type type;
	const char *fallback; /* "cpus" in a BENCH_INT is the number of online CPUs */
	const char *unit;     /* for a person; NULL = none */
	const char *help;
	long long least, most; /* of numbers; both 0 = any */
	long long multiple;    /* of; 0 = any */
	const char *choices;   /* of BENCH_TEXT: "page|folio|memset"; NULL = any text */
	/* Came after the first version: told only when it is not at its default, so that series
	 * from before go on and their names stay short. */
	bool added;
};

/* A metric may be reported as NAME or, when family is set, as NAME-SUFFIX. */
struct bench_metric {
	const char *name;
	const char *unit; /* ns, bytes, count, count/s, cycles, ratio */
	enum bench_direction direction;
	bool primary;
	bool family;
	double floor; /* c of log(x + c) */
	const char *help;
};

struct bench_preset {
	const char *name;
	const char *values; /* "threads=80 size=16M" */
	const char *help;
};

struct bench_run;

/* Tables end with a zeroed entry; presets may be NULL. */
struct bench {
	const char *name;
	int version; /* raised when numbers of before and after must not be compared */
	const char *about;
	const struct bench_param *params;
	const struct bench_metric *metrics;
	const struct bench_preset *presets;
	/* Names of metrics of which an emulator's number says nothing (tails, TLB misses, what tasks do to
	 * each other), NULL-ended; NULL = none. Emulated classes keep them, and judge one only when a suite
	 * names it. */
	const char *const *real_cpus;
	/* Settles parameters that depend on the machine ("auto"); NULL = nothing to settle. */
	bool (*settle)(struct bench_run *run, struct err *err);
	bool (*run)(struct bench_run *run, struct err *err);
};

/* What run() may ask ------------------------------------------------------------------------------
 * Asking for a parameter or reporting a metric that is not in the tables aborts. */

const char *bench_text(const struct bench_run *run, const char *param);
long long bench_int(const struct bench_run *run, const char *param); /* also bytes */
double bench_float(const struct bench_run *run, const char *param);  /* also seconds */
/* Which of its choices, from 0. */
int bench_choice(const struct bench_run *run, const char *param);

/* What run() reports ---------------------------------------------------------------------------- */

/* One iteration's value. suffix is NULL, or makes NAME-SUFFIX of a family. Non-finite aborts. */
void bench_value(struct bench_run *run, const char *metric, const char *suffix, double value);
/* This machine cannot give the metric (never report 0 instead). */
void bench_missing(struct bench_run *run, const char *metric, const char *suffix,
		   const char *reason);
void bench_counter(struct bench_run *run, const char *name, int64_t value);
/* Log2 buckets: bucket i counts values in [2^i, 2^(i+1)). */
void bench_histogram(struct bench_run *run, const char *metric, const char *suffix,
		     const uint64_t *buckets, size_t n);
/* A line for a person, at once. */
void bench_log(struct bench_run *run, const char *fmt, ...) _printf_(2, 3);
/* Brackets each measured stretch: instruments are switched on only inside. False: nobody is
 * listening any more. */
bool bench_phase(struct bench_run *run, bool on, struct err *err) _must_check;
/* Totals over all measured stretches: operations, threads that did them, wall clock. */
void bench_total(struct bench_run *run, uint64_t operations, unsigned threads, double seconds);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_RESULT_H
#define DB_RESULT_H

/*
 * The results of one boot: how the runner keeps them in memory, and their one transaction.
 * Everything in a struct result has been checked against docs/protocol.md.
 */

#include "base/js.h"
#include "db/build.h"
#include "db/conn.h"

struct result_metric {
	char *name;
	char *unit;
	char *direction;
	double floor;	/* c of log(x + c) */
	bool real_cpus; /* an emulator's number says nothing */
	double *values; /* one per iteration */
	size_t n;
};

struct result_counter {
	char *name;
	int64_t value;
	char *reason; /* not NULL: there is no value, for this reason */
};

struct result_histogram {
	char *name;
	char *unit;
	int64_t *buckets;
	size_t n;
};

struct result_lock {
	char *class_name;
	char *site;
	int64_t count;
	int64_t wait_ns;
	int64_t max_ns;
	int64_t *hist;
	size_t n;
	int64_t hold_count, hold_ns, hold_max_ns; /* -1: this kernel does not tell */
};

struct result_lock_health {
	bool present;
	bool measurable;
	char *reason;
	int64_t begins, ends, lost, stack_failures, map_full, recursion_misses;
	int64_t wait_ns, unmatched_ns; /* -1: the agent did not tell */
};

struct result_profile {
	char *source; /* NULL: none */
	int64_t samples, lost;
	char *stacks; /* JSON text: {folded stack: samples} */
};

#define RESULT_LIST(type)       \
	struct {                \
		struct type *v; \
		size_t n, cap;  \
	}

struct result_run {
	int seq;
	char *benchmark;
	int version;
	char *params;	   /* JSON text, sorted keys */
	char *params_hash; /* of that text */
	char *pass;
	char *outcome; /* ok, failed; NULL: it has not ended */
	char *reason;
	int64_t operations;
	int threads;
	double seconds;
	RESULT_LIST(result_metric) metrics;
	RESULT_LIST(result_counter) counters;
	RESULT_LIST(result_histogram) histograms;
	RESULT_LIST(result_lock) locks;
	struct result_lock_health health;
	struct result_profile profile;
};

struct result {
	char *boot_uuid;
	char *build_id;
	char *environment; /* JSON text; NULL: the agent did not come so far */
	char *environment_hash;
	char *facts; /* JSON text, or NULL */
	bool clocksource_changed;
	RESULT_LIST(result_run) runs;
};

void result_release(struct result *result);
/* Removes the last run. */
void result_drop_run(struct result *result);

/* The boot's own row, made when the attempt begins, so that a boot that dies is seen. Idempotent. */
bool boot_begin(struct db *db, int64_t attempt, int64_t machine, int64_t image, const char *method,
		struct err *err) _must_check;

/* Some earlier boot had this boot_id: what answers is no fresh boot. */
bool boot_uuid_seen(struct db *db, const char *boot_uuid, bool *seen, struct err *err) _must_check;

/* [{"id", "name", "definition": {...}}] of the suites, in the order of ids. */
bool suite_definitions(struct db *db, const int64_t *ids, size_t n, json_t **out,
		       struct err *err) _must_check;

/* How a boot ended. */
struct boot_end {
	int64_t token;
	const char *outcome;	     /* of boots: ok, panic, ... */
	const char *attempt_outcome; /* ok, kernel, machine, infra */
	const char *reason;	     /* NULL when ok */
	const char *left;	     /* why the machine did not come home behind it; NULL: it did */
	struct artifact console;
	double guest_s;
};

/*
 * One transaction: boot, environment, setup, runs, samples, locks and counters, and the attempt's end
 * (job_finish()). ERR_CONFLICT, and nothing stored, when the token no longer holds: so a result
 * is stored once. A metric whose unit or direction is not the stored one is ERR_FAILED.
 */
bool result_store(struct db *db, const struct boot_end *end, const struct result *result,
		  struct err *err) _must_check;

/* Median; n > 0. */
double result_estimate(const double *values, size_t n);

#endif

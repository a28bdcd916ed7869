/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_CHILD_H
#define BENCH_AGENT_CHILD_H

/* A benchmark as a child process: its lines, its phases, its end. */

#include "base/js.h"

struct bench_child {
	const char *name;     /* of the benchmark; the child is ourselves under that name */
	const json_t *params; /* {name: text} */
	const char *cgroup;   /* directory of its own, or NULL */
	double timeout_s;
	void (*line)(void *arg,
		     json_t *line); /* borrowed; metric, missing, counter, histogram, log */
	void (*phase)(void *arg, bool on);
	void *arg;
	json_t *done; /* out, a new reference: the `done` line */
};

/* False with the reason when it could not start, failed, died, took too long, or said no end. */
bool bench_child_run(struct bench_child *child, struct err *err) _must_check;

/* A fresh memory cgroup for one run; *out is NULL when this system has no cgroup v2 with memory. The
 * caller frees it, and removes it with memcg_remove(). */
bool memcg_new(int64_t seq, char **out, struct err *err) _must_check;
void memcg_remove(const char *dir);
bool memcg_available(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_CHILDREN_H
#define RUNNER_CHILDREN_H

/* The daemon's children: each is this program again, for one job or one fetch. */

#include "base/proc.h"
#include "db/job.h"
#include "runner/host.h"

struct child {
	struct proc proc;
	char *tree; /* a fetch of this tree; NULL: a job */
	int64_t attempt;
	int64_t token;
	char *what;   /* for the log */
	char *output; /* path of what it says */
	bool builds;
	bool keeps_busy;
	int status; /* once it has ended */
};

struct children {
	struct child *v;
	size_t n, cap;
	const struct settings *settings;
	int lock_fd; /* of the runner; children hold it, too */
};

bool children_start_job(struct children *children, const struct host *host,
			const struct job_lease *lease, struct err *err) _must_check;
bool children_start_follow(struct children *children, const char *tree,
			   struct err *err) _must_check;
/* Hands out one child that has ended (the caller releases it), or returns false. */
bool children_ended(struct children *children, struct child *out);
void child_release(struct child *child);
struct host_load children_load(const struct children *children);
bool children_follow(const struct children *children, const char *tree);
/* Ends all, gives them a moment to end their attempts. */
void children_stop(struct children *children);
/* Copies what the child said to our stderr and gives its last line, for attempts.error. */
char *child_last_words(const struct child *child);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_LOCKS_H
#define BENCH_AGENT_LOCKS_H

/* From counted waits to result lines. */

#include "base/js.h"
#include "bench/lockname.h"
#include "bench/spinlock.h"

struct lock_context {
	uint64_t operations;
	double thread_s; /* threads x wall clock of the measured phases */
	struct spinlock_facts spin;
	bool holds;			      /* lockwatch_holds() */
	void (*say)(void *arg, json_t *line); /* takes ownership */
	void *arg;
};

/* Lines lock_health, lock, metric and missing. */
void agent_locks_tell(const struct lock_context *context, const struct lock_waits *waits,
		      const struct lock_health *health);

#endif

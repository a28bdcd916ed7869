/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LOCK_REPORT_H
#define BENCH_LOCK_REPORT_H

/* What lockwatch saw, for a person and as lines of JSON. */

#include "base/js.h"
#include "bench/counters.h"
#include "bench/lockname.h"
#include "bench/spinlock.h"

struct lock_report {
	struct lock_waits waits;
	struct lock_health health;
	struct spinlock_facts spin;
	bool holds; /* the kernel tells how long contended locks were held */
	/* lock_event_counts of debugfs, empty without CONFIG_LOCK_EVENT_COUNTS */
	struct counters events_before, events_after;
	double seconds;
	unsigned cpus;
};

void lock_report_release(struct lock_report *report);

/* Classes, longest wait first, each with its `sites` heaviest call sites; then what the numbers are
 * worth: losses, what cannot be seen here, call sites that no table knows. */
void lock_report_print(const struct lock_report *report, size_t sites, FILE *out);
/* The lines `lock`, `counter` and `lock_health` of docs/protocol.md, without seq, and a last line
 * {"type": "lockwatch", "seconds", "cpus"}. */
void lock_report_json(const struct lock_report *report, FILE *out);

/* One `lock` line; a new reference. */
json_t *lock_wait_json(const struct lock_wait *wait, bool holds);
/* One `lock_health` line; a new reference. reason may be NULL. */
json_t *lock_health_json(const struct lock_health *health, const struct lock_waits *waits,
			 bool measurable, const char *reason);

/* The upper end of the log2 bucket below which share q of the waits lie, in ns; 0 without waits. */
double lock_stat_below(const struct lock_stat *stat, double q);

#endif

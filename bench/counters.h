/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_COUNTERS_H
#define BENCH_COUNTERS_H

/*
 * The kernel's event counters: /proc/vmstat, per-size THP statistics ("mthp.16k.NAME"),
 * khugepaged ("khugepaged.NAME"), lock slow paths ("lockevent.NAME"), pressure
 * ("psi.memory.some_us"), the kernel's threads ("task.khugepaged.run_ns"). Names differ between kernels: what is there is listed.
 */

#include "base/str.h"

#include <stdint.h>

struct counter {
	char *name;
	int64_t value;
	long long of; /* process; 0: the kernel, which counts since it was booted */
};

struct counters {
	struct counter *v;
	size_t n, cap;
};

#define COUNTERS_INIT      \
	{                  \
		NULL, 0, 0 \
	}
#define AUTO_COUNTERS CLEANUP(counters_release) struct counters

/* Takes ownership of name. */
void counters_add(struct counters *counters, char *name, int64_t value);
void counters_release(struct counters *counters);
/* Folds per-CPU parts together first (vm.stat_refresh), then reads all. */
bool counters_read(struct counters *counters, struct err *err) _must_check;
/* "lockevent.NAME": slow paths of all locks, one by one of debugfs; nothing without
 * CONFIG_LOCK_EVENT_COUNTS. */
void counters_read_locks(struct counters *counters);
/* Pressure stall times, and CPU time, waiting time and time slices of khugepaged, kcompactd, kswapd
 * and ksmd. What this kernel does not have is left out. */
void counters_read_proc(struct counters *counters);
/* The texts of /proc/pressure/RESOURCE and /proc/PID/schedstat; false when they are none. */
bool counters_parse_pressure(struct counters *counters, const char *resource,
			     const char *text) _must_check;
bool counters_parse_schedstat(struct counters *counters, const char *name,
			      const char *text) _must_check;
/* "name value" lines, the form of /proc/vmstat; gauges (nr_*) are left out. */
bool counters_parse(struct counters *counters, const char *text, struct err *err) _must_check;
/* NULL when the kernel has no such counter. */
const int64_t *counters_get(const struct counters *counters, const char *name);
/* after - before of one counter, or all of after where another thread counts meanwhile, which began at 0; false when either
 * lacks it. */
bool counters_delta(const struct counters *before, const struct counters *after, const char *name,
		    int64_t *delta) _must_check;
/* Whether a counter is told even when it did not move: the ones mm developers look for. */
bool counter_is_headline(const char *name);

#endif

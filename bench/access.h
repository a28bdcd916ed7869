/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_ACCESS_H
#define BENCH_ACCESS_H

/* Random loads over a range, timed: what address translation costs. */

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct access_result {
	uint64_t accesses;
	uint64_t ns;	 /* of the load loops only */
	uint64_t cycles; /* of the time stamp counter; 0 = this CPU has none */
	bool counted;	 /* dtlb_misses is true */
	/* How long the PMU's event should have counted, and did; 0 = it was never opened. */
	uint64_t enabled_ns, running_ns;
	uint64_t dtlb_misses;
	const char *why_not; /* static text, when not counted */
};

/* Loads one byte of a random cache line of a random page, `accesses` times (rounded up to whole
 * batches of 32768). The pages follow from seed. */
void access_random(const char *range, size_t size, uint64_t accesses, uint64_t seed,
		   struct access_result *out);

#endif

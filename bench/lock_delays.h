/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LOCK_DELAYS_H
#define BENCH_LOCK_DELAYS_H

/* What the delaying BPF programs and user space share. The includer provides the uint64_t family. */

enum lock_delay_index {
	LOCK_DELAY_LRUVEC,
	LOCK_DELAY_ZONE,
	LOCK_DELAYS,
};

#define LOCK_DELAY_MAX_NS 10000000u /* as perf lock contention --inject-delay allows */
#define LOCK_DELAY_ROUNDS (1u << 20)

struct lock_delay {
	uint32_t ns; /* 0 = off */
	uint32_t every;
};

struct lock_delayed {
	uint64_t chances, n;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_HISTOGRAM_H
#define BENCH_HISTOGRAM_H

/* Counts of values by size, fine enough for quantiles: 16 buckets per power of two, so that a
 * quantile is at most 1/32 off. A zeroed one is empty; it may lie in shared memory. */

#include <stddef.h>
#include <stdint.h>

#define HISTOGRAM_BUCKETS ((size_t)976)
#define HISTOGRAM_LOG2	  ((size_t)64)

struct histogram {
	uint64_t n, sum, max;
	uint64_t buckets[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, uint64_t value);
void histogram_merge(struct histogram *into, const struct histogram *from);
/* 0 of none. */
double histogram_mean(const struct histogram *h);
/* The value that a share q of all do not exceed (nearest rank); 0 of none. */
double histogram_quantile(const struct histogram *h, double q);
/* The form of bench_histogram(): out[i] counts values in [2^i, 2^(i+1)), 0 with the ones. */
void histogram_log2(const struct histogram *h, uint64_t out[HISTOGRAM_LOG2]);

#endif

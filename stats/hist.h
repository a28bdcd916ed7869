/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_HIST_H
#define STATS_HIST_H

/* log2 histograms: bucket i counts values in [2^i, 2^(i+1)). */

#include <stddef.h>
#include <stdint.h>

/* Adds n buckets of `from` to `into`, which has at least as many. */
void hist_add(int64_t *into, const int64_t *from, size_t n);
int64_t hist_count(const int64_t *buckets, size_t n);
/*
 * Quantile q in [0, 1]: values inside a bucket are taken as spread evenly on the log scale, so the
 * answer is right to better than a factor of 2. NaN when the histogram is empty.
 */
double hist_quantile(const int64_t *buckets, size_t n, double q);

#endif

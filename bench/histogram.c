// SPDX-License-Identifier: GPL-2.0-or-later
/* Counts by size. */
#include "bench/histogram.h"

#include <math.h>
#include <string.h>

#define SUB_BITS 4
#define SUB	 ((uint64_t)1 << SUB_BITS)

static unsigned exponent(uint64_t value)
{
	return value ? 63 - (unsigned)__builtin_clzll(value) : 0;
}

/* Values below 16 have a bucket each; above, the four bits behind the first one choose. */
static size_t bucket_of(uint64_t value)
{
	unsigned e = exponent(value);

	if (value < SUB)
		return (size_t)value;
	return (size_t)((e - SUB_BITS + 1) * SUB + (value >> (e - SUB_BITS)) % SUB);
}

static uint64_t lowest_of(size_t bucket)
{
	uint64_t octave = bucket / SUB;

	return octave ? (SUB + bucket % SUB) << (octave - 1) : bucket;
}

static uint64_t width_of(size_t bucket)
{
	return bucket < SUB ? 1 : (uint64_t)1 << (bucket / SUB - 1);
}

void histogram_add(struct histogram *h, uint64_t value)
{
	h->buckets[bucket_of(value)]++;
	h->n++;
	h->sum += value;
	if (value > h->max)
		h->max = value;
}

void histogram_merge(struct histogram *into, const struct histogram *from)
{
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		into->buckets[i] += from->buckets[i];
	into->n += from->n;
	into->sum += from->sum;
	if (from->max > into->max)
		into->max = from->max;
}

double histogram_mean(const struct histogram *h)
{
	return h->n ? (double)h->sum / (double)h->n : 0;
}

double histogram_quantile(const struct histogram *h, double q)
{
	uint64_t rank = (uint64_t)ceil(q * (double)h->n), seen = 0;

	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
		double middle = (double)lowest_of(i) + (double)(width_of(i) - 1) / 2;

		seen += h->buckets[i];
		if (seen && seen >= rank)
			return middle < (double)h->max ? middle : (double)h->max;
	}
	return 0;
}

void histogram_log2(const struct histogram *h, uint64_t out[HISTOGRAM_LOG2])
{
	memset(out, 0, HISTOGRAM_LOG2 * sizeof(*out));
	for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
		out[exponent(lowest_of(i))] += h->buckets[i];
}

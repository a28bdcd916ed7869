/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_COMPARE_H
#define STATS_COMPARE_H

/* Two sets of boots side by side: what changed, how sure, and what would have been seen. */

#include "base/err.h"
#include "stats/estimate.h"
#include "stats/proportion.h"

#include <stddef.h>

enum better {
	BETTER_LOWER,  /* times, waits */
	BETTER_HIGHER, /* throughputs, ratios of success */
	BETTER_NONE,   /* no direction: the effect is the plain log ratio after/before */
};

/* "lower", "higher", "none" as in metrics.direction; anything else is BETTER_NONE. */
enum better better_parse(const char *direction);
/* +1 when more is worse or there is no direction, -1 when less is worse. */
double better_sign(enum better better);

/* From so many boots on each side, one outlier a side is cut off before anything is said. */
enum {
	COMPARE_ROBUST_N = 8
};

enum compare_test {
	COMPARE_NUMBERS, /* Welch's t of one number per boot */
	COMPARE_TRIMMED, /* Yuen's */
	COMPARE_SHARES,	 /* of the events that boots counted */
	COMPARE_TAILS	 /* one of the first two, no surer than the events allow */
};

struct comparison {
	enum compare_test test;
	size_t before_n, after_n;
	double before_mean, after_mean; /* geometric, in the metric's unit */
	double effect, lo, hi; /* log ratio after/before, signed so that > 0 is worse; 95 % */
	double p;	       /* two-sided */
	bool significant;      /* p < 0.05 */
	double mde; /* log ratio > 0 that 90 of 100 such comparisons would call significant;
		     * inf when a side has fewer than 2 boots */
};

/*
 * One number per boot, n >= 1 on each side; floor is the c of log(x + c). Welch's interval, or
 * Yuen's (trimmed) from COMPARE_ROBUST_N boots a side. Fails on a number whose logarithm does not exist.
 */
bool compare_boots(const double *before, size_t n0, const double *after, size_t n1, double floor,
		   enum better better, struct comparison *out, struct err *err) _must_check;

/* What n boots counted: hits and of for a metric that is a share of events, else histograms (stats/hist.h) for one
 * that is their quantile q, else nothing. Borrowed. */
struct compare_events {
	size_t n;
	const int64_t *hits, *of;
	const int64_t *const *histograms;
	size_t buckets;
	double q;
};

/*
 * Looks at the events behind a comparison's boots, the same ones in the same order. A share: means are those of all
 * events, and the test is proportion_compare()'s instead. A quantile: boots whose numbers happen to agree would seem
 * certain, so interval, p and what is detectable become the wider of the two tests' (buckets are too wide for
 * proportion_tail() to stand alone: what moves inside of one does not show). Says nothing new when a side has
 * nothing counted, or in one boot only.
 */
void compare_events(const struct compare_events *before, const struct compare_events *after,
		    double floor, enum better better, struct comparison *out);

/* "welch", "yuen", "share", "tail". */
const char *compare_test_name(enum compare_test test);

/* The 95 % interval that compare_boots() uses, of numbers that are logarithms already. */
struct interval compare_interval(const double *before, size_t n0, const double *after, size_t n1);

/* Log ratio -> relative change: 0.0953 -> 0.10. */
double compare_relative(double log_ratio);

#endif

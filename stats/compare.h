/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_COMPARE_H
#define STATS_COMPARE_H

/* Two sets of boots side by side: what changed, how sure, and what would have been seen. */

#include "base/err.h"
#include "stats/estimate.h"

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

struct comparison {
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

/* The 95 % interval that it uses, of numbers that are logarithms already. */
struct interval compare_interval(const double *before, size_t n0, const double *after, size_t n1);

/* Log ratio -> relative change: 0.0953 -> 0.10. */
double compare_relative(double log_ratio);

#endif

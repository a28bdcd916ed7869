/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_ESTIMATE_H
#define STATS_ESTIMATE_H

/* Location, spread and intervals of small samples; quantiles and tails of t and normal. */

#include "base/err.h"

#include <stddef.h>

/* All of these want n > 0 finite numbers, in any order, and leave them alone. */
double estimate_mean(const double *x, size_t n);
/* The middle one, or the mean of the two middle ones. */
double estimate_median(const double *x, size_t n);
/* Sum of squares about the mean. */
double estimate_sse(const double *x, size_t n);
/* Divisor n - 1; 0 when n < 2. */
double estimate_sd(const double *x, size_t n);

/* log(x + floor). Fails on a number that is not finite or where x + floor <= 0. */
bool estimate_log(double x, double floor, double *out, struct err *err) _must_check;
/* The same for n numbers; out has room for n. */
bool estimate_logs(const double *x, size_t n, double floor, double *out,
		   struct err *err) _must_check;
/* exp(mean of log(x + floor)) - floor, in the unit of x. */
bool estimate_geomean(const double *x, size_t n, double floor, double *out,
		      struct err *err) _must_check;

/* A noise level learned elsewhere: standard deviation of one boot, worth df degrees of freedom.
 * df = 0: nothing is known and sd is ignored. */
struct sd_prior {
	double sd;
	double df;
};

/*
 * Pools k groups of boots that each had one mean (historical boots of equal images): sse[i] is
 * the sum of squares of group i about its mean, n[i] its size. df = sum of (n - 1).
 */
struct sd_prior estimate_pool(const double *sse, const size_t *n, size_t k);

/* Difference of means after - before with its interval. */
struct interval {
	double diff;
	double lo, hi;
	double se;
	double df;
	double p; /* two-sided, for diff = 0 */
};

/*
 * Welch's t interval at the given level (0.95); Welch-Satterthwaite df. With fewer than 2 numbers
 * on a side nothing can be said: lo = -inf, hi = inf, se = inf, df = 0, p = 1. When all numbers of
 * each side are equal se = 0 and p is 1 (no difference) or 0.
 */
struct interval estimate_welch(const double *before, size_t n0, const double *after, size_t n1,
			       double level);

/*
 * The same with a fifth of the numbers cut off at each end of each side (Yuen 1974, "The two-sample
 * trimmed t for unequal population variances"): n = 5 to 9 lose one at each end, fewer than 5 none,
 * which makes it Welch's. A boot that the host disturbed cannot decide then.
 */
struct interval estimate_yuen(const double *before, size_t n0, const double *after, size_t n1,
			      double level);
/* The mean that estimate_yuen() compares. */
double estimate_trimmed_mean(const double *x, size_t n);

/* Same with one common variance, to which a prior adds its df; prior may be NULL. */
struct interval estimate_pooled(const double *before, size_t n0, const double *after, size_t n1,
				const struct sd_prior *prior, double level);

/* Quantile of Student's t at probability p; df = inf gives the normal. */
double estimate_t_quantile(double p, double df);
/* P(T > t). */
double estimate_t_upper(double t, double df);
double estimate_normal_quantile(double p);
/* The normal deviate with the same upper tail as t with df degrees of freedom. */
double estimate_t_to_z(double t, double df);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_SEGMENT_H
#define STATS_SEGMENT_H

/*
 * Where a series changed its level: the exact minimum of
 *   sum of (y - mean of its segment)^2 / long-run variance + penalty per change
 * over all divisions into segments, by dynamic programming with pruning (Killick, Fearnhead and
 * Eckley 2012, "Optimal detection of changepoints with a linear computational cost").
 * Deterministic.
 */

#include <stddef.h>

struct segment_rule {
	double penalty;	   /* per change, in units of log(n) */
	size_t least;	   /* fewest points of a segment, >= 1 */
	double rho_points; /* a series of so many points tells the correlation half, fewer less */
};

/* What ships. */
extern const struct segment_rule segment_rule_default;
/* For histories of tens of heads, whose steps fresh boots confirm: the correlation that chance makes
 * in so few points must not hide them. */
extern const struct segment_rule segment_rule_history;

/* The noise of a series whose level may change. */
struct segment_noise {
	double sd;	 /* of one point about its level */
	double rho;	 /* correlation of neighbours, 0 <= rho <= 0.9 */
	double long_run; /* variance of the mean of many points, times their number */
};

/*
 * From medians of |y[i + 1] - y[i]| and |y[i + 2] - y[i]|, which a few changes or outliers do not
 * touch, for a first-order autoregression (Chakar, Lebarbier, Levy-Leduc and Robin 2017, "A
 * robust approach for estimating change-points in the mean of an AR(1) process"). Where most steps are 0, from their mean
 * square, as if independent. rho is drawn towards 0 by n / (n + rho_points). n >= 3.
 */
struct segment_noise segment_noise(const double *y, size_t n, const struct segment_rule *rule);

struct segmentation {
	size_t *starts; /* of the segments: starts[0] = 0 */
	size_t n;	/* segments, >= 1 unless the series is empty */
	struct segment_noise noise;
};

/* Points that stand alone, out of their neighbours on both sides, are pulled in first. */
void segment_series(const double *y, size_t n, const struct segment_rule *rule,
		    struct segmentation *out);
void segmentation_release(struct segmentation *s);

#endif

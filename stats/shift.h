/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_SHIFT_H
#define STATS_SHIFT_H

/* The shift's prior, log-uniform on [lo, hi]: density 1 / (x log(hi / lo)). */

struct shift_prior {
	double lo, hi; /* 0 < lo <= hi */
	double log_ratio;
};

struct shift_prior shift_prior_make(double lo, double hi);
double shift_mean(const struct shift_prior *shift);
/* One shift > 0 and no other: hi = lo. */
struct shift_prior shift_prior_known(double shift);
/* Mean of the square. */
double shift_mean_sq(const struct shift_prior *shift);
/*
 * The distribution function integrated from -inf to x. Its second difference with step h,
 * divided by h, is the prior's integral against a hat of half width h: exact however narrow the
 * prior's peak at lo is beside h.
 */
double shift_ramp(const struct shift_prior *shift, double x);

#endif

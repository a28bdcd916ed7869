/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_PROPORTION_H
#define STATS_PROPORTION_H

/*
 * Shares of events, such as huge pages that succeeded, and quantiles of events, such as the p99.9 of
 * faults: what a boot counts are many events, but the boot is what is repeated. Events of one boot
 * are alike, so their number is divided by the design effect that the boots show (Rao and Scott
 * 1992, "A simple method for the analysis of clustered binary data").
 */

#include <stddef.h>
#include <stdint.h>

#include "stats/estimate.h"

struct counted {
	int64_t hits, of; /* of one boot; 0 <= hits <= of */
};

/* Share of all boots, as many independent events as they are worth. */
struct share {
	double p, n;
	double effect; /* the design effect, >= 1: events that say as much as one */
	size_t boots;  /* that counted any */
};

/* n boots with events in at least one. */
struct share proportion_share(const struct counted *boots, size_t n);
/* Wilson's score interval at two-sided normal deviate z. */
void proportion_wilson(const struct share *share, double z, double *lo, double *hi);

/*
 * Log ratio after / before of share + floor. Each side's limits are Wilson's, carried over to the logs; the
 * two sides are joined by their squares (Zou and Donner 2008, "Construction of confidence limits about
 * effect measures"). Deviates are those of t with the boots' degrees of freedom, since the design effect is
 * known no better. p: two-sided, of the t whose half width is the nearer side's. With fewer than two boots that
 * counted on a side nothing can be said: df = 0, limits are infinite, p = 1.
 */
struct interval proportion_compare(const struct counted *before, size_t n0,
				   const struct counted *after, size_t n1, double floor,
				   double level);

/* Histograms of boots: n of them, each with `buckets` log2 buckets as in stats/hist.h. */
struct tails {
	const int64_t *const *boots;
	size_t n, buckets;
};

/*
 * Log ratio after / before of the quantile q, in nats, of all boots' events. Each side's limits are
 * where Wilson's for the share below the quantile come out on the histogram, which holds for any
 * distribution that is even inside its buckets; deviates, joining, p and too few boots as above.
 */
struct interval proportion_tail(const struct tails *before, const struct tails *after, double q,
				double level);

#endif

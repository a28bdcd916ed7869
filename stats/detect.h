/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_DETECT_H
#define STATS_DETECT_H

/*
 * From suspicion to certainty. detect_shift() is sensitive and often wrong; confirm_pairs() looks
 * at fresh boots only, as often as one likes, and is wrong in at most alpha of all unchanged cases.
 * Numbers are log values, one per boot, signed so that larger is worse.
 */

#include <stddef.h>

#include "stats/estimate.h"

struct detection {
	double effect; /* mean(after) - mean(before): log ratio, > 0 is worse */
	double z;      /* normal deviate of the effect, > 0 is worse; 0 when the noise is unknown */
	double sd;     /* standard deviation of one boot that was used */
};

/* n0, n1 >= 1; with fewer than 3 boots in all the prior decides alone. prior may be NULL. */
struct detection detect_shift(const double *before, size_t n0, const double *after, size_t n1,
			      const struct sd_prior *prior);

enum confirm_verdict {
	CONFIRM_MORE, /* boot more pairs */
	CONFIRM_CONFIRMED,
	CONFIRM_REFUTED, /* no shift worth reporting was seen; `mde` says down to what */
};

struct confirm_rule {
	size_t pairs;	   /* at most; >= 1 */
	double min_effect; /* log ratio worth reporting, > 0 */
	double alpha; /* chance that an unchanged pair is ever confirmed, however often one looks */
};

struct confirmation {
	enum confirm_verdict verdict;
	double effect, lo, hi; /* mean log ratio with a 95 % interval (not corrected for looking) */
	double p;	       /* 1 / the largest e-value so far: never rises */
	double p_needed;       /* confirmed when p <= this: alpha */
	double mde; /* at the end: the shift that all pairs of the rule find in 90 of 100 cases */
};

/*
 * The decision after any number of pairs, with all of them so far; before[i] and after[i] are of
 * one pair, whose order was drawn at random:
 *   confirmed  evalue_pairs() has reached 1 / alpha and the mean is at least min_effect
 *   refuted    the one-sided 99 % upper limit lies below min_effect, or the pairs are used up, or
 *              not even agreement of all that are left could confirm, or hardly any way leads to
 *              confirmation from here: with a drift one standard error better than the observed
 *              one, 49 of 50 continuations end below it (stochastic curtailment: Lan, Simon and
 *              Halperin 1982)
 * At least 2 pairs are wanted, else the verdict is CONFIRM_MORE (when no more may come: refuted).
 * prior, the noise of one boot, may be NULL; it only helps to give up and to say the interval.
 */
struct confirmation confirm_pairs(const double *before, const double *after, size_t n,
				  const struct sd_prior *prior, const struct confirm_rule *rule);

/*
 * The shift that `rule` confirms with the given probability when one boot has this deviation:
 * where the mean evidence of its pairs, less so many deviations of it, is what is needed. inf when
 * there are too few pairs to ever confirm.
 */
double confirm_detectable(double sd, const struct confirm_rule *rule, double power);

#endif

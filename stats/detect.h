/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_DETECT_H
#define STATS_DETECT_H

/*
 * From suspicion to certainty. detect_shift() is sensitive and often wrong; confirm_blocks() looks
 * at fresh boots only, as often as one likes, and is wrong in at most alpha of all unchanged cases.
 * Numbers are log values, one per boot, signed so that larger is worse.
 */

#include <stddef.h>

#include "stats/estimate.h"
#include "stats/evalue.h"

struct detection {
	double effect; /* mean(after) - mean(before): log ratio, > 0 is worse */
	double z;      /* normal deviate of the effect, > 0 is worse; 0 when the noise is unknown */
	double sd;     /* standard deviation of one boot that was used */
};

/* n0, n1 >= 1; with fewer than 3 boots in all the prior decides alone. prior may be NULL. */
struct detection detect_shift(const double *before, size_t n0, const double *after, size_t n1,
			      const struct sd_prior *prior);

/*
 * The shift that detect_shift() shows as z or more with this probability, by boots of which the noise is known like
 * that: t's non-central distribution, approximated as Abramowitz and Stegun 26.7.10; inf when nothing is known.
 */
double detect_detectable(const struct sd_prior *prior, size_t n0, size_t n1, double z,
			 double power);

enum confirm_verdict {
	CONFIRM_MORE, /* boot one block more */
	CONFIRM_CONFIRMED,
	CONFIRM_REFUTED, /* no shift worth reporting was seen; confirm_mde() says down to what */
};

struct confirm_rule {
	size_t blocks;	   /* at most; >= 1 */
	size_t each;	   /* boots a side of one block; 1 .. EVALUE_SIDE_MAX */
	double min_effect; /* log ratio worth reporting, > 0 */
	double alpha; /* chance that an unchanged pair is ever confirmed, however often one looks */
};

struct confirmation {
	enum confirm_verdict verdict;
	double effect, lo,
		hi; /* mean log ratio (NAN: nothing is known) with a 95 % interval (not corrected for looking) */
	double p;	 /* 1 / the largest e-value so far: never rises */
	double p_needed; /* confirmed when p <= this: alpha */
	double sd;	 /* of one boot, as it was used; inf: unknown */
};

/*
 * The decision after any number of blocks, with all of them so far; a block that lost boots is
 * smaller, one that lost a side says nothing:
 *   confirmed  evalue_add() has reached 1 / alpha and the mean is at least min_effect
 *   refuted    the one-sided 99 % upper limit lies below min_effect, or the blocks are used up, or
 *              not even agreement of all that are left could confirm, or hardly any way leads to
 *              confirmation from here: with a drift one standard error better than the observed
 *              one, 49 of 50 continuations end below it (stochastic curtailment: Lan, Simon and
 *              Halperin 1982)
 * Fewer than 3 boots decide nothing. prior, the noise of one boot, may be NULL; it only helps to give
 * up and to say the interval.
 */
struct confirmation confirm_blocks(const struct evalue_block *blocks, size_t n,
				   const struct sd_prior *prior, const struct confirm_rule *rule);

/*
 * The shift, in deviations of one boot, that `rule` confirms with the given probability: where the
 * mean evidence of its blocks, less so many deviations of it, is what is needed. inf when there are too
 * few blocks to ever confirm. Takes 0.02 to 0.5 s, the more the larger a block is.
 */
double confirm_detectable(const struct confirm_rule *rule, double power);
/* The same as a log ratio, by the noise of these boots; never below what is worth reporting. */
double confirm_mde(const struct confirmation *c, const struct confirm_rule *rule, double power);

#endif

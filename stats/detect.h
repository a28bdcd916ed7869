/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_DETECT_H
#define STATS_DETECT_H

/*
 * From suspicion to certainty. detect_shift() is sensitive and often wrong; confirm_shift() looks
 * at fresh boots only, after each stage, and is wrong in at most alpha of all unchanged cases.
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
	CONFIRM_MORE, /* run another stage */
	CONFIRM_CONFIRMED,
	CONFIRM_REFUTED, /* no shift worth reporting was seen; `mde` says down to what */
};

struct confirm_rule {
	unsigned int stages; /* at most; >= 1 */
	double min_effect;   /* log ratio worth reporting, > 0 */
	double alpha;	     /* chance that an unchanged pair is ever confirmed: 0.01 */
};

struct confirmation {
	enum confirm_verdict verdict;
	double effect, lo, hi; /* log ratio with a 95 % interval (not corrected for looking) */
	double p;	       /* one-sided, of no shift */
	double p_needed;       /* confirmed when p <= this: alpha / stages */
	double mde; /* shift that this much data confirms in 90 of 100 cases; inf without df */
};

/*
 * The decision after `stage` finished stages (1-based), with all fresh boots of all stages so far:
 *   confirmed  one-sided pooled t test at alpha / stages (the union bound, so that the error over
 *              all looks stays within alpha whatever their dependence) and effect >= min_effect
 *   refuted    the one-sided 99 % upper limit lies below min_effect, or the stages are used up, or
 *              hardly any way leads to confirmation from here: with a drift one standard error
 *              better than the observed one, 19 of 20 continuations end below it (stochastic
 *              curtailment: Lan, Simon and Halperin 1982)
 * At least 2 boots on each side are wanted, else the verdict is CONFIRM_MORE (at the last stage:
 * refuted). prior may be NULL; it must come from boots that did not raise the suspicion.
 */
struct confirmation confirm_shift(const double *before, size_t n0, const double *after, size_t n1,
				  const struct sd_prior *prior, unsigned int stage,
				  const struct confirm_rule *rule);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_LEVELS_H
#define STATS_LEVELS_H

/*
 * The integral behind the posterior: how well does a split of the boots into before and after
 * explain their numbers, when both levels and the noise are unknown? The model is the one in
 * stats/posterior.h.
 */

#include <stdbool.h>
#include <stddef.h>

struct posterior_prior;

struct levels_boots {
	size_t n; /* boots */
	const double *y;
	const size_t *group; /* of each boot: boots of one node form a group, 0 .. groups - 1 */
	size_t groups;
};

struct moment {
	double mean, var;
};

/* into becomes the mixture of into (weight a) and from (weight b), a + b = 1. */
void moment_mix(struct moment *into, double a, const struct moment *from, double b);

/* Of one split: the evidence, and means and variances given the split. */
struct levels_fit {
	double log_evidence;
	struct moment level0; /* var inf: neither boots nor history tell it */
	struct moment level1;
	struct moment shift;
	struct moment sigma;
};

/*
 * Fits each of n splits; after[i * groups + g] says that split i has group g after the shift.
 * A split with nothing after it is at the same time "no shift at all": the shift is then as the
 * prior says. Splits that are more than about e^22 behind the best get a rough evidence only.
 */
void levels_fit(const struct levels_boots *boots, const bool *after, size_t n,
		const struct posterior_prior *prior, struct levels_fit *fit);

#endif

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

/* Of one split: the evidence, and means and second moments given the split. */
struct levels_fit {
	double log_evidence;
	double level0, level0_sq; /* inf when neither boots nor history tell them */
	double level1, level1_sq;
	double shift, shift_sq;
	double sigma, sigma_sq;
};

/*
 * Fits each of n splits; after[i * groups + g] says that split i has group g after the shift.
 * A split with nothing after it is at the same time "no shift at all": the shift is then as the
 * prior says. Splits that are more than about e^30 behind the best get a rough evidence only.
 */
void levels_fit(const struct levels_boots *boots, const bool *after, size_t n,
		const struct posterior_prior *prior, struct levels_fit *fit);

/* log of the noise density at z sigma, without the terms -log(sigma) - log(2 pi) / 2. */
double levels_log_noise(double z, double outlier, double outlier_scale);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_LEVELS_H
#define STATS_LEVELS_H

/*
 * The integral behind the posterior: how well does a split of the boots into before and after
 * explain their numbers, when both levels and the noise are unknown? The model is the one in
 * stats/posterior.h. Boots are added one by one; likelihoods are kept on a grid of sigmas and, for
 * each, a lattice of levels, which is laid anew when the boots have outgrown it.
 */

#include <stdbool.h>
#include <stddef.h>

struct posterior_prior;

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

struct levels;

struct levels *levels_new(const struct posterior_prior *prior);
void levels_free(struct levels *levels);
/* About where sigma lies, as a similar fit found it: saves the first look over all sigmas. */
void levels_hint(struct levels *levels, double sigma, double sigma_sd);
/* Boots of one node form a group; a new group has the next number, from 0. */
void levels_add(struct levels *levels, size_t group, double y);
/* A boot of a level of its own, one for all of these, that no split asks for. */
void levels_add_aside(struct levels *levels, double y);
/*
 * Fits each of n splits; after[i * groups + g] says that split i has group g after the shift.
 * A split with nothing after it is at the same time "no shift at all": the shift is then as the
 * prior says. Splits that are more than about e^22 behind the best get a rough evidence only.
 * fit comes with the last fit (or that of the split which a new group has divided), so that
 * what was hopeless is left alone until the grid is laid anew; or with equal log_evidence. The order
 * in which boots were added shows only in the error of the quadrature, see stats/posterior.h.
 */
void levels_fit(struct levels *levels, const bool *after, size_t n, struct levels_fit *fit);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_MIXTURE_H
#define STATS_MIXTURE_H

/*
 * What a split is worth over all sigmas, when it was looked at on all of them or on three. A part of stats/levels.h.
 *
 * Three tell the others: what a split explains worse than another one is a sum of squares over sigma^2, so that the log of
 * their ratio is a line in 1 / sigma^2 while the noise is normal, and nearly a parabola when it is not.
 */

#include "stats/lattice.h"
#include "stats/levels.h"

/* Sums over sigmas, times exp(-log_scale). */
struct mixture {
	double log_scale; /* -inf: empty */
	struct sums sum;
	double s, ss; /* raw moments of sigma */
	double rest;  /* log evidence from where levels were not worth a look */
};

void mixture_init(struct mixture *mixture);
/* Adds exp(log_scale) x sums. */
void mixture_add(struct mixture *mixture, const struct sums *sum, double log_scale, double sigma);
/* Evidence alone. */
void mixture_add_rest(struct mixture *mixture, double log_z);
/* Without the rest; log_evidence -inf when it is empty. */
struct levels_fit mixture_fit(const struct mixture *mixture);

/* One split at one sigma. */
struct sample {
	double log_z; /* log evidence, -inf: nothing to speak of */
	bool levels;  /* the sums are there, not only the evidence */
	struct sums sum;
	double log_scale; /* that they lack */
};

enum {
	MIXTURE_SAMPLES = 3,
};

/* Where samples were taken, the first at the likeliest sigma, and what one split is worth at every sigma. */
struct mixture_grid {
	const double *log_sigma;
	size_t sigmas;
	size_t at[MIXTURE_SAMPLES];
	double log_z[MIXTURE_SAMPLES]; /* of the leader */
	const double *leader;	       /* [sigmas]: its log evidence */
	double *sigma,
		*u; /* [sigmas]: by mixture_grid_lay(), since they are the same for all splits */
};

/* When log_sigma, sigmas and at are set. */
void mixture_grid_lay(struct mixture_grid *grid);
void mixture_grid_release(struct mixture_grid *grid);

/* All sigmas of a split of which these are known. */
void mixture_interpolate(struct mixture *mixture, const struct mixture_grid *grid,
			 const struct sample samples[MIXTURE_SAMPLES]);

#endif

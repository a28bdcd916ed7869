/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_LATTICE_H
#define STATS_LATTICE_H

/*
 * The integral over both levels for one sigma, on a lattice of levels: the trapezoid rule for the
 * lower level, exact integrals of the shift's prior against hats for the upper one. Each split
 * uses the windows of the lattice where its levels may lie. The inner part of stats/levels.h.
 */

#include <stdbool.h>
#include <stddef.h>

#include "stats/levels.h"
#include "stats/noise.h"
#include "stats/posterior.h"
#include "stats/shift.h"

enum side_index {
	BEFORE,
	AFTER,
};

enum {
	STRIDE_LOGS = 5,
	STRIDE_MAX = 1 << (STRIDE_LOGS - 1),
	RAMP_BEFORE = 2 * STRIDE_MAX,
};

/* One side of one split: its numbers, sorted. */
struct side {
	double *y;
	size_t n;
	double median;
};

struct split {
	struct side side[2];
	const bool *after; /* per group */
	double *profile;   /* per coarse sigma */
	double best;	   /* of profile */
};

/* A run of lattice points: index from, from + stride, ...; points in all. */
struct window {
	long from;
	long stride;
	size_t points;
};

struct fitter {
	const struct levels_boots *boots;
	const struct posterior_prior *prior;
	struct shift_prior shift;
	struct sd_prior noise;
	struct noise density;
	struct split *splits;
	size_t n_splits;
	double *values;	   /* behind the sides */
	double *by_group;  /* the boots' numbers, group by group */
	size_t *group_end; /* [groups]: where each ends in by_group */
	double *profiles;
	double best;
	double log_lo, log_hi; /* of sigma: where anything counts */
	double log_step;

	/* for the sigma at hand */
	double sigma;
	double h;		  /* lattice spacing */
	long first, last;	  /* lattice points in use */
	double *table;		  /* [groups][last - first + 1], NAN = not computed yet */
	double *ramp;		  /* shift_ramp(m h) from m = -RAMP_BEFORE on */
	double *hat[STRIDE_LOGS]; /* its second differences by log2 of the stride, or NULL */
	double *e[2];		  /* scratch: exp(log likelihood) on a window */
};

/* Sums over the grid: total and raw moments. */
struct sums {
	double z, x0, xx0, x1, xx1, d, dd;
};

/* Spacing, range and scratch for this sigma and the splits that count (at least one does). */
void lattice_lay(struct fitter *f, double log_sigma, const bool *counts);
/* Fills sum and returns the log of the factor it lacks; -inf when the integral vanishes. */
double lattice_integrate(struct fitter *f, const struct split *split, struct sums *sum);
void lattice_release(struct fitter *f);

/* Levels at which the split does about best, or, when the sides come in the wrong order, where
 * the smallest shift allowed does. */
void lattice_order(const struct fitter *f, const struct split *split, double level[2]);

#endif

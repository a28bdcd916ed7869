/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_LATTICE_H
#define STATS_LATTICE_H

/*
 * Likelihoods of groups of boots on a lattice of levels, for one sigma, and the integral over both
 * levels of a split. The inner part of stats/levels.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stats/noise.h"
#include "stats/shift.h"

enum side_index {
	BEFORE,
	AFTER,
};

struct lattice {
	double sigma;
	double h;	   /* spacing */
	double from;	   /* level of point 0 */
	size_t points;	   /* a multiple of LATTICE_LANES */
	double *row;	   /* [groups][points]: likelihood / exp(log_scale[group]) */
	double *log_scale; /* [groups] */
	/* The same over each row's largest, for products: single precision is a thousand times as exact as the lattice. */
	float *narrow;
	double *log_narrow;
	size_t groups, cap;
	size_t room; /* numbers that row and narrow can hold */
	/* [6][2 points + 1]: prior of the shift being about m - points spacings, and that times
	 * the shift and its square; then the three mirrored */
	float *hat;
	double edge[2];	 /* least and largest shift, in spacings */
	bool one_shift;	 /* it is known */
	double *history; /* prior of level0 at the points, or NULL: flat */
	float *ones;	 /* [points] */
	float *first; /* [points], behind ones: history over its largest, which has the log log_first */
	double log_first;
};

enum {
	LATTICE_LANES = 8,
};

/* Where the levels of interest lie, and how fine they must be seen. */
struct lattice_range {
	double lo, hi, h;
};

/* history_sd = 0: the level before is not known. *lattice is zeroed or one that was in use, whose memory is used again. */
void lattice_init(struct lattice *lattice, double sigma, const struct lattice_range *range,
		  const struct shift_prior *shift, double level, double history_sd);
void lattice_release(struct lattice *lattice);
/* Group <= lattice->groups; the next number makes a new one. */
void lattice_add(struct lattice *lattice, const struct noise *noise, size_t group, double y);

/* Which groups each split has after the shift, and in what order products of rows are best made. */
struct lattice_plan {
	size_t splits, groups, words;
	uint64_t *set[2]; /* [splits][words] */
	size_t *from[2];  /* the split whose product is taken over, or the split itself: none */
	size_t *order[2];
	bool *any[2]; /* has the side a boot? */
};

void lattice_plan_init(struct lattice_plan *plan, const bool *after, size_t splits, size_t groups);
void lattice_plan_release(struct lattice_plan *plan);

/* Products of rows for all splits and both sides. */
struct lattice_products {
	float *value[2];      /* [splits][points] */
	double *log_scale[2]; /* of value, [splits] */
	double *top[2];	      /* largest value */
	size_t cap, cap_splits;
};

void lattice_multiply(const struct lattice *lattice, const struct lattice_plan *plan,
		      struct lattice_products *products);
/* The same for one split, whatever was made of the others. */
void lattice_multiply_one(const struct lattice *lattice, const struct lattice_plan *plan,
			  size_t split, struct lattice_products *products);
void lattice_products_release(struct lattice_products *products);

/* Sums over the grid: total and raw moments. */
struct sums {
	double z, x0, xx0, x1, xx1, d, dd;
};

/*
 * The integral of one split; the log of the factor that sum lacks is log_scale[BEFORE] +
 * log_scale[AFTER] of the products. Returns the share of it that lies at the lattice's edges.
 */
double lattice_integrate(const struct lattice *lattice, const struct lattice_plan *plan,
			 const struct lattice_products *products, size_t split,
			 const struct shift_prior *shift, struct sums *sum);
/* The total alone. */
double lattice_estimate(const struct lattice *lattice, const struct lattice_plan *plan,
			const struct lattice_products *products, size_t split,
			const struct shift_prior *shift);

#endif

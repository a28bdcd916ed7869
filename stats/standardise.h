/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_STANDARDISE_H
#define STATS_STANDARDISE_H

/* Counters of two sides on one scale, so that unlike ones can be ranked. */

#include <stdbool.h>
#include <stddef.h>

struct standardised {
	double before, after; /* means */
	double effect;	      /* log ratio of after + 1 to before + 1 */
	double change;	      /* effect in standard deviations of one boot */
	double p;	      /* two-sided, Student */
};

/*
 * One count per boot, n >= 2 on each side. On log(x + 1); the deviation of a boot is the pooled one, at
 * least that of counting itself, 1 / sqrt(mean + 1) (Poisson), so that a counter which happens to be
 * the same in a few boots does not look infinitely sure. False with fewer than 2 boots on a side or a
 * count below 0.
 */
bool standardise(const double *before, size_t n0, const double *after, size_t n1,
		 struct standardised *out);

#endif

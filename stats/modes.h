/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_MODES_H
#define STATS_MODES_H

/* Do boots fall into two heaps? Then a mean says little, and a change may be one of how often, not of how much. */

#include <stdbool.h>
#include <stddef.h>

struct modes {
	bool two;
	double apart; /* upper less lower mode, in the unit of the numbers */
	double upper; /* share of the numbers in the upper one */
	double sd;    /* of one number about its mode */
};

enum {
	MODES_LEAST = 20 /* numbers; fewer say nothing */
};

/*
 * Numbers about their level, in the order of time. Two normals of one deviation (fitted by expectation maximisation)
 * against one normal and a shifted log-normal of the same skewness (method of moments; a skewed heap is one heap): two when
 * the Bayesian information criterion speaks for it by 6 or more ("strong": Kass and Raftery 1995, "Bayes
 * factors"), the modes are more than two deviations apart (Ashman, Bird and Zepf 1994), the smaller has a tenth of the
 * numbers (else they are outliers), and numbers change between them as often as chance does, by half at least (else the
 * level moved).
 */
void modes_find(const double *y, size_t n, struct modes *out);

#endif

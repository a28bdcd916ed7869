/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_TREND_H
#define STATS_TREND_H

/* Does a series of numbers that should stay where it is move one way? */

#include <stddef.h>

struct trend {
	size_t n;
	double z;    /* normal deviate, > 0 rises; 0 for fewer than 3 numbers */
	double move; /* from the first to the last, in the unit of the numbers */
};

/*
 * Mann 1945 and Kendall 1975: pairs that rise less pairs that fall, with continuity correction and ties as if there were
 * none (which makes z smaller). move is n - 1 times the median slope of all pairs (Sen 1968). Outliers and the shape of
 * the noise do not matter; numbers that depend on their neighbours make z larger than it is worth.
 */
void trend_find(const double *y, size_t n, struct trend *out);

#endif

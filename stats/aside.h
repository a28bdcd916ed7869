/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_ASIDE_H
#define STATS_ASIDE_H

/*
 * Boots of one level that is nobody's question: with that integrated out (flat prior) they tell
 * the noise alone. Kept for the sigmas of a grid. A part of stats/levels.h.
 */

#include "stats/lattice.h"

struct aside {
	double *y;
	size_t n, cap;
	struct lattice *at; /* [sigmas], of one group each */
	size_t sigmas;
};

void aside_release(struct aside *aside);
void aside_add(struct aside *aside, const struct noise *noise, double y);
/* For these sigmas from now on. */
void aside_lay(struct aside *aside, const struct noise *noise, const double *log_sigma,
	       size_t sigmas);
/* Log evidence of its boots at the k-th sigma, without the terms log(2 pi) / 2; 0 for none. */
double aside_log(const struct aside *aside, size_t k);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_PAST_H
#define BISECTOR_PAST_H

/* What the history of a branch knows of a bisection's good level. */

#include "bisector/bisector.h"

struct past {
	double level; /* mean of logs, > 0 is worse */
	double sd;    /* how far the good level may lie from it now; 0: the history tells nothing */
	size_t heads; /* that it is from */
};

/*
 * The level that the heads before `good` were on last, from their routine boots; good's own are left out, since they
 * were looked at because they seemed low. Nothing when good is no measured head, when fewer than 8 heads before it were on
 * its level, or when it was off that itself.
 */
bool past_read(struct bisector *bisector, const struct series *series, int64_t branch, int64_t good,
	       struct past *out, struct err *err) _must_check;

/* Whether these boots of the good end, n >= 1 with deviation sd each, could be of that level: within three deviations. */
bool past_holds(const struct past *past, const double *y, size_t n, double sd);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_STEADY_H
#define BISECTOR_STEADY_H

/* Whether the machines of a search stay what they were while it goes on. Pure. */

#include "stats/changes.h"
#include "stats/trend.h"

struct steady {
	bool drifts;
	size_t machine;	    /* the one that drifts most, as in posterior_obs */
	struct trend trend; /* of its boots, in their order; logs */
};

/*
 * Looks at what the boots differ by from the levels that the search has found, machine by machine, at nodes whose side is
 * certain; with two changes from the levels before, between and behind them.
 */
void steady_look(const struct changes *changes, struct steady *out);

#endif

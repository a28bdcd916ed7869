// SPDX-License-Identifier: GPL-2.0-or-later
/* Drift. */
#include "bisector/steady.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

#define DRIFT_BOOTS 12 /* of a machine, before anything is said */
#define DRIFT_Z \
	3.5 /* one look in 2,000 at a machine that stays; a search of 60 boots looks some 50 times at nearly the same */
#define SIDE_KNOWN 0.05

/* The level of a node by one posterior; false where its side is not certain. */
static bool level_by(const struct posterior *post, size_t node, double *level)
{
	double after = post->after[node];

	*level = after > 0.5 ? post->level1 : post->level0;
	return fabs(after - 0.5) >= 0.5 - SIDE_KNOWN;
}

/* With two changes, by the posterior of each given the other: both know the nodes between the two, and must be certain. */
static bool level_of(const struct changes *c, size_t node, double *level)
{
	bool known = false;

	if (c->phase != CHANGES_TWO)
		return level_by(&c->one, node, level);
	for (size_t i = 0; i < 2; i++) {
		const struct changes_look *look = c->sides[i];

		if (sides_after(c->one.sides, look->given, node) != look->after)
			continue;
		if (!level_by(&look->post, node, level))
			return false;
		known = true;
	}
	return known;
}

/* Residuals of one machine, in the order of its boots. */
static size_t residuals(const struct changes *c, size_t machine, double *out)
{
	size_t n = 0;
	double level;

	for (size_t i = 0; i < c->n; i++)
		if (c->obs[i].machine == machine && level_of(c, c->obs[i].node, &level))
			out[n++] = c->obs[i].y - level;
	return n;
}

void steady_look(const struct changes *c, struct steady *out)
{
	AUTO_FREE double *y = xcalloc(c->n + 1, sizeof(*y));
	size_t machines = 0;

	*out = (struct steady){0};
	for (size_t i = 0; i < c->n; i++)
		if (c->obs[i].machine >= machines)
			machines = c->obs[i].machine + 1;
	for (size_t m = 0; m < machines; m++) {
		size_t n = residuals(c, m, y);
		struct trend trend;

		if (n < DRIFT_BOOTS)
			continue;
		trend_find(y, n, &trend);
		if (fabs(trend.z) < DRIFT_Z || fabs(trend.z) <= fabs(out->trend.z))
			continue;
		*out = (struct steady){.drifts = true, .machine = m, .trend = trend};
	}
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_INFORMATION_H
#define STATS_INFORMATION_H

/*
 * What one more boot of each node is expected to tell about the hypotheses, in bits: the mutual
 * information of its number with them, each class of hypotheses predicting with its own levels
 * and its own doubt about them. So an end whose level is in doubt is worth a boot as soon as that
 * doubt is what keeps hypotheses apart.
 */

#include <stddef.h>

#include "stats/posterior.h"

struct information {
	const struct posterior *post; /* borrowed */
	size_t points;		      /* of the grid of y */
	double dy;
	double *density; /* [classes][2 sides][points], NULL rows for weightless classes */
	double *entropy; /* [classes][2], bits */
};

void information_init(struct information *info, const struct posterior *post);
void information_release(struct information *info);
/* bits[n] for all nodes when the hypotheses have these masses (post->mass, or what it would be
 * after some boots that are still running). after[n] is set too: mass of the upper side. */
void information_bits(const struct information *info, const double *mass, double *bits,
		      double *after);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_INFORMATION_H
#define STATS_INFORMATION_H

/*
 * What one more boot of a node is expected to tell about the hypotheses, in bits: the mutual
 * information of its number with them, each class of hypotheses predicting with its own levels
 * and its own doubt about them. So an end whose level is in doubt is worth a boot as soon as that
 * doubt is what keeps hypotheses apart.
 */

#include <stddef.h>

#include "stats/posterior.h"

struct information {
	const struct posterior *post; /* borrowed */
	double *of_class;	      /* mass */
	size_t *kept;		      /* the classes that matter, n of them */
	size_t n;
	size_t points; /* of the grid of y */
	double dy;
	double *density; /* [n][2 sides][points] */
	double *entropy; /* [n][2], bits */
	double *upper;	 /* scratch: [classes] */
	double *mix;	 /* scratch: [points] */
};

void information_init(struct information *info, const struct posterior *post);
void information_release(struct information *info);
double information_bits(struct information *info, size_t node);

#endif

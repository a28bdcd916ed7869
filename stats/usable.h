/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_USABLE_H
#define STATS_USABLE_H

/*
 * How likely a boot of a node gives a number. What breaks a commit is mended some commits later, so
 * the neighbours of one that is broken often are too, and those of one that is sound are not.
 */

#include "stats/sides.h"

enum usable_seen {
	USABLE_UNTRIED,
	USABLE_SOUND,
	USABLE_BROKEN,
};

/*
 * chance[n] of node n being sound: 1 for those that are, and for all while none was seen broken.
 * Commits are taken as a chain of two states that keeps each for a while (Gilbert 1960); the share of
 * broken ones has a beta prior. What the nearest tried node below and the nearest above tell is
 * multiplied; how near is the number of suspects that one has and the other has not. sides must
 * be indexed. Never below 0.01.
 */
void usable_chances(const struct sides *sides, const enum usable_seen *seen, double *chance);

#endif

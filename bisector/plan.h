/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_PLAN_H
#define BISECTOR_PLAN_H

/*
 * What is built and measured as a matter of routine: the heads of snapshots (and the first base),
 * newest first; then, while nothing is being confirmed or bisected, the commits between: ends of
 * patch series first, then the middle of the largest gap. At most two boots per machine and two
 * builds wait ahead for these. Equal trees are one build; equal images share their boots.
 */

#include "bisector/bisector.h"

#define PLAN_SNAPSHOTS 8 /* of each branch: more than a lab that was off for a week can catch up */

bool plan_advance(struct bisector *bisector, struct err *err) _must_check;

#endif

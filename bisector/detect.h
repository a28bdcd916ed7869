/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_DETECT_H
#define BISECTOR_DETECT_H

/*
 * Which images are judged against each other: the head of each snapshot against the last head
 * before it that could be measured (the first: against its base), or, from the ninth on, against
 * the level of all heads since the last change. While nothing is urgent also
 * neighbours among the measured commits of the newest snapshots, at a higher bar, since there are
 * many and one change may hide another between two heads.
 */

#include "bisector/bisector.h"

#define DETECT_NEIGHBOUR_Z 3.5 /* one in 4,000 unchanged pairs: a branch has a hundred of them */

bool detect_advance(struct bisector *bisector, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_PROVE_H
#define BISECTOR_PROVE_H

/*
 * One step of a bisection that proves: clean rebuilds of parent and culprit, then a fixed number of
 * fresh boots of both (and of the tip with and without the culprit) in random blocks. Only these
 * boots give the stated effect. A regression row when its interval excludes 0.
 */

#include "bisector/bisector.h"
#include "db/bisection.h"

bool prove_advance(struct bisector *bisector, const struct bisection *bisection,
		   struct err *err) _must_check;

#endif

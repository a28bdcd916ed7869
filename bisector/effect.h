/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_EFFECT_H
#define BISECTOR_EFFECT_H

/* From the boots of a proof to a regression. */

#include "bisector/bisector.h"
#include "db/bisection.h"
#include "db/history.h"

struct effect_of {
	const struct bisection *bisection;
	const struct history_commit *culprit;
	int64_t parent;
	int64_t builds[2];	   /* of parent and culprit */
	const char *revert_reason; /* NULL: the proof has boots of the reverted tip */
};

/*
 * Compares all series of the proof's boots. When the searched one is worse with its whole 95 %
 * interval, stores the regression (unless that tree and patch have one) and ends the bisection as
 * 'culprit'; else says why not in `why` and stores nothing. *open: the interval has no change in it, so
 * that more boots could tell.
 */
bool effect_store(struct bisector *bisector, const struct effect_of *what, bool *open,
		  struct str *why, struct err *err) _must_check;

#endif

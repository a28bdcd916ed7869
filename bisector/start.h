/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_START_H
#define BISECTOR_START_H

/* The begin of a bisection: its ends, its merge base, its frozen suspects. */

#include "bisector/bisector.h"
#include "db/bisection.h"
#include "db/candidate.h"

/*
 * Inserts the bisection and its hypotheses, in a transaction of the caller. Wants all of
 * bisection but id, merge_base, seed; an empty range is ERR_USAGE.
 */
bool start_bisection(struct bisector *bisector, struct bisection *bisection,
		     struct err *err) _must_check;

/* For a confirmed leader. A range that cannot be searched is logged, and no error. */
bool start_from_candidate(struct bisector *bisector, const struct candidate *candidate,
			  const struct series *series, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_PAIR_H
#define BISECTOR_PAIR_H

/* Boots of "before" and "after", by the test that suits their metric. */

#include "bisector/bisector.h"
#include "stats/compare.h"

/*
 * One series of these boots: a metric that is a share of events by their counts, one that is their tail also by
 * their histograms, when all boots told them; others by their numbers. before_n or after_n of out is 0, and nothing
 * else is said, when a side has no boot.
 */
bool pair_compare(struct db *db, const struct estimates *estimates, const struct series *series,
		  struct comparison *out, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_SELECT_H
#define STATS_SELECT_H

/* What a bisection boots next, and when it ends. */

#include <stdbool.h>
#include <stddef.h>

#include "stats/posterior.h"

enum select_reason {
	SELECT_NOTHING,	     /* no node is testable */
	SELECT_SPLIT,	     /* splits the suspects */
	SELECT_LEVEL_BEFORE, /* the good level is known too badly */
	SELECT_LEVEL_AFTER,  /* the bad level is known too badly, or is there at all? */
};

struct select_choice {
	enum select_reason reason;
	size_t node;
	double bits; /* expected gain: of information about the culprit, plus what better known
		      * levels will save later, in the same unit */
	double split_bits; /* the first part alone */
	double after;	   /* mass of "this node has the culprit" */
};

/* "split", "level-before", ... for steps.reason. */
const char *select_reason_name(enum select_reason reason);

/*
 * The testable node with the most expected bits per cost. cost[n] > 0, in boots, of a number from it:
 * 1 for a built image, 1 + build/boot time for one that must be built; over the chance that it gives
 * one (stats/usable.h). pending[n] (may be NULL) counts boots of
 * node n that are queued or running: the choice is what adds most to what they will tell.
 */
struct select_choice select_next(const struct posterior *post, const bool *testable,
				 const double *cost, const size_t *pending);

/* Mutual information in bits of one number with the side of its node: levels d sigma apart,
 * chance `after` of the upper one. C(d) of the yardstick is select_capacity(0.5, d). */
double select_capacity(double after, double d);

/* Boots a good search needs: log2(n) / C(d) + 11 / d^2 (facts of the simulation, stop 0.99). */
double select_yardstick(size_t n, double d);

enum search_verdict {
	SEARCH_MORE,
	SEARCH_CULPRIT,	 /* set[0] is the culprit */
	SEARCH_NONE,	 /* no culprit */
	SEARCH_NARROWED, /* one of set: nothing testable splits them, or the budget is used up */
};

struct search_state {
	enum search_verdict verdict;
	bool budget_spent; /* NARROWED because of the budget */
	size_t n;	   /* hypotheses in set */
	double mass;	   /* their posterior mass */
};

/*
 * set has room for all hypotheses and, when the search has ended, receives them by falling mass: the
 * one culprit; hypothesis 0 for SEARCH_NONE; the smallest set with mass >= stop when nothing
 * testable splits it; with mass >= 0.9 when the budget is used up. Such a set may contain hypothesis
 * 0, or be it alone when the budget ended before `stop` was reached. A stop <= 0.5 makes no sense.
 */
struct search_state select_verdict(const struct posterior *post, const struct sides *sides,
				   const bool *testable, double stop, size_t boots, size_t budget,
				   size_t *set);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_CHANGES_H
#define STATS_CHANGES_H

/*
 * One change in the range, or two? While one explains the boots this is stats/posterior.h. Once it
 * has a culprit, the boots on either side of that are asked by themselves whether they hold a second
 * one. When they do, each of the two is searched for given the other, by the boots on its own side
 * of it: with three levels that are free, the boots beyond the other change say nothing about it,
 * so on a line nothing is lost. Everything follows from the boots alone, in whatever steps they
 * came.
 */

#include "stats/posterior.h"
#include "stats/select.h"

enum changes_phase {
	CHANGES_ONE,	/* which commit is it, if any? */
	CHANGES_BESIDE, /* it is known: is there another one beside it? */
	CHANGES_TWO,	/* there are two */
};

enum {
	CHANGES_LOOKS = 6, /* posteriors that are kept from one step to the next */
};

/* The boots on one side of a given change, by themselves. */
struct changes_look {
	size_t given;	     /* hypothesis; 0: free */
	bool after;	     /* the side of it that has it */
	int steps;	     /* of given's shift, on which the prior of the other's depends */
	double prior_second; /* 0: no hypothesis divides that side */
	struct posterior post;
	size_t seen; /* boots of the search that it has looked at */
	size_t used; /* when, for what is dropped first */
};

struct changes {
	struct posterior one; /* the model with one change */
	enum changes_phase phase;
	/* In CHANGES_BESIDE the culprit, otherwise as in `one`; in CHANGES_TWO both, the first
	 * being the likelier culprit of `one`. Hypotheses, 0: none. */
	size_t first, second;
	/* CHANGES_BESIDE: the sides before and after first. CHANGES_TWO: where first and second
	 * are searched for. Borrowed from look. */
	struct changes_look *sides[2];
	struct changes_look look[CHANGES_LOOKS];
	size_t clock;
	struct posterior_prior prior;
	double *prior_mass;
	struct posterior_obs *obs;
	size_t n, cap;
};

/* As posterior_start(). A known shift means one change. */
void changes_start(struct changes *changes, const struct sides *sides, const double *prior_mass,
		   const struct posterior_prior *prior);
void changes_add(struct changes *changes, const struct posterior_obs *obs, size_t n_obs);
void changes_release(struct changes *changes);

/* Posterior of a second change beside the first; 0 in CHANGES_ONE. */
double changes_second(const struct changes *changes);
/* Per hypothesis: of being the first change, given the second when there is one. */
const double *changes_mass(const struct changes *changes);

struct changes_state {
	struct search_state first;  /* as select_verdict() says; MORE while either is not settled */
	struct search_state second; /* NONE: one change explains the boots */
};

/*
 * As select_verdict(), with a set for each change. With two, each must reach the posterior at which
 * both are right with `stop`. Boots >= budget end the search with what it has.
 */
struct changes_state changes_verdict(const struct changes *changes, const bool *testable,
				     double stop, size_t boots, size_t budget, size_t *first,
				     size_t *second);

/* As select_next(), for whichever open question gains most. */
struct select_choice changes_next(const struct changes *changes, const bool *testable,
				  const double *cost, const size_t *pending, double stop);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_EVIDENCE_H
#define BISECTOR_EVIDENCE_H

/*
 * All that the rows say about one bisection, put together anew at each step: the line-up, what is
 * built and bootable, the boots of this bisection's search (no others), the posterior.
 */

#include "bisector/bisector.h"
#include "bisector/layouts.h"
#include "bisector/lineup.h"
#include "bisector/steady.h"
#include "db/work.h"
#include "stats/changes.h"

struct evidence {
	const struct bisection *bisection;
	struct hypotheses hypotheses;
	struct history history;
	struct lineup lineup;
	struct series series;
	struct work_jobs jobs;	/* boots of the search */
	struct changes changes; /* what the boots say */
	double *prior;		/* per hypothesis, with what cannot be ruled out */
	struct built *built;	/* per node, in the plain layout */
	struct layouts layouts; /* fresh: each boot of a node has another one */
	int64_t *layout;	/* per node: seed of its next boot's */
	struct built *next;	/* per node: what that boots; built, when layouts do not matter */
	bool *testable;		/* per node: may still deliver a number */
	bool *lost;		/* per node: does not boot, or its boots give no number */
	double *cost;		/* per node, in boots, of a number (bisector/cost.h) */
	double *build_s;	/* per node: what its build would take; NAN: not known */
	size_t *pending;	/* per node: boots queued or running */
	size_t asked;		/* boot jobs in all */
	size_t open;		/* of them queued or running */
	size_t failed;		/* of them failed */
	size_t observed;	/* numbers in the series */
	size_t silent;		/* nodes whose boots give no number of it: not testable */
	size_t machines;	/* of the class, up */
	size_t builds_open;
	bool late; /* its budget of time is used up: no boot is added */
	enum evidence_past {
		PAST_NONE,  /* history tells no good level, or too few boots are surely good yet */
		PAST_HOLDS, /* it is used */
		PAST_OFF    /* the good end is elsewhere now: it is not */
	} past;
	struct steady steady;
	char *drifting; /* name of the machine that drifts; NULL: none does */
};

/* What a person must know of the boots behind every statement, "" or "; the machine m1 drifts ..." */
void evidence_notes(const struct evidence *evidence, struct str *out);

/* A boot of the node was queued: what its next one boots. */
bool evidence_next(struct db *db, struct evidence *evidence, size_t node,
		   struct err *err) _must_check;

bool evidence_read(struct bisector *bisector, const struct bisection *bisection,
		   struct evidence *out, struct err *err) _must_check;
void evidence_release(struct evidence *evidence);

#endif

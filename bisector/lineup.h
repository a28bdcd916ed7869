/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_LINEUP_H
#define BISECTOR_LINEUP_H

/*
 * Who is suspected, and what each boot would say about them. Pure.
 *
 * Good need not be an ancestor of bad (every rebase): the new line is what bad has and good has
 * not, the old line is what good has and bad has not, both above the merge base. Suspects are the
 * commits of the new line and the patches of the old line that the new one dropped.
 */

#include "db/bisection.h"
#include "db/history.h"
#include "stats/sides.h"

#define LINEUP_NONE_PRIOR \
	0.15 /* a confirmed change that is none: 10 to 40 % are in use elsewhere */
#define LINEUP_KEPT_PRIOR 0.02 /* all patches together that good has unchanged (order effects) */

struct lineup_node {
	int64_t commit;
	const struct history_commit *info; /* borrowed from the history */
	bool old;			   /* above the merge base, not in bad */
};

struct lineup {
	struct lineup_node *nodes; /* good, merge base (unless it is good), old line, new line */
	size_t n_nodes;
	size_t good, base, bad; /* nodes */
	struct sides sides;	/* of the frozen hypotheses */
	bool has_dropped;
};

void lineup_release(struct lineup *lineup);

/*
 * The hypotheses to freeze, with their priors (sum 1): none, the new line with parents before
 * children, the dropped patches. Patches that stand unchanged in the old line share
 * LINEUP_KEPT_PRIOR, the others the rest, each by its weight (one > 0 per commit of the history; NULL:
 * all alike). When base is no ancestor of good it is suspected too, in full: it stands for all that
 * came with a new base. False, with the reason, when nobody is suspected.
 */
bool lineup_suspects(const struct history *history, const double *weight, int64_t good, int64_t bad,
		     int64_t base, struct hypotheses *out, struct err *err) _must_check;

/* Nodes and side matrix for these hypotheses. history (as history_read() gives it: by id) must
 * outlive out. */
bool lineup_make(const struct history *history, const struct hypotheses *hypotheses, int64_t good,
		 int64_t bad, int64_t base, struct lineup *out, struct err *err) _must_check;

/* The node of a commit, or n_nodes. */
size_t lineup_find(const struct lineup *lineup, int64_t commit);

/*
 * weight[h] = 0 for hypotheses under which two nodes with one identity lie on different sides:
 * the same image cannot be fast and slow. identity has one number per node; 0 = not known.
 */
void lineup_rule_out(const struct lineup *lineup, const uint64_t *identity, double *weight);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_SEGMENT_H
#define DB_SEGMENT_H

/* Histories of series over the heads of a branch, divided into levels. */

#include "db/conn.h"

struct db_segment {
	int64_t first_commit, last_commit;
	size_t heads;
	double level, step; /* logs, > 0 is worse; step from the level before: NAN for the first */
};

struct db_history {
	int64_t series, branch;
	size_t heads;
	double sd, rho;	   /* of one head, of neighbours */
	double down_to;	   /* log ratio; inf: nothing would have been seen */
	double mode_apart; /* logs: its boots lie in two heaps so far apart; NAN: in one */
	double mode_upper; /* share of them in the worse one */
	const int64_t *head_commits; /* [heads], oldest first */
	const double *head_down_to;  /* the same for each head alone */
	const struct db_segment *segments;
	size_t n;
};

/* Series that the last three heads have routine boots of and whose history was not looked at for
 * every_s; the caller frees *series. */
bool history_due(struct db *db, int64_t branch, double every_s, int64_t **series, size_t *n,
		 struct err *err) _must_check;
/* Replaces what there was. */
bool history_store(struct db *db, const struct db_history *history, struct err *err) _must_check;

/*
 * Ends leaders that are being confirmed although an older candidate of the branch and setup, which
 * is confirmed or being so, has the same step between its two commits. The ids of those ended are
 * the caller's to free.
 */
bool history_merge(struct db *db, int64_t branch, int64_t **ended, size_t *n,
		   struct err *err) _must_check;

/* Open regressions whose primary series this is, with culprits that the branch has had. */
struct db_open_regression {
	int64_t id;
	double before, after; /* geometric means of the proof, in the metric's unit */
	double created_s;
};

bool history_regressions(struct db *db, int64_t series, int64_t branch,
			 struct db_open_regression **out, size_t *n, struct err *err) _must_check;
/* Whether the first boot of this image came after the regression was proved. */
bool history_is_after(struct db *db, int64_t regression, int64_t image, bool *yes,
		      struct err *err) _must_check;
bool history_fixed(struct db *db, int64_t regression, int64_t commit, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_REGRESSION_H
#define DB_REGRESSION_H

/* Proved regressions, as the bisector writes them. db/report.h reads them. */

#include "db/conn.h"

/* How the culprit's code differs from its parent's. */
struct regression_functions {
	bool known;
	bool suspect;	   /* no hot function differs; without a hot one: none at all */
	size_t differ;	   /* functions of the kernel */
	size_t hot;	   /* 0: not known which are */
	size_t hot_differ; /* of those */
	char *names; /* of functions that differ, one a line, the hot ones first; not all of very many */
	char *reason; /* when not known */
};

void regression_functions_release(struct regression_functions *functions);

struct regression {
	int64_t id; /* set by regression_add() */
	int64_t tree;
	int64_t patch; /* the lineage */
	int64_t culprit;
	int64_t parent;
	int64_t bisection;
	double posterior;
	double revert_effect; /* share that the revert removes; NAN = not known, for the reason */
	double revert_lo, revert_hi; /* 95 %; infinite = nothing is excluded */
	const char *revert_reason;
	const struct regression_functions *functions;
};

/* One series with proof boots. Effects are log ratios after/before, > 0 is worse, with 95 %. */
struct regression_series {
	int64_t series;
	bool is_primary;
	size_t before_n, after_n;
	double before_mean, after_mean; /* geometric, in the metric's unit */
	double effect, lo, hi;
	bool significant;
};

/* The regression of that tree and patch; 0 when there is none. */
bool regression_find(struct db *db, int64_t tree, int64_t patch, int64_t *id,
		     struct err *err) _must_check;
/* Whether a commit at a position above `from` and up to `to` is a known culprit, in any version. */
bool regression_between(struct db *db, int64_t snapshot, int from, int to, bool *yes,
			struct err *err) _must_check;
/* ERR_CONFLICT when the tree and patch, or the bisection, have one already. */
bool regression_add(struct db *db, struct regression *regression, struct err *err) _must_check;
bool regression_series_add(struct db *db, int64_t regression,
			   const struct regression_series *series, struct err *err) _must_check;

#endif

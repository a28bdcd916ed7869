/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_SPAN_H
#define DB_SPAN_H

/* Commits of a snapshot between measured ones, and down to what change nothing happened in them. */

#include "base/js.h"
#include "db/estimate.h"

/* A measured commit of the snapshot. */
struct span_point {
	int pos;
	int64_t image;
	size_t boots; /* routine ones of the image, whichever commit they were of */
};

struct span_points {
	struct span_point *v; /* by position */
	size_t n, cap;
};

/* At most `most` boots are counted of each. The caller frees out->v. */
bool span_points_read(struct db *db, const struct series *series, int64_t snapshot, int most,
		      struct span_points *out, struct err *err) _must_check;

struct db_span {
	int first_pos, last_pos; /* the commit before first_pos and that at last_pos are measured */
	double down_to; /* log ratio; 0: they are one image; inf: nothing would have been seen */
};

/* Replaces those of the series and branch, whose history is stored. */
bool spans_store(struct db *db, int64_t series, int64_t branch, int64_t snapshot,
		 const struct db_span *spans, size_t n, struct err *err) _must_check;

/*
 * [{tree, branch, class, benchmark, metric, oid, subject, beside, found, down_to}], newest commit first: a row for each
 * commit of a span and each series. beside: how many other commits only show together with it. found: what became of the
 * newest candidate of the series whose culprit, or while there is none whose range, is among them; null: nothing was found. down_to: log ratio, null: none would
 * have been seen. oid: only commits that begin with it; NULL: all. Subjects are hostile.
 */
bool span_commits(struct db *db, const char *oid, json_t **out, struct err *err) _must_check;

#endif

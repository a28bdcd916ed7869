/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_LOCKS_H
#define DB_LOCKS_H

/* Lock waits of two sides next to each other, from instrumented runs of good boots. */

#include "db/conn.h"

/* Means over the boots of a side that could see locks, 0 when none of them saw this one.
 * Index 0 is before, 1 is after. */
struct lock_change {
	char *class_name;
	char *site;		  /* NULL: the sum over the class */
	double wait_per_op_ns[2]; /* summed over threads */
	double spread_ns[2];	  /* standard deviation between boots; NAN for fewer than two */
	double share[2];	  /* of threads x wall clock */
	double count[2];	  /* events per boot */
	double max_ns[2];
};

struct lock_changes {
	struct lock_change *v; /* classes by their larger wait, each followed by its sites */
	size_t n;
	size_t cap;
	int boots[2]; /* that could see locks */
	char *doubt;  /* why not measurable, or what is doubtful; NULL = nothing */
};

/* Which runs. Either bisection (its proof boots, by their role), or two images, and then only
 * boots for request when that is not 0. */
struct lock_pick {
	int64_t bisection;
	int64_t before_image;
	int64_t after_image;
	int64_t request;
	const char *benchmark;
	int64_t version;
	const char *params_hash;
};

void lock_changes_release(struct lock_changes *changes);
/* Runs with more than 1 % of their events lost do not count and are told in doubt. */
bool lock_changes_read(struct db *db, const struct lock_pick *pick, struct lock_changes *out,
		       struct err *err) _must_check;

#endif

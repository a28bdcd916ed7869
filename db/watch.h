/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_WATCH_H
#define DB_WATCH_H

/* The history of one series over the heads of one branch, as the detector replays it. */

#include "db/estimate.h"

/* A routine boot of a head. */
struct watched {
	int64_t image;
	int64_t commit; /* the first head that had this image */
	double value;	/* in the metric's unit */
};

/* What came of the candidate that an image raised. */
struct watched_end {
	int64_t before_image, after_image;
	char state[12];
};

struct watched_list {
	struct watched *v; /* by the order of the heads, the boots of one image together */
	size_t n, cap;
	struct watched_end *ends;
	size_t n_ends, cap_ends;
};

/* A head's tree in another layout, shown as if it were the next head; 0, 0: none. */
struct watched_twin {
	int64_t image, of; /* of: the head's image */
};

void watched_release(struct watched_list *list);

/* Of the last 300 snapshots, at most `boots` boots of each image: its first. */
bool watched_read(struct db *db, const struct series *series, int64_t branch, int boots,
		  const struct watched_twin *twin, struct watched_list *out,
		  struct err *err) _must_check;

#endif

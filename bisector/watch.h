/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_WATCH_H
#define BISECTOR_WATCH_H

/*
 * The online detector over the heads of a branch. It keeps nothing: each time the history is
 * replayed, and what became of earlier candidates says where its segments start.
 */

#include "bisector/bisector.h"

struct watch {
	bool knows;  /* the history before the image is long enough to say anything */
	bool raised; /* by this very image */
	int64_t before_image, before_commit; /* the last head that is surely before the change */
	double effect, z;		     /* > 0 is worse */
	double down_to; /* log ratio that this head alone would reveal in 90 of 100 cases */
};

/* twin_of: the head whose twin the image is, shown right behind it; 0: the image is a head's own. */
bool watch_head(struct bisector *bisector, const struct series *series, int64_t branch,
		int64_t image, int64_t twin_of, struct watch *out, struct err *err) _must_check;

/* One measured head. */
struct watched_head {
	int64_t image, commit;
	double y;	/* mean of the logs of its boots, > 0 is worse */
	double down_to; /* log ratio that this head alone would have revealed in 90 of 100 cases;
			 * inf: the history before it is too short */
};

/* What became of a candidate, by heads; n: of an image that is none of them. */
struct watched_past {
	size_t before, after;
	char state[12];
};

struct watch_history {
	struct watched_head *v; /* oldest first */
	size_t n;
	double *boots; /* logs of their boots, in their order */
	size_t *head;  /* of each boot, in v */
	size_t n_boots;
	struct watched_past *past;
	size_t n_past;
	double down_to; /* log ratio of a lasting change that the next three heads would reveal in
			 * 90 of 100 cases; inf: the history is too short */
};

bool watch_history(struct bisector *bisector, const struct series *series, int64_t branch,
		   struct watch_history *out, struct err *err) _must_check;
void watch_history_release(struct watch_history *history);

#endif

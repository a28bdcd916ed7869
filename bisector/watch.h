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

bool watch_head(struct bisector *bisector, const struct series *series, int64_t branch,
		int64_t image, struct watch *out, struct err *err) _must_check;

#endif

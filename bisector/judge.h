/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_JUDGE_H
#define BISECTOR_JUDGE_H

/*
 * Two images side by side, from their routine boots: what looks changed becomes candidates. With a
 * history of heads the newer one is judged against the level before it (bisector/watch.h).
 */

#include "bisector/bisector.h"
#include "db/candidate.h"
#include "db/twin.h"
#include "db/work.h"

struct judged_pair {
	struct built before, after; /* two different images */
	int64_t branch;
	int64_t class_id;
	double z;   /* standardised difference that raises a candidate */
	bool heads; /* of the branch: where their history is long enough, it judges instead of z */
	const struct twin *twin; /* after is the twin of before; NULL: another tree */
};

/*
 * Once per pair and class, when all routine boots of both have ended; nothing before and after.
 * Only the first `detect.boots` boots of an image are looked at, and noise as it was known before
 * them, so that looking again sees the same. What a twin raised is stored with what it was judged in.
 */
bool judge_pair(struct bisector *bisector, const struct judged_pair *pair,
		struct err *err) _must_check;

/* Stores candidates: in each setup the worst leads the others, which then share its two images. */
bool judge_raise(struct bisector *bisector, const struct series_list *series,
		 struct candidates *found, struct err *err) _must_check;

#endif

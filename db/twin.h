/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_TWIN_H
#define DB_TWIN_H

/*
 * Twins, the standing A/A: a head's tree built again with another layout and fed in as if it were the next commit. The
 * layout seed is the id of the head's snapshot.
 */

#include "db/conn.h"

struct twin {
	int64_t snapshot, head; /* head: its commit, whose tree both are */
	int64_t class_id;
	int64_t own_build, own_image;	/* the head's */
	int64_t twin_build, twin_image; /* another image, else there is nothing to judge */
};

struct twins {
	struct twin *v;
	size_t n, cap;
};

/* Built twins of the branch's last `snapshots` heads that were not judged, in classes that boot images; oldest
 * first. The caller frees out->v. */
bool twins_unjudged(struct db *db, int64_t branch, int snapshots, int64_t recipe, int64_t toolchain,
		    struct twins *out, struct err *err) _must_check;
/* It was judged in so many series, of which some looked changed. */
bool twin_judged(struct db *db, const struct twin *twin, size_t series, size_t suspected,
		 struct err *err) _must_check;
/* The build of a judged twin; ERR_NOTFOUND. */
bool twin_build(struct db *db, int64_t image, int64_t class_id, int64_t *build,
		struct err *err) _must_check;

#endif

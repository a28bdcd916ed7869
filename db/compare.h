/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_COMPARE_H
#define DB_COMPARE_H

/* The boots of two images, series by series. */

#include "base/js.h"
#include "db/conn.h"
#include "db/events.h"
#include "db/locks.h"

/* Both images must be there (mmperf run, mmperf compare make them). */
struct compare_key {
	int64_t before_commit, after_commit; /* for their names */
	int64_t before_image, after_image;
	int64_t class_id; /* 0 = every class */
	int64_t request;  /* only boots for it; 0 = every good boot of the images */
};

/* Boots' numbers of one series on both sides, in the order they ran. */
struct compared_series {
	char *class_name;
	char *benchmark;
	int64_t version;
	char *params_hash;
	char *params; /* "size=16M threads=4" */
	char *pass;
	char *metric;
	char *unit;
	char *direction;
	double floor;
	double *before;
	size_t before_n;
	double *after;
	size_t after_n;
	struct events before_events, after_events; /* of the same boots */
};

struct compare_data {
	char *before_oid, *before_subject;
	char *after_oid, *after_subject;
	bool same_image;
	json_t *differences; /* as environment_differences(), when the newest setups of the sides are
			      * not the same one; else NULL */
	struct compared_series *v; /* clean passes first */
	size_t n;
	size_t cap;
	struct compared_locks {
		char *benchmark;
		char *params;
		struct lock_changes changes;
	} * locks; /* one for each benchmark and parameters with an instrumented pass */
	size_t n_locks, cap_locks;
};

void compare_data_release(struct compare_data *data);
bool compare_data_read(struct db *db, const struct compare_key *key, struct compare_data *out,
		       struct err *err) _must_check;
/* The image of a commit: the newest good build, of recipe `recipe` when not NULL; 0 = none. */
bool compare_image_of(struct db *db, int64_t commit, const char *recipe, int64_t *image,
		      struct err *err) _must_check;

#endif

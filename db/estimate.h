/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_ESTIMATE_H
#define DB_ESTIMATE_H

/* Series, and one number per good boot in them. Samples themselves are never read to decide. */

#include "db/conn.h"

struct series {
	int64_t id;
	int64_t setup;
	int64_t class_id;
	int64_t recipe;	   /* 0: a kernel that we did not build */
	int64_t toolchain; /* 0 likewise */
	int64_t suite;	   /* latest version of the suite that gives it; 0 when none does now */
	char *benchmark;
	char *pass;
	char *metric;
	char *unit;
	char *direction; /* lower, higher, none */
	double floor;	 /* c of log(x + c) */
	bool emulated;	 /* its class is */
	bool real_cpus;	 /* an emulator's number says nothing */
};

struct series_list {
	struct series *v;
	size_t n;
	size_t cap;
};

void series_release(struct series *series);
void series_list_release(struct series_list *list);
/* The one of that id; NULL when it is not in the list. */
const struct series *series_find(const struct series_list *list, int64_t id);

/* Whether its numbers are boots themselves, 1 for each that the kernel failed: see bisect --boot-failure. */
bool series_is_boots(const struct series *series);
/* That series of a class and what it is built by; made when there is none. */
bool series_of_boots(struct db *db, int64_t class_id, int64_t recipe, int64_t toolchain,
		     int64_t *id, struct err *err) _must_check;

/* The facts of these, by id. */
bool series_read(struct db *db, const int64_t *ids, size_t n, struct series_list *out,
		 struct err *err) _must_check;

struct estimate {
	int64_t series;
	int64_t boot;
	int64_t machine;
	int64_t image;
	int64_t commit;
	char role[8];  /* before, after, revert, tip, node, or empty */
	int64_t block; /* of its job's random order; 0: it was in none */
	double value;  /* in the metric's unit */
};

struct estimates {
	struct estimate *v;
	size_t n;
	size_t cap;
};

/* Which boots: fields that are 0 or NULL do not restrict. At least one id must be given. */
struct estimate_filter {
	int64_t candidate;
	int64_t bisection;
	int64_t request;
	const char *purpose;
	int64_t series;
	int64_t class_id;
	int64_t image_a, image_b; /* either of these two */
};

/* By series, then in the order of the boots. The caller frees out->v. */
bool estimates_read(struct db *db, const struct estimate_filter *filter, struct estimates *out,
		    struct err *err) _must_check;
/* The distinct series in it, with their facts. */
bool estimates_series(struct db *db, const struct estimates *estimates, struct series_list *out,
		      struct err *err) _must_check;

/*
 * How far boots of one image lie apart on the log scale, from routine boots before `before_boot`
 * (0 = all), without the two images: pooled standard deviation and its degrees of freedom, 0 when
 * there is none. Looks at the last 200 boots at most, and at the newest pilot (db/noise.h) that was over then.
 */
bool series_noise(struct db *db, const struct series *series, int64_t image_a, int64_t image_b,
		  int64_t before_boot, double *sd, double *df, struct err *err) _must_check;

#endif

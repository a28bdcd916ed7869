/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_BISECTOR_H
#define BISECTOR_BISECTOR_H

/*
 * What every part of the bisector works with. Each part looks at rows, and moves what can be moved
 * by one short transaction; it keeps nothing in memory that it needs, so it may be ended at any
 * moment.
 */

#include "db/estimate.h"
#include "db/job.h"
#include "db/settings.h"
#include "db/suite.h"
#include "stats/estimate.h"
#include "stats/evalue.h"

enum {
	BISECTOR_MEMOS = 4096
};

/* What was found to be over and cannot change: saves looking again, and may be forgotten. */
struct bisector_memo {
	enum bisector_memo_kind {
		MEMO_NONE,
		MEMO_PLANNED,
		MEMO_PLANNED_TWIN,
		MEMO_JUDGED
	} kind;
	int64_t key[4];
};

struct bisector {
	struct db *db;
	const struct settings *settings;
	struct suites suites; /* latest version of each suite of the settings */
	char last_trouble[1024];
	double statistics_due; /* clock_mono_s() of the next look at the planner's */
	struct bisector_memo memos[BISECTOR_MEMOS]; /* a ring */
	size_t n_memos;				    /* ever made */
};

bool bisector_knows(const struct bisector *bisector, const struct bisector_memo *memo);
void bisector_remember(struct bisector *bisector, const struct bisector_memo *memo);

/* Ids of the suites that the settings give to a tree and class; the caller frees *ids. */
size_t bisector_suites(const struct bisector *bisector, const char *tree, const char *class_name,
		       int64_t **ids);
const struct suite *bisector_suite(const struct bisector *bisector, int64_t id);

/* Recipe row of the tree's setting; ERR_USAGE when the tree has none. */
bool bisector_recipe(const struct bisector *bisector, const char *tree, int64_t *recipe,
		     struct err *err) _must_check;

/* Whether a change of this metric can raise a candidate: the suite's judge list, else every metric
 * with a direction, of locks only the wait per operation of the primary mm locks; in an emulated class none that wants real CPUs. */
bool bisector_judges(const struct bisector *bisector, const struct series *series);
/* Smallest log ratio worth reporting. */
double bisector_min_effect(const struct bisector *bisector, const char *metric);

/*
 * After a failed step of one thing: logs it, unless it is what was logged last, and returns true
 * when the other things can go on (false: the database is gone).
 */
bool bisector_tolerates(struct bisector *bisector, const struct err *err);

/* A log ratio whose > 0 is worse, as the metric's own change in percent for a person: +41.9 for a
 * longer time, -29.5 for a rate that fell. */
double bisector_percent(const struct series *series, double effect);

/* A new random seed, to be stored. */
uint64_t bisector_seed(void);

/*
 * The numbers of one series on the log scale, signed so that larger is worse, from boots of one
 * role (NULL = any) and one image (0 = any), at most `max` of them (0 = all). What has no logarithm
 * is left out. out has room for all estimates.
 */
size_t bisector_logs(const struct estimates *estimates, const struct series *series,
		     const char *role, int64_t image, size_t max, double *out);
#define BISECTOR_NOISE_DF 30 /* history of other images is worth no more than this many boots */

/* series_noise() (db/estimate.h), worth no more than that. */
bool bisector_noise(struct db *db, const struct series *series, int64_t image_a, int64_t image_b,
		    int64_t before_boot, struct sd_prior *out, struct err *err) _must_check;
/* bisector_logs() untransformed. */
size_t bisector_values(const struct estimates *estimates, const struct series *series,
		       const char *role, int64_t image, size_t max, double *out);
/*
 * The boots of roles "before" and "after" by the blocks of their random order, as logs, at most
 * EVALUE_SIDE_MAX of a side. Answers how many blocks; they point into `numbers`. numbers and blocks
 * have room for all estimates.
 */
size_t bisector_blocks(const struct estimates *estimates, const struct series *series,
		       double *numbers, struct evalue_block *blocks);

#endif

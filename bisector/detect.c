// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspicions. */
#include "bisector/detect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bisector/plan.h"
#include "db/candidate.h"
#include "db/history.h"
#include "db/work.h"
#include "stats/detect.h"

#define NOISE_DF_MAX 30 /* history of other images is worth no more than this many boots */

struct pair {
	struct built before, after;
	int64_t branch;
	const struct class_info *class_info;
	struct estimates estimates;
	struct series_list series;
};

static void pair_release(struct pair *pair)
{
	free(pair->estimates.v);
	series_list_release(&pair->series);
}

/* All routine boots of the image in this class have ended, and there are some. */
static bool settled(struct bisector *bisector, int64_t image, int64_t class_id, bool *yes,
		    struct err *err)
{
	CLEANUP(routines_release) struct routines have = {0};

	if (!routines_read(bisector->db, image, class_id, &have, err))
		return false;
	*yes = have.n > 0;
	for (size_t i = 0; i < have.n; i++)
		*yes &= !have.v[i].open;
	return true;
}

static int64_t first_boot(const struct estimates *estimates, int64_t series)
{
	for (size_t i = 0; i < estimates->n; i++)
		if (estimates->v[i].series == series)
			return estimates->v[i].boot;
	return 0;
}

static bool judge(struct bisector *bisector, const struct pair *pair, const struct series *series,
		  struct candidates *out, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	size_t max = (size_t)conf_i64(conf, "detect", NULL, "boots");
	AUTO_FREE double *before = xcalloc(pair->estimates.n, sizeof(*before));
	AUTO_FREE double *after = xcalloc(pair->estimates.n, sizeof(*after));
	size_t n0, n1;
	struct sd_prior prior;
	struct detection found;

	n0 = bisector_logs(&pair->estimates, series, NULL, pair->before.image, max, before);
	n1 = bisector_logs(&pair->estimates, series, NULL, pair->after.image, max, after);
	if (!n0 || !n1 || !bisector_judges(bisector, series))
		return true;
	if (!series_noise(bisector->db, series, pair->before.image, pair->after.image,
			  first_boot(&pair->estimates, series->id), &prior.sd, &prior.df, err))
		return false;
	prior.df = fmin(prior.df, NOISE_DF_MAX);
	found = detect_shift(before, n0, after, n1, &prior);
	if (fabs(found.z) < conf_f64(conf, "detect", NULL, "z") ||
	    fabs(found.effect) < bisector_min_effect(bisector, series->metric) / 2)
		return true;
	*array_push(out->v, out->n, out->cap) = (struct candidate){
		.series = series->id,
		.before_image = pair->before.image,
		.after_image = pair->after.image,
		.before_commit = pair->before.commit,
		.after_commit = pair->after.commit,
		.branch = pair->branch,
		.seed = bisector_seed(),
		.effect = found.effect,
		.z = found.z,
	};
	strcpy(out->v[out->n - 1].state, found.effect > 0 ? "confirming" : "better");
	return true;
}

/* The worst of each setup leads the others, which share its boots. */
static bool add_cluster(struct bisector *bisector, const struct pair *pair,
			struct candidates *found, int64_t setup, struct err *err)
{
	struct candidate *leader = NULL;
	bool fresh;

	for (size_t i = 0; i < found->n; i++) {
		struct candidate *c = &found->v[i];

		if (series_find(&pair->series, c->series)->setup == setup && c->effect > 0 &&
		    (!leader || c->z > leader->z))
			leader = c;
	}
	if (leader) {
		if (!candidate_add(bisector->db, leader, &fresh, err))
			return false;
		log_info("candidate %lld: %s changed by %+.1f %% (z %.1f); confirming",
			 (long long)leader->id, series_find(&pair->series, leader->series)->metric,
			 100 * expm1(leader->effect), leader->z);
	}
	for (size_t i = 0; i < found->n; i++) {
		struct candidate *c = &found->v[i];

		if (c == leader || series_find(&pair->series, c->series)->setup != setup)
			continue;
		c->leader = c->effect > 0 ? leader->id : 0;
		if (!candidate_add(bisector->db, c, &fresh, err))
			return false;
	}
	return true;
}

static bool add_candidates(struct bisector *bisector, const struct pair *pair,
			   struct candidates *found, struct err *err)
{
	CLEANUP(db_tx_end) struct db *tx = NULL;

	if (!db_tx_begin(bisector->db, &tx, err))
		return false;
	for (size_t i = 0; i < pair->series.n; i++) {
		int64_t setup = pair->series.v[i].setup;
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first &= pair->series.v[k].setup != setup;
		if (first && !add_cluster(bisector, pair, found, setup, err))
			return false;
	}
	return db_tx_commit(&tx, err);
}

static bool judge_pair(struct bisector *bisector, struct pair *pair, struct err *err)
{
	const struct estimate_filter filter = {
		.purpose = "detect",
		.class_id = pair->class_info->id,
		.image_a = pair->before.image,
		.image_b = pair->after.image,
	};
	struct candidates found = {0};
	AUTO_FREE struct candidate *owned = NULL;
	bool known, ended, ended_after;

	if (!candidate_pair_known(bisector->db, pair->before.image, pair->after.image,
				  pair->class_info->id, &known, err))
		return false;
	if (known)
		return true;
	if (!settled(bisector, pair->before.image, pair->class_info->id, &ended, err) ||
	    !settled(bisector, pair->after.image, pair->class_info->id, &ended_after, err))
		return false;
	if (!ended || !ended_after)
		return true;
	if (!estimates_read(bisector->db, &filter, &pair->estimates, err) ||
	    !estimates_series(bisector->db, &pair->estimates, &pair->series, err))
		return false;
	for (size_t i = 0; i < pair->series.n; i++) {
		bool fine = judge(bisector, pair, &pair->series.v[i], &found, err);

		owned = found.v;
		if (!fine)
			return false;
	}
	return !found.n || add_candidates(bisector, pair, &found, err);
}

static bool judge_heads(struct bisector *bisector, const struct classes *classes,
			const struct snapshot *s, int64_t before, int64_t toolchain,
			struct err *err)
{
	const int64_t commits[] = {before, s->head};
	AUTO_FREE struct built *built = NULL;
	int64_t recipe;

	if (!bisector_recipe(bisector, s->tree_name, &recipe, err) ||
	    !builds_of_commits(bisector->db, commits, 2, recipe, toolchain, &built, err))
		return false;
	if (!built[0].image || !built[1].image || built[0].image == built[1].image)
		return true;
	for (size_t i = 0; i < classes->n; i++) {
		CLEANUP(pair_release)
		struct pair pair = {
			.before = built[0],
			.after = built[1],
			.branch = s->branch,
			.class_info = &classes->v[i],
		};

		if (!judge_pair(bisector, &pair, err))
			return err_wrap(err, "%s: snapshot %d", s->branch_name, s->seq);
	}
	return true;
}

bool detect_advance(struct bisector *bisector, struct err *err)
{
	CLEANUP(snapshots_release) struct snapshots snapshots = {0};
	CLEANUP(classes_release) struct classes classes = {0};
	int64_t toolchain;

	if (!toolchain_current(bisector->db, &toolchain, err) ||
	    !classes_read(bisector->db, &classes, err) ||
	    !snapshots_read(bisector->db, PLAN_SNAPSHOTS + 1, &snapshots, err))
		return false;
	for (size_t i = 0; i < snapshots.n; i++) {
		const struct snapshot *s = &snapshots.v[i], *next = s + 1;
		bool has_next = i + 1 < snapshots.n && next->branch == s->branch;

		if (!conf_has(bisector->settings->conf, "tree", s->tree_name) ||
		    (!has_next && s->seq != 1))
			continue;
		if (!judge_heads(bisector, &classes, s, has_next ? next->head : s->base, toolchain,
				 err) &&
		    !bisector_tolerates(bisector, err))
			return false;
	}
	return true;
}

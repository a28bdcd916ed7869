// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspicions. */
#include "bisector/judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bisector/watch.h"
#include "db/candidate.h"
#include "stats/detect.h"

struct pair {
	const struct judged_pair *of;
	struct estimates estimates;
	struct series_list series;
	size_t judged; /* of them */
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

/* The two images alone, by what is known of the noise of others. */
static bool look_at_two(struct bisector *bisector, const struct pair *pair,
			const struct series *series, struct watch *out, struct err *err)
{
	size_t max = (size_t)conf_i64(bisector->settings->conf, "detect", NULL, "boots");
	AUTO_FREE double *before = xcalloc(pair->estimates.n, sizeof(*before));
	AUTO_FREE double *after = xcalloc(pair->estimates.n, sizeof(*after));
	size_t n0, n1;
	struct sd_prior prior;
	struct detection found;

	n0 = bisector_logs(&pair->estimates, series, NULL, pair->of->before.image, max, before);
	n1 = bisector_logs(&pair->estimates, series, NULL, pair->of->after.image, max, after);
	if (!n0 || !n1)
		return true;
	if (!bisector_noise(bisector->db, series, pair->of->before.image, pair->of->after.image,
			    first_boot(&pair->estimates, series->id), &prior, err))
		return false;
	found = detect_shift(before, n0, after, n1, &prior);
	*out = (struct watch){
		.raised = fabs(found.z) >= pair->of->z,
		.before_image = pair->of->before.image,
		.before_commit = pair->of->before.commit,
		.effect = found.effect,
		.z = found.z,
	};
	return true;
}

static bool judge(struct bisector *bisector, struct pair *pair, const struct series *series,
		  struct candidates *out, struct err *err)
{
	const struct twin *twin = pair->of->twin;
	struct watch seen = {0};

	if (!bisector_judges(bisector, series))
		return true;
	if (pair->of->heads &&
	    !watch_head(bisector, series, pair->of->branch, pair->of->after.image,
			twin ? twin->own_image : 0, &seen, err))
		return false;
	if (!seen.knows && !look_at_two(bisector, pair, series, &seen, err))
		return false;
	pair->judged += seen.knows || seen.before_image;
	if (!seen.raised || fabs(seen.effect) < bisector_min_effect(bisector, series->metric) / 2)
		return true;
	*array_push(out->v, out->n, out->cap) = (struct candidate){
		.series = series->id,
		/* of a twin, its head: whatever lies before that is another tree */
		.before_image = twin ? twin->own_image : seen.before_image,
		.after_image = pair->of->after.image,
		.before_commit = twin ? twin->head : seen.before_commit,
		.after_commit = pair->of->after.commit,
		.branch = pair->of->branch,
		.seed = bisector_seed(),
		.effect = seen.effect,
		.z = seen.z,
		.twin = twin,
	};
	strcpy(out->v[out->n - 1].state, seen.effect > 0 ? "confirming" : "better");
	return true;
}

/* The worst of each setup leads the others, which share its boots. */
static bool add_cluster(struct bisector *bisector, const struct series_list *series,
			struct candidates *found, int64_t setup, struct err *err)
{
	struct candidate *leader = NULL;
	bool fresh;

	for (size_t i = 0; i < found->n; i++) {
		struct candidate *c = &found->v[i];

		if (series_find(series, c->series)->setup == setup && c->effect > 0 &&
		    (!leader || c->z > leader->z))
			leader = c;
	}
	if (leader) {
		const struct series *of = series_find(series, leader->series);

		if (!candidate_add(bisector->db, leader, &fresh, err))
			return false;
		log_info("candidate %lld%s: %s changed by %+.1f %% (z %.1f); confirming",
			 (long long)leader->id, leader->twin ? ", a twin" : "", of->metric,
			 bisector_percent(of, leader->effect), leader->z);
	}
	for (size_t i = 0; i < found->n; i++) {
		struct candidate *c = &found->v[i];

		if (c == leader || series_find(series, c->series)->setup != setup)
			continue;
		c->leader = c->effect > 0 ? leader->id : 0;
		if (c->leader) { /* its boots are what they share */
			c->before_image = leader->before_image;
			c->before_commit = leader->before_commit;
			c->after_image = leader->after_image;
			c->after_commit = leader->after_commit;
		}
		if (!candidate_add(bisector->db, c, &fresh, err))
			return false;
	}
	return true;
}

/* In a transaction of the caller. */
static bool add_clusters(struct bisector *bisector, const struct series_list *series,
			 struct candidates *found, struct err *err)
{
	for (size_t i = 0; i < series->n; i++) {
		int64_t setup = series->v[i].setup;
		bool first = true;

		for (size_t k = 0; k < i; k++)
			first &= series->v[k].setup != setup;
		if (first && !add_cluster(bisector, series, found, setup, err))
			return false;
	}
	return true;
}

bool judge_raise(struct bisector *bisector, const struct series_list *series,
		 struct candidates *found, struct err *err)
{
	CLEANUP(db_tx_end) struct db *tx = NULL;

	return db_tx_begin(bisector->db, &tx, err) && add_clusters(bisector, series, found, err) &&
	       db_tx_commit(&tx, err);
}

static bool raise_twin(struct bisector *bisector, const struct pair *pair, struct candidates *found,
		       struct err *err)
{
	CLEANUP(db_tx_end) struct db *tx = NULL;

	return db_tx_begin(bisector->db, &tx, err) &&
	       add_clusters(bisector, &pair->series, found, err) &&
	       twin_judged(bisector->db, pair->of->twin, pair->judged, found->n, err) &&
	       db_tx_commit(&tx, err);
}

static bool judge_all(struct bisector *bisector, struct pair *pair, struct err *err)
{
	struct candidates found = {0};
	AUTO_FREE struct candidate *owned = NULL;

	for (size_t i = 0; i < pair->series.n; i++) {
		bool fine = judge(bisector, pair, &pair->series.v[i], &found, err);

		owned = found.v;
		if (!fine)
			return false;
	}
	if (pair->of->twin && pair->judged)
		return raise_twin(bisector, pair, &found, err);
	return !found.n || judge_raise(bisector, &pair->series, &found, err);
}

/* Nobody judged the pair before, and its boots are all there. */
static bool ripe(struct bisector *bisector, const struct judged_pair *pair, bool *yes,
		 struct err *err)
{
	bool known, before = false, after = false;

	if (!candidate_pair_known(bisector->db, pair->before.image, pair->after.image,
				  pair->class_id, &known, err))
		return false;
	if (!known && (!settled(bisector, pair->before.image, pair->class_id, &before, err) ||
		       !settled(bisector, pair->after.image, pair->class_id, &after, err)))
		return false;
	*yes = before && after;
	return true;
}

bool judge_pair(struct bisector *bisector, const struct judged_pair *of, struct err *err)
{
	const struct estimate_filter filter = {
		.purpose = "detect",
		.class_id = of->class_id,
		.image_a = of->before.image,
		.image_b = of->after.image,
	};
	const struct bisector_memo memo = {
		.kind = MEMO_JUDGED,
		.key = {of->before.image, of->after.image, of->class_id, (int64_t)(1000 * of->z)},
	};
	CLEANUP(pair_release) struct pair pair = {.of = of};
	bool yes;

	if (bisector_knows(bisector, &memo))
		return true;
	if (!ripe(bisector, of, &yes, err))
		return false;
	if (!yes)
		return true;
	if (!estimates_read(bisector->db, &filter, &pair.estimates, err) ||
	    !estimates_series(bisector->db, &pair.estimates, &pair.series, err) ||
	    !judge_all(bisector, &pair, err))
		return false;
	bisector_remember(bisector, &memo);
	return true;
}

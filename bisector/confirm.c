// SPDX-License-Identifier: GPL-2.0-or-later
/* Confirmations. */
#include "bisector/confirm.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "bisector/boots.h"
#include "bisector/layouts.h"
#include "bisector/level.h"
#include "bisector/start.h"
#include "db/candidate.h"
#include "db/history.h"
#include "db/twin.h"
#include "stats/detect.h"

/* A candidate of the cluster that the leader's boots measure too. */
struct member {
	struct candidate candidate;
	const struct series *series; /* in confirming.series, or the leader's own */
	struct confirm_rule rule;
	struct confirmation v;
};

struct confirming {
	struct bisector *bisector;
	const struct candidate *candidate;
	struct series_list series; /* the leader's, and of the followers that its boots measured */
	struct work_jobs jobs;
	struct estimates estimates;
	struct member *members;
	size_t n_members;
	struct level level;
	struct layouts layouts; /* of the leader's series */
	size_t each;		/* boots a side in one stage */
	size_t asked;		/* boots a side that were asked for so far */
	size_t stages;		/* the same in stages */
	size_t stages_max;
};

static void confirming_release(struct confirming *c)
{
	series_list_release(&c->series);
	work_jobs_release(&c->jobs);
	free(c->estimates.v);
	free(c->members);
}

static bool judge(struct confirming *c, struct member *member, size_t undecided, struct err *err)
{
	const struct candidate *candidate = &member->candidate;
	AUTO_FREE double *numbers = xcalloc(c->estimates.n, sizeof(*numbers));
	AUTO_FREE struct evalue_block *blocks = xcalloc(c->estimates.n, sizeof(*blocks));
	size_t n = bisector_blocks(&c->estimates, member->series, numbers, blocks);
	struct sd_prior prior;

	if (!bisector_noise(c->bisector->db, member->series, candidate->before_image,
			    candidate->after_image, 0, &prior, err))
		return false;
	if (c->layouts.fresh)
		prior.sd = hypot(prior.sd, c->layouts.sd);
	member->rule = (struct confirm_rule){
		.blocks = c->stages_max,
		.each = c->each,
		.min_effect = bisector_min_effect(c->bisector, member->series->metric),
		.alpha = exp(-c->level.needed) / (double)undecided,
	};
	member->v = confirm_blocks(blocks, n, &prior, &member->rule);
	return true;
}

static size_t count_confirmed(const struct confirming *c)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n_members; i++)
		n += c->members[i].v.verdict == CONFIRM_CONFIRMED;
	return n;
}

/* One alarm has one error: of k metrics each needs a k-th of alpha, and a (k - m)-th when m of them
 * are confirmed (Holm's steps). */
static bool judge_all(struct confirming *c, struct err *err)
{
	size_t confirmed = 0, before;

	do {
		before = confirmed;
		for (size_t i = 0; i < c->n_members; i++)
			if (c->members[i].v.verdict != CONFIRM_CONFIRMED &&
			    !judge(c, &c->members[i], c->n_members - confirmed, err))
				return false;
		confirmed = count_confirmed(c);
	} while (confirmed > before && confirmed < c->n_members);
	return true;
}

static bool judge_members(struct confirming *c, const struct series *own, struct err *err)
{
	struct candidates followers = {0};
	AUTO_FREE struct candidate *owned = NULL;
	bool fine = candidates_followers(c->bisector->db, c->candidate->id, &followers, err);

	owned = followers.v;
	if (!fine)
		return false;
	c->members = xcalloc(followers.n + 1, sizeof(*c->members));
	c->members[c->n_members++] = (struct member){.candidate = *c->candidate, .series = own};
	for (size_t i = 0; i < followers.n; i++) {
		const struct series *series = series_find(&c->series, followers.v[i].series);

		if (series)
			c->members[c->n_members++] =
				(struct member){.candidate = followers.v[i], .series = series};
	}
	return judge_all(c, err);
}

/* Evidence of the cluster: of its best metric, over how many there are. */
static double log_e(const struct confirming *c)
{
	double best = 0;

	for (size_t i = 0; i < c->n_members; i++)
		best = fmax(best, -log(c->members[i].v.p));
	return best - log((double)c->n_members);
}

/* How far a metric stood out of its noise, in the boots that raised and in those that confirmed. */
static double strength(const struct member *m)
{
	return m->candidate.z - estimate_normal_quantile(fmax(m->v.p, 1e-15));
}

static const struct member *strongest(const struct confirming *c)
{
	const struct member *best = NULL;

	for (size_t i = 0; i < c->n_members; i++)
		if (c->members[i].v.verdict == CONFIRM_CONFIRMED &&
		    (!best || strength(&c->members[i]) > strength(best)))
			best = &c->members[i];
	return best;
}

static bool any_open(const struct confirming *c)
{
	for (size_t i = 0; i < c->n_members; i++)
		if (c->members[i].v.verdict == CONFIRM_MORE)
			return true;
	return false;
}

static char *say(const struct confirming *c, const struct member *member)
{
	const struct series *series = member->series;
	const struct confirmation *v = &member->v;
	size_t n = boots_progress(&c->jobs, "before").done,
	       m = boots_progress(&c->jobs, "after").done;

	if (!isfinite(v->effect))
		return xasprintf("%s was not measured by %zu + %zu fresh boots", series->metric, n,
				 m);
	if (v->verdict == CONFIRM_CONFIRMED)
		return xasprintf("%s is worse: %+.1f %% [%+.1f, %+.1f] in %zu + %zu fresh boots "
				 "(p %.2g, needed %.2g)",
				 series->metric, bisector_percent(series, v->effect),
				 bisector_percent(series, v->lo), bisector_percent(series, v->hi),
				 n, m, v->p, v->p_needed);
	if (v->lo > 0)
		return xasprintf(
			"%s: %+.1f %% [%+.1f, %+.1f] in %zu + %zu fresh boots: not certain enough "
			"(p %.2g, needed %.2g)",
			series->metric, bisector_percent(series, v->effect),
			bisector_percent(series, v->lo), bisector_percent(series, v->hi), n, m,
			v->p, v->p_needed);
	return xasprintf("%s: %+.1f %% [%+.1f, %+.1f] in %zu + %zu fresh boots: not worse; a "
			 "change of %+.1f %% would have been found",
			 series->metric, bisector_percent(series, v->effect),
			 bisector_percent(series, v->lo), bisector_percent(series, v->hi), n, m,
			 bisector_percent(series, confirm_mde(v, &member->rule, 0.9)));
}

static bool end_members(struct confirming *c, struct err *err)
{
	for (size_t i = 0; i < c->n_members; i++) {
		const struct member *m = &c->members[i];
		AUTO_FREE char *reason = say(c, m);
		const struct candidate_end end = {m->v.verdict == CONFIRM_CONFIRMED ? "confirmed"
										    : "refuted",
						  reason, m->v.effect, m->v.lo, m->v.hi};

		log_info("candidate %lld: %s: %s", (long long)m->candidate.id, end.state, reason);
		if (!candidate_decide(c->bisector->db, m->candidate.id, &end, err))
			return false;
	}
	return true;
}

/* Followers that the leader's boots do not measure wait for the proof of its culprit. */
static bool end_others(struct confirming *c, int64_t leader, struct err *err)
{
	struct candidates followers = {0};
	AUTO_FREE struct candidate *owned = NULL;
	bool fine = candidates_followers(c->bisector->db, leader, &followers, err);

	owned = followers.v;
	for (size_t i = 0; fine && i < followers.n; i++) {
		AUTO_FREE char *reason = xasprintf("shares the bisection of candidate %lld; "
						   "measured again by the boots of its proof",
						   (long long)leader);
		const struct candidate_end end = {"abandoned", reason, NAN, NAN, NAN};

		fine = candidate_decide(c->bisector->db, followers.v[i].id, &end, err);
	}
	return fine;
}

/* The strongest leads from here. Of a twin nothing but its layout differs: a false alarm, counted by what it is. */
static bool confirmed(struct confirming *c, const struct member *best, struct err *err)
{
	return candidate_promote(c->bisector->db, c->candidate->id, best->candidate.id, err) &&
	       candidate_set_evidence(c->bisector->db, best->candidate.id, c->level.alpha, log_e(c),
				      err) &&
	       end_members(c, err) && end_others(c, best->candidate.id, err) &&
	       (best->candidate.twin ||
		start_from_candidate(c->bisector, &best->candidate, best->series, err));
}

/* The strongest follower that these boots did not measure gets fresh ones of its own. */
static bool hand_over(struct confirming *c, struct err *err)
{
	struct candidates followers = {0};
	AUTO_FREE struct candidate *owned = NULL;
	bool fine = candidates_followers(c->bisector->db, c->candidate->id, &followers, err);

	owned = followers.v;
	return fine && (!followers.n || candidate_promote(c->bisector->db, c->candidate->id,
							  followers.v[0].id, err));
}

/* A twin's boots may not have the layouts of its head's, whose source is the same. */
#define TWIN_LAYOUTS (INT64_C(1) << 32)

/* Plain builds of both sides; of a twin the other layout that was judged. */
static bool find_builds(struct confirming *c, const struct series *series, struct built **out,
			struct err *err)
{
	const struct candidate *candidate = c->candidate;
	const int64_t commits[] = {candidate->before_commit, candidate->after_commit};

	if (!builds_of_commits(c->bisector->db, commits, 2, series->recipe, series->toolchain, out,
			       err))
		return false;
	(*out)[0].image = candidate->before_image;
	(*out)[1].image = candidate->after_image;
	return !candidate->twin || twin_build(c->bisector->db, candidate->after_image,
					      series->class_id, &(*out)[1].build, err);
}

/* A layout for each boot of the stage, when the pilot asks for that. builds: both sides', one behind the other. */
static bool find_layouts(struct confirming *c, const struct series *series,
			 const struct built *plain, struct built *builds, bool *ready,
			 struct err *err)
{
	*ready = true;
	for (size_t s = 0; s < 2; s++) {
		CLEANUP(history_commit_release) struct history_commit commit = {0};
		struct layouts_side side = {
			.commit = plain[s].commit,
			.recipe = series->recipe,
			.toolchain = series->toolchain,
			.plain = plain[s],
			.others = s && c->candidate->twin ? TWIN_LAYOUTS : 0,
		};
		bool own;

		if (!commit_read(c->bisector->db, side.commit, &commit, err))
			return false;
		side.tree_oid = commit.tree_oid;
		if (!layouts_builds(c->bisector, &side, c->asked, c->each, JOB_PRIORITY_CONFIRM,
				    "confirm", builds + s * c->each, &own, err))
			return false;
		*ready &= own;
	}
	return true;
}

/* *queued false: it waits for builds, and is to be called again. */
static bool queue_stage(struct confirming *c, const struct series *series, bool *queued,
			struct err *err)
{
	const struct candidate *candidate = c->candidate;
	AUTO_FREE struct built *plain = NULL;
	AUTO_FREE struct built *builds = xcalloc(2 * c->each, sizeof(*builds));
	struct boots_side sides[] = {
		{.role = "before", .commit = candidate->before_commit},
		{.role = "after", .commit = candidate->after_commit},
	};
	const struct boots_plan plan = {
		.purpose = "confirm",
		.owner = candidate->id,
		.candidate = candidate->id,
		.priority = JOB_PRIORITY_CONFIRM,
		.class_id = series->class_id,
		.suites = &series->suite,
		.n_suites = 1,
		.sides = sides,
		.n_sides = ARRAY_SIZE(sides),
		.per_block = c->each,
		.seed = candidate->seed,
	};

	*queued = true;
	if (!find_builds(c, series, &plain, err) ||
	    (c->layouts.fresh && !find_layouts(c, series, plain, builds, queued, err)))
		return false;
	if (!*queued)
		return true;
	for (size_t s = 0; s < 2; s++) {
		sides[s].build = plain[s].build;
		sides[s].image = plain[s].image;
		sides[s].builds = c->layouts.fresh ? builds + s * c->each : NULL;
	}
	return boots_queue(c->bisector, &plan, c->asked, c->each, err);
}

/* The cluster's part of what noise may raise in a week is given with its first boots. */
static bool begin(struct confirming *c, const struct series *own, struct err *err)
{
	const struct level *level = &c->level;
	bool queued;

	if (!queue_stage(c, own, &queued, err))
		return false;
	if (!queued)
		return true;
	log_info("candidate %lld: cluster %zu of seven days: may be wrong with probability %.2g, "
		 "beside %.2g false alarms that the others allow; needs an e-value of %.3g",
		 (long long)c->candidate->id, level->clusters, level->alpha, level->spent,
		 exp(level->needed));
	return candidate_set_evidence(c->bisector->db, c->candidate->id, level->alpha, 0, err);
}

static bool abandon(struct confirming *c, const char *why, struct err *err)
{
	AUTO_FREE char *reason = xasprintf("the boots to confirm it did not succeed: %s", why);
	const struct candidate_end end = {"abandoned", reason, NAN, NAN, NAN};

	log_info("candidate %lld: abandoned: %s", (long long)c->candidate->id, reason);
	return candidate_decide(c->bisector->db, c->candidate->id, &end, err) && hand_over(c, err);
}

/* All boots that were asked for have ended. */
static bool look(struct confirming *c, const struct series *own, struct err *err)
{
	struct boots_progress boots = boots_progress(&c->jobs, NULL);
	const struct member *best;
	bool queued;

	if (boots.done * 2 < boots.asked)
		return abandon(c, boots.error ? boots.error : "too few of them", err);
	if (!judge_members(c, own, err) ||
	    !candidate_set_evidence(c->bisector->db, c->candidate->id, c->level.alpha, log_e(c),
				    err))
		return false;
	best = strongest(c);
	if (best)
		return confirmed(c, best, err);
	if (any_open(c) && c->stages < c->stages_max)
		return queue_stage(c, own, &queued, err);
	return end_members(c, err) && hand_over(c, err);
}

static bool advance(struct confirming *c, struct err *err)
{
	const struct conf *conf = c->bisector->settings->conf;
	const struct estimate_filter filter = {.candidate = c->candidate->id, .purpose = "confirm"};
	CLEANUP(series_list_release) struct series_list own = {0};
	CLEANUP(db_tx_end) struct db *tx = NULL;

	c->each = (size_t)conf_i64(conf, "detect", NULL, "confirm-boots");
	c->stages_max = (size_t)conf_i64(conf, "detect", NULL, "confirm-stages");
	if (!db_tx_begin(c->bisector->db, &tx, err) ||
	    !series_read(c->bisector->db, &c->candidate->series, 1, &own, err) ||
	    !work_jobs_read(c->bisector->db, c->candidate->id, 0, 0, "confirm", &c->jobs, err))
		return false;
	if (!own.v[0].suite)
		return err_set(err, ERR_FAILED, "no suite gives its series now");
	if (!level_read(c->bisector, c->candidate->id, &c->level, err) ||
	    !layouts_read(c->bisector, &own.v[0], &c->layouts, err))
		return false;
	c->asked = boots_progress(&c->jobs, "before").asked;
	c->stages = (c->asked + c->each - 1) / c->each; /* `each` may have been set anew */
	if (!c->stages)
		return begin(c, &own.v[0], err) && db_tx_commit(&tx, err);
	if (boots_progress(&c->jobs, NULL).open)
		return true;
	if (!estimates_read(c->bisector->db, &filter, &c->estimates, err) ||
	    !estimates_series(c->bisector->db, &c->estimates, &c->series, err) ||
	    !look(c, &own.v[0], err))
		return false;
	return db_tx_commit(&tx, err);
}

bool confirm_advance(struct bisector *bisector, struct err *err)
{
	struct candidates open = {0};
	AUTO_FREE struct candidate *owned = NULL;
	bool fine = candidates_confirming(bisector->db, &open, err);

	owned = open.v;
	for (size_t i = 0; fine && i < open.n; i++) {
		CLEANUP(confirming_release)
		struct confirming c = {
			.bisector = bisector,
			.candidate = &open.v[i],
		};

		if (!advance(&c, err)) {
			err_wrap(err, "candidate %lld", (long long)open.v[i].id);
			fine = bisector_tolerates(bisector, err);
		}
	}
	return fine;
}

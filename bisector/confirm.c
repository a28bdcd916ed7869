// SPDX-License-Identifier: GPL-2.0-or-later
/* Confirmations. */
#include "bisector/confirm.h"

#include <math.h>
#include <stdlib.h>

#include "base/log.h"
#include "bisector/boots.h"
#include "bisector/start.h"
#include "db/candidate.h"
#include "stats/detect.h"

#define CONFIRM_ALPHA 0.01 /* of all unchanged pairs that come here, at most this share passes */
#define NOISE_DF_MAX  30

struct confirming {
	struct bisector *bisector;
	const struct candidate *candidate;
	struct series_list series; /* the leader's, and of the followers that its boots measured */
	struct work_jobs jobs;
	struct estimates estimates;
	size_t each;   /* boots a side in one stage */
	size_t stages; /* that were asked for so far */
	size_t stages_max;
};

static void confirming_release(struct confirming *c)
{
	series_list_release(&c->series);
	work_jobs_release(&c->jobs);
	free(c->estimates.v);
}

static struct confirmation decide(struct confirming *c, const struct series *series,
				  const struct sd_prior *prior)
{
	const struct confirm_rule rule = {
		.stages = (unsigned int)c->stages_max,
		.min_effect = bisector_min_effect(c->bisector, series->metric),
		.alpha = CONFIRM_ALPHA,
	};
	AUTO_FREE double *before = xcalloc(c->estimates.n, sizeof(*before));
	AUTO_FREE double *after = xcalloc(c->estimates.n, sizeof(*after));
	size_t n0 = bisector_logs(&c->estimates, series, "before", 0, 0, before);
	size_t n1 = bisector_logs(&c->estimates, series, "after", 0, 0, after);

	if (!n0 || !n1)
		return (struct confirmation){
			.verdict = CONFIRM_MORE, .effect = NAN, .lo = NAN, .hi = NAN};
	return confirm_shift(before, n0, after, n1, prior, (unsigned int)c->stages, &rule);
}

static bool judge(struct confirming *c, const struct series *series, struct confirmation *out,
		  struct err *err)
{
	const struct candidate *candidate = c->candidate;
	struct sd_prior prior;

	if (!series_noise(c->bisector->db, series, candidate->before_image, candidate->after_image,
			  0, &prior.sd, &prior.df, err))
		return false;
	prior.df = fmin(prior.df, NOISE_DF_MAX);
	*out = decide(c, series, &prior);
	return true;
}

static char *say(const struct confirming *c, const struct series *series,
		 const struct confirmation *v)
{
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
	return xasprintf("%s: %+.1f %% [%+.1f, %+.1f] in %zu + %zu fresh boots: not worse, down to "
			 "%+.1f %%",
			 series->metric, bisector_percent(series, v->effect),
			 bisector_percent(series, v->lo), bisector_percent(series, v->hi), n, m,
			 bisector_percent(series, v->mde));
}

static bool end_one(struct confirming *c, int64_t id, const struct series *series,
		    const struct confirmation *v, const char *state, struct err *err)
{
	AUTO_FREE char *reason = say(c, series, v);
	const struct candidate_end end = {state, reason, v->effect, v->lo, v->hi};

	log_info("candidate %lld: %s: %s", (long long)id, state, reason);
	return candidate_decide(c->bisector->db, id, &end, err);
}

/* Followers measured by the leader's boots are judged by them; the others wait for the proof. */
static bool end_followers(struct confirming *c, struct err *err)
{
	struct candidates followers = {0};
	AUTO_FREE struct candidate *owned = NULL;
	bool fine = candidates_followers(c->bisector->db, c->candidate->id, &followers, err);

	owned = followers.v;
	for (size_t i = 0; fine && i < followers.n; i++) {
		const struct series *series = series_find(&c->series, followers.v[i].series);
		struct confirmation v = {0};
		AUTO_FREE char *reason = xasprintf("shares the bisection of candidate %lld; "
						   "measured again by the boots of its proof",
						   (long long)c->candidate->id);
		const struct candidate_end end = {"abandoned", reason, NAN, NAN, NAN};

		if (!series) {
			fine = candidate_decide(c->bisector->db, followers.v[i].id, &end, err);
			continue;
		}
		fine = judge(c, series, &v, err) &&
		       end_one(c, followers.v[i].id, series, &v,
			       v.verdict == CONFIRM_CONFIRMED ? "confirmed" : "refuted", err);
	}
	return fine;
}

/* The strongest follower gets fresh boots of its own. */
static bool hand_over(struct confirming *c, struct err *err)
{
	struct candidates followers = {0};
	AUTO_FREE struct candidate *owned = NULL;
	bool fine = candidates_followers(c->bisector->db, c->candidate->id, &followers, err);

	owned = followers.v;
	return fine && (!followers.n || candidate_promote(c->bisector->db, c->candidate->id,
							  followers.v[0].id, err));
}

static bool queue_stage(struct confirming *c, const struct series *series, struct err *err)
{
	const struct candidate *candidate = c->candidate;
	struct boots_side sides[] = {
		{"before", candidate->before_commit, 0, candidate->before_image},
		{"after", candidate->after_commit, 0, candidate->after_image},
	};
	const int64_t commits[] = {candidate->before_commit, candidate->after_commit};
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
		.seed = candidate->seed,
	};
	AUTO_FREE struct built *built = NULL;

	if (!builds_of_commits(c->bisector->db, commits, 2, series->recipe, series->toolchain,
			       &built, err))
		return false;
	sides[0].build = built[0].build;
	sides[1].build = built[1].build;
	return boots_queue(c->bisector, &plan, c->stages * c->each, c->each, err);
}

static bool abandon(struct confirming *c, const char *why, struct err *err)
{
	AUTO_FREE char *reason = xasprintf("the boots to confirm it did not succeed: %s", why);
	const struct candidate_end end = {"abandoned", reason, NAN, NAN, NAN};

	log_info("candidate %lld: abandoned: %s", (long long)c->candidate->id, reason);
	return candidate_decide(c->bisector->db, c->candidate->id, &end, err) && hand_over(c, err);
}

/* All boots that were asked for have ended. */
static bool look(struct confirming *c, const struct series *series, struct err *err)
{
	struct boots_progress boots = boots_progress(&c->jobs, NULL);
	struct confirmation v;

	if (boots.done * 2 < boots.asked)
		return abandon(c, boots.error ? boots.error : "too few of them", err);
	if (!judge(c, series, &v, err))
		return false;
	if (v.verdict == CONFIRM_CONFIRMED)
		return end_one(c, c->candidate->id, series, &v, "confirmed", err) &&
		       end_followers(c, err) &&
		       start_from_candidate(c->bisector, c->candidate, series, err);
	if (v.verdict == CONFIRM_MORE && c->stages < c->stages_max)
		return queue_stage(c, series, err);
	return end_one(c, c->candidate->id, series, &v, "refuted", err) && hand_over(c, err);
}

static bool advance(struct confirming *c, struct err *err)
{
	const struct conf *conf = c->bisector->settings->conf;
	const struct estimate_filter filter = {.candidate = c->candidate->id, .purpose = "confirm"};
	CLEANUP(series_list_release) struct series_list own = {0};
	CLEANUP(db_tx_end) struct db *tx = NULL;
	struct boots_progress before;

	c->each = (size_t)conf_i64(conf, "detect", NULL, "confirm-boots");
	c->stages_max = (size_t)conf_i64(conf, "detect", NULL, "confirm-stages");
	if (!db_tx_begin(c->bisector->db, &tx, err) ||
	    !series_read(c->bisector->db, &c->candidate->series, 1, &own, err) ||
	    !work_jobs_read(c->bisector->db, c->candidate->id, 0, 0, "confirm", &c->jobs, err))
		return false;
	if (!own.v[0].suite)
		return err_set(err, ERR_FAILED, "no suite gives its series now");
	before = boots_progress(&c->jobs, "before");
	c->stages = before.asked / c->each;
	if (!c->stages)
		return queue_stage(c, &own.v[0], err) && db_tx_commit(&tx, err);
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

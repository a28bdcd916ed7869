// SPDX-License-Identifier: GPL-2.0-or-later
/* What the rows say. */
#include "bisector/evidence.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bisector/cost.h"
#include "bisector/past.h"
#include "db/machine.h"
#include "stats/compare.h"

#define NODE_FAILS_MAX	2 /* boots of a node without a number, failed or not, before it is skipped */
#define BOOT_SD		0.2 /* of "it booted", on a scale where failing is 0.69 away: see below */
#define PAST_BOOTS	2   /* surely good, before the history is believed */
#define SURELY_GOOD	0.02
#define MACHINE_SD_DARK 0.05 /* spread of machines while the noise is not known */

void evidence_release(struct evidence *e)
{
	free(e->hypotheses.v);
	lineup_release(&e->lineup);
	history_release(&e->history);
	series_release(&e->series);
	work_jobs_release(&e->jobs);
	changes_release(&e->changes);
	free(e->prior);
	free(e->built);
	free(e->layout);
	free(e->next);
	free(e->testable);
	free(e->lost);
	free(e->cost);
	free(e->build_s);
	free(e->pending);
	free(e->drifting);
}

static bool read_series(struct db *db, int64_t id, struct series *out, struct err *err)
{
	struct series_list list = {0};
	AUTO_FREE struct series *owned = NULL;
	bool fine = series_read(db, &id, 1, &list, err);

	owned = list.v;
	if (fine && list.n == 1)
		*out = list.v[0];
	return fine &&
	       (list.n == 1 || err_set(err, ERR_FAILED, "series %lld is gone", (long long)id));
}

static bool read_lineup(struct db *db, const struct bisection *b, struct evidence *e,
			struct err *err)
{
	AUTO_FREE int64_t *commits = NULL;

	if (!hypotheses_read(db, b->id, &e->hypotheses, err) ||
	    !history_read(db, b->good, b->bad, b->merge_base, &e->history, err) ||
	    !lineup_make(&e->history, &e->hypotheses, b->good, b->bad, b->merge_base, &e->lineup,
			 err))
		return false;
	commits = xcalloc(e->lineup.n_nodes, sizeof(*commits));
	for (size_t n = 0; n < e->lineup.n_nodes; n++)
		commits[n] = e->lineup.nodes[n].commit;
	return builds_of_commits(db, commits, e->lineup.n_nodes, b->recipe, b->toolchain, &e->built,
				 err);
}

static bool contains(const int64_t *ids, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* Only what splits suspects, builds and boots; the old line only when a dropped patch is one. */
static bool find_testable(struct db *db, struct evidence *e, struct err *err)
{
	size_t n = e->lineup.n_nodes, n_bad = 0;
	AUTO_FREE int64_t *images = xcalloc(n, sizeof(*images));
	AUTO_FREE int64_t *bad = NULL;

	for (size_t i = 0; i < n; i++)
		images[i] = e->built[i].image;
	if (!series_is_boots(&e->series) &&
	    !unbootable_images(db, e->bisection->class_id, images, n, &bad, &n_bad, err))
		return false;
	e->testable = xcalloc(n, sizeof(*e->testable));
	e->lost = xcalloc(n, sizeof(*e->lost));
	for (size_t i = 0; i < n; i++) {
		enum build_state state = e->built[i].state;

		e->lost[i] = images[i] && contains(bad, n_bad, images[i]);
		e->testable[i] =
			state != BUILD_FAILED && state != BUILD_BROKEN && !e->lost[i] &&
			(!e->lineup.nodes[i].old || i == e->lineup.good || e->lineup.has_dropped);
	}
	return true;
}

/* boots: per node, whatever became of them. */
static void count_jobs(struct evidence *e, size_t *boots)
{
	size_t n = e->lineup.n_nodes;
	AUTO_FREE size_t *fails = xcalloc(n + 1, sizeof(*fails));

	e->pending = xcalloc(n + 1, sizeof(*e->pending));
	for (size_t i = 0; i < e->jobs.n; i++) {
		const struct work_job *job = &e->jobs.v[i];
		size_t node = lineup_find(&e->lineup, job->commit);
		bool told = series_is_boots(&e->series) && job->kernel_bad;
		bool failed = job->ended && strcmp(job->state, "done") && !told;

		if (!strcmp(job->state, "cancelled"))
			continue; /* nobody booted it: no failure, and no boot of the budget */
		e->asked++;
		e->open += !job->ended;
		e->pending[node] += !job->ended;
		boots[node]++;
		e->failed += failed;
		fails[node] += failed;
	}
	for (size_t i = 0; i < n; i++)
		if (fails[i] >= NODE_FAILS_MAX) {
			e->testable[i] = false;
			e->lost[i] = true;
		}
}

/* What no layout builds is booted again as it is. */
static void plain_where_needed(struct evidence *e, size_t node)
{
	if (e->next[node].state == BUILD_FAILED || e->next[node].state == BUILD_BROKEN)
		e->next[node] = e->built[node];
}

/*
 * Boots of one layout share its offset. Where the pilot saw that layouts differ, each boot of a node is of another one, so
 * that boots are as independent as the posterior takes them to be: the first is plain, the next has seed 1, and so on.
 */
static bool find_layouts(struct bisector *bisector, struct evidence *e, const size_t *boots,
			 struct err *err)
{
	const struct bisection *b = e->bisection;
	struct db *db = bisector->db;
	size_t n = e->lineup.n_nodes;
	AUTO_FREE int64_t *commits = xcalloc(n, sizeof(*commits));

	e->layout = xcalloc(n, sizeof(*e->layout));
	if (!layouts_read(bisector, &e->series, &e->layouts, err))
		return false;
	for (size_t i = 0; i < n; i++) {
		commits[i] = e->lineup.nodes[i].commit;
		e->layout[i] = e->layouts.fresh ? (int64_t)boots[i] : 0;
	}
	if (!builds_of_layouts(db, commits, e->layout, n, b->recipe, b->toolchain, &e->next, err))
		return false;
	for (size_t i = 0; i < n; i++) {
		plain_where_needed(e, i);
		e->builds_open += e->next[i].state == BUILD_PENDING;
	}
	return true;
}

bool evidence_next(struct db *db, struct evidence *e, size_t node, struct err *err)
{
	const struct build_key key = {.tree_oid = e->lineup.nodes[node].info->tree_oid,
				      .recipe = e->bisection->recipe,
				      .toolchain = e->bisection->toolchain,
				      .layout_seed = e->layout[node] + 1};
	struct build_look look;

	if (!e->layouts.fresh)
		return true;
	if (!build_look(db, &key, &look, err))
		return false;
	e->layout[node]++;
	e->next[node].build = look.id;
	e->next[node].image = look.image;
	e->next[node].state = look.state;
	plain_where_needed(e, node);
	return true;
}

/* FNV-1a; odd, while image ids are stored even: the two never meet. */
static uint64_t tree_identity(const char *tree_oid)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (; *tree_oid; tree_oid++)
		hash = (hash ^ (unsigned char)*tree_oid) * UINT64_C(0x100000001b3);
	return hash | 1;
}

static void find_prior(struct evidence *e)
{
	AUTO_FREE uint64_t *identity = xcalloc(e->lineup.n_nodes, sizeof(*identity));

	e->prior = xcalloc(e->hypotheses.n, sizeof(*e->prior));
	for (size_t h = 0; h < e->hypotheses.n; h++)
		e->prior[h] = e->hypotheses.v[h].prior;
	for (size_t i = 0; i < e->lineup.n_nodes; i++)
		identity[i] = e->built[i].image ? (uint64_t)e->built[i].image << 1
						: tree_identity(e->lineup.nodes[i].info->tree_oid);
	lineup_rule_out(&e->lineup, identity, e->prior);
}

static size_t machine_number(int64_t *machines, size_t *n, int64_t id)
{
	for (size_t i = 0; i < *n; i++)
		if (machines[i] == id)
			return i;
	machines[*n] = id;
	return (*n)++;
}

/* The numbers of the search's boots; returns how many machines they came from, with their ids. */
static size_t observe(const struct estimates *estimates, struct evidence *e,
		      struct posterior_obs *obs, int64_t *machines)
{
	double sign = better_sign(better_parse(e->series.direction));
	size_t n_machines = 0;

	for (size_t i = 0; i < estimates->n; i++) {
		const struct estimate *from = &estimates->v[i];
		size_t node = lineup_find(&e->lineup, from->commit);
		double x = from->value + e->series.floor;

		if (node == e->lineup.n_nodes || !isfinite(x) || x <= 0)
			continue;
		obs[e->observed++] = (struct posterior_obs){
			.node = node,
			.y = sign * log(x),
			.machine = machine_number(machines, &n_machines, from->machine),
		};
	}
	return n_machines;
}

/* Boots of nodes that are surely before any change, by a posterior that does not know the history. */
static size_t surely_good(const struct evidence *e, const struct posterior_obs *obs, double *y)
{
	const struct posterior *one = &e->changes.one;
	size_t n = 0;

	for (size_t i = 0; i < e->observed; i++)
		if (obs[i].node == e->lineup.good || one->after[obs[i].node] < SURELY_GOOD)
			y[n++] = obs[i].y;
	return n;
}

/* The good level that history tells saves boots, and would blame an innocent commit when machine or setup are not what
 * they were: it is used once boots of this search agree. False: it is not, and prior is as it was. */
static bool use_past(struct evidence *e, const struct posterior_obs *obs,
		     struct posterior_prior *prior)
{
	const struct bisection *b = e->bisection;
	const struct past past = {b->past_level, b->past_sd, (size_t)b->past_heads};
	AUTO_FREE double *y = xcalloc(e->observed + 1, sizeof(*y));
	size_t n = surely_good(e, obs, y);

	if (!(past.sd > 0) || n < PAST_BOOTS || !(prior->noise.df > 0))
		return false;
	e->past = past_holds(&past, y, n, prior->noise.sd) ? PAST_HOLDS : PAST_OFF;
	if (e->past == PAST_OFF)
		return false;
	prior->level = past.level;
	prior->level_sd = past.sd;
	return true;
}

/* A metric may stop existing inside the range: a node whose boots succeed without it tells nothing, ever. */
static void find_silent(struct evidence *e, const struct posterior_obs *obs)
{
	size_t n = e->lineup.n_nodes;
	AUTO_FREE size_t *done = xcalloc(n + 1, sizeof(*done));

	for (size_t i = 0; i < e->jobs.n; i++)
		done[lineup_find(&e->lineup, e->jobs.v[i].commit)] +=
			!strcmp(e->jobs.v[i].state, "done");
	for (size_t i = 0; i < e->observed; i++)
		done[obs[i].node] = 0;
	for (size_t i = 0; i < n; i++) {
		if (done[i] < NODE_FAILS_MAX)
			continue;
		e->testable[i] = false;
		e->lost[i] = true;
		e->silent++;
	}
}

static void weigh(struct evidence *e, const struct posterior_obs *obs,
		  const struct posterior_prior *prior)
{
	changes_start(&e->changes, &e->lineup.sides, e->prior, prior);
	changes_add(&e->changes, obs, e->observed);
}

static bool find_drift(struct db *db, struct evidence *e, const int64_t *machines, struct err *err)
{
	if (series_is_boots(&e->series))
		return true;
	steady_look(&e->changes, &e->steady);
	return !e->steady.drifts ||
	       machine_name(db, machines[e->steady.machine], &e->drifting, err);
}

void evidence_notes(const struct evidence *e, struct str *out)
{
	if (e->past == PAST_HOLDS)
		str_addf(out, "; its history of %d heads tells the good level",
			 e->bisection->past_heads);
	else if (e->past == PAST_OFF)
		str_addf(out,
			 "; the good end is not where the %d heads before it were, which are "
			 "left aside",
			 e->bisection->past_heads);
	if (e->drifting)
		str_addf(out,
			 "; the machine %s drifts: its numbers moved by %+.1f %% during the "
			 "search (z %.1f)",
			 e->drifting, bisector_percent(&e->series, e->steady.trend.move),
			 e->steady.trend.z);
}

/* Boots are 0 or log 2. A panic that does not come each time is what outliers are for; the noise is what
 * makes one boot speak for a side with odds of about 400, and not for certain. */
static bool find_posterior(struct db *db, const struct conf *conf, struct evidence *e,
			   struct err *err)
{
	const struct bisection *b = e->bisection;
	const struct estimate_filter filter = {
		.bisection = b->id,
		.purpose = "bisect",
		.series = b->series,
	};
	struct estimates estimates = {0};
	AUTO_FREE struct estimate *owned = NULL;
	AUTO_FREE struct posterior_obs *obs = NULL;
	AUTO_FREE int64_t *machines = NULL;
	struct posterior_prior prior;
	bool fine;

	posterior_prior_init(&prior, b->min_effect);
	prior.second_odds = conf_f64(conf, "bisect", NULL, "second-odds");
	fine = estimates_read(db, &filter, &estimates, err) &&
	       bisector_noise(db, &e->series, e->built[e->lineup.good].image,
			      e->built[e->lineup.bad].image, 0, &prior.noise, err);
	owned = estimates.v;
	if (!fine)
		return false;
	if (series_is_boots(&e->series))
		prior.noise = (struct sd_prior){BOOT_SD, BISECTOR_NOISE_DF};
	/* Each node, or each boot, is another build, with an offset of its own. */
	prior.noise.sd = hypot(prior.noise.sd, e->layouts.sd);
	obs = xcalloc(estimates.n, sizeof(*obs));
	machines = xcalloc(estimates.n, sizeof(*machines));
	if (observe(&estimates, e, obs, machines) > 1 && !series_is_boots(&e->series))
		prior.machine_sd = prior.noise.df > 0 ? prior.noise.sd : MACHINE_SD_DARK;
	find_silent(e, obs);
	weigh(e, obs, &prior);
	if (use_past(e, obs, &prior)) {
		changes_release(&e->changes);
		weigh(e, obs, &prior);
	}
	return find_drift(db, e, machines, err);
}

static bool count_machines(struct db *db, struct evidence *e, struct err *err)
{
	CLEANUP(classes_release) struct classes classes = {0};

	if (!classes_read(db, &classes, err))
		return false;
	for (size_t i = 0; i < classes.n; i++)
		if (classes.v[i].id == e->bisection->class_id)
			e->machines = (size_t)classes.v[i].up;
	return true;
}

bool evidence_read(struct bisector *bisector, const struct bisection *bisection, struct evidence *e,
		   struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	struct db *db = bisector->db;
	AUTO_FREE size_t *boots = NULL;
	double time_s = conf_f64(conf, "bisect", NULL, "budget-time");

	e->bisection = bisection;
	e->late = time_s > 0 && bisection->age_s >= time_s;
	if (!read_series(db, bisection->series, &e->series, err) ||
	    !read_lineup(db, bisection, e, err) ||
	    !work_jobs_read(db, 0, bisection->id, 0, "bisect", &e->jobs, err) ||
	    !find_testable(db, e, err) || !count_machines(db, e, err))
		return false;
	boots = xcalloc(e->lineup.n_nodes + 1, sizeof(*boots)); /* and of no node */
	count_jobs(e, boots);
	find_prior(e);
	return find_layouts(bisector, e, boots, err) && find_posterior(db, conf, e, err) &&
	       cost_find(db, e, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Routine builds and boots. */
#include "bisector/plan.h"

#include <stdlib.h>

#include "base/log.h"
#include "bisector/boots.h"
#include "db/history.h"

#define RETRY_BUILDS_AFTER_S 600.0

struct planner {
	struct bisector *bisector;
	struct classes classes;
	int64_t toolchain;
	int boots; /* of each image, class and suite */
};

static void planner_release(struct planner *planner)
{
	classes_release(&planner->classes);
}

static const struct routine *routine_of(const struct routines *routines, int64_t suite)
{
	static const struct routine none = {0};

	for (size_t i = 0; i < routines->n; i++)
		if (routines->v[i].suite == suite)
			return &routines->v[i];
	return &none;
}

/* Boots of `suite` that are still to be asked for; machine failures are tried as often again. */
static int missing(const struct planner *planner, const struct routines *routines, int64_t suite)
{
	const struct routine *r = routine_of(routines, suite);

	return r->failed > planner->boots ? 0 : planner->boots - r->alive;
}

static bool queue_routine(struct planner *planner, const struct built *built, int64_t class_id,
			  const int64_t *suites, size_t n, int number, int priority,
			  struct err *err)
{
	AUTO_FREE char *key = xasprintf("boot:detect:%lld:%lld:%d", (long long)built->image,
					(long long)class_id, number);
	const struct job job = {
		.key = key,
		.kind = (char *)"boot",
		.purpose = (char *)"detect",
		.priority = priority,
		.build = built->build,
		.image = built->image,
		.commit = built->commit,
		.class_id = class_id,
		.suites = (int64_t *)suites,
		.n_suites = n,
	};
	int64_t id;
	bool fresh;

	return job_add(planner->bisector->db, &job, &id, &fresh, err);
}

/* Each boot runs all suites that still want one. */
static bool plan_boots(struct planner *planner, const struct built *built,
		       const struct class_info *class_info, const char *tree, int priority,
		       bool *over, struct err *err)
{
	CLEANUP(routines_release) struct routines have = {0};
	AUTO_FREE int64_t *suites = NULL;
	AUTO_FREE int64_t *want = NULL;
	size_t n = bisector_suites(planner->bisector, tree, class_info->name, &suites), n_want;
	int round = 0;

	if (!routines_read(planner->bisector->db, built->image, class_info->id, &have, err))
		return false;
	for (size_t i = 0; i < have.n; i++)
		*over &= !have.v[i].open;
	want = xcalloc(n, sizeof(*want));
	while (!have.unbootable) {
		n_want = 0;
		for (size_t i = 0; i < n; i++)
			if (missing(planner, &have, suites[i]) > round)
				want[n_want++] = suites[i];
		if (!n_want)
			break;
		round++;
		*over = false;
		if (!queue_routine(planner, built, class_info->id, want, n_want, have.jobs + round,
				   priority, err))
			return false;
	}
	return true;
}

/* Builds that ended and boots that ended, in as many classes as there are: nothing is left. */
static bool plan_images(struct planner *planner, const struct build_look *look, int64_t commit,
			const char *tree, int priority, bool *over, struct err *err)
{
	const struct built built = {commit, look->id, look->image, look->state};

	*over = look->state == BUILD_BUILT || look->state == BUILD_FAILED;
	for (size_t i = 0; look->state == BUILD_BUILT && i < planner->classes.n; i++)
		if (!plan_boots(planner, &built, &planner->classes.v[i], tree, priority, over, err))
			return false;
	return true;
}

/* A commit's tree, in this layout. */
struct wanted {
	int64_t commit;
	int64_t layout_seed; /* 0: the plain one; else that of a twin: its snapshot's id */
	const char *tree;
	int64_t recipe;
	int priority;
};

/* Its build, then its boots in every class. */
static bool plan_commit(struct planner *planner, const struct wanted *wanted, struct err *err)
{
	const struct bisector_memo memo = {
		.kind = wanted->layout_seed ? MEMO_PLANNED_TWIN : MEMO_PLANNED,
		.key = {wanted->layout_seed ? wanted->layout_seed : wanted->commit, wanted->recipe,
			planner->toolchain, (int64_t)planner->classes.n},
	};
	CLEANUP(history_commit_release) struct history_commit info = {0};
	struct db *db = planner->bisector->db;
	CLEANUP(db_tx_end) struct db *tx = NULL;
	struct build_look look;
	bool over;

	if (bisector_knows(planner->bisector, &memo))
		return true;
	if (!db_tx_begin(db, &tx, err) || !commit_read(db, wanted->commit, &info, err))
		return false;
	if (!build_ensure(db,
			  &(struct build_key){.tree_oid = info.tree_oid,
					      .recipe = wanted->recipe,
					      .toolchain = planner->toolchain,
					      .layout_seed = wanted->layout_seed},
			  wanted->commit, wanted->priority, "detect", &look, err) ||
	    !plan_images(planner, &look, wanted->commit, wanted->tree, wanted->priority, &over,
			 err) ||
	    !db_tx_commit(&tx, err))
		return false;
	if (over)
		bisector_remember(planner->bisector, &memo);
	return true;
}

/* Points between heads that have neither an end nor boots yet. */
struct gap {
	const struct snapshot *snapshot;
	struct snapshot_points points;
	struct built *built;
	bool *settled; /* nothing is left to ask for */
	size_t builds_open;
};

static void gap_release(struct gap *gap)
{
	free(gap->points.v);
	free(gap->built);
	free(gap->settled);
}

static bool settle(struct planner *planner, struct gap *gap, struct err *err)
{
	AUTO_FREE int64_t *images = xcalloc(gap->points.n, sizeof(*images));
	AUTO_FREE int64_t *booted = NULL;
	size_t n_booted = 0;

	for (size_t i = 0; i < gap->points.n; i++)
		images[i] = gap->built[i].image;
	if (!routine_images(planner->bisector->db, images, gap->points.n, &booted, &n_booted, err))
		return false;
	gap->settled = xcalloc(gap->points.n, sizeof(*gap->settled));
	for (size_t i = 0; i < gap->points.n; i++) {
		enum build_state state = gap->built[i].state;

		gap->settled[i] = state == BUILD_FAILED || state == BUILD_BROKEN;
		gap->builds_open += state == BUILD_PENDING;
		for (size_t k = 0; k < n_booted && images[i]; k++)
			gap->settled[i] |= booted[k] == images[i];
	}
	return true;
}

static bool gap_read(struct planner *planner, const struct snapshot *snapshot, int64_t recipe,
		     struct gap *gap, struct err *err)
{
	AUTO_FREE int64_t *commits = NULL;

	gap->snapshot = snapshot;
	if (!snapshot_points_read(planner->bisector->db, snapshot->id, &gap->points, err))
		return false;
	commits = xcalloc(gap->points.n, sizeof(*commits));
	for (size_t i = 0; i < gap->points.n; i++)
		commits[i] = gap->points.v[i].commit;
	return builds_of_commits(planner->bisector->db, commits, gap->points.n, recipe,
				 planner->toolchain, &gap->built, err) &&
	       settle(planner, gap, err);
}

static size_t distance(const struct gap *gap, size_t i)
{
	size_t best = gap->points.n;

	for (size_t k = 0; k < gap->points.n; k++) {
		size_t d = k > i ? k - i : i - k;

		if (gap->settled[k] && d < best)
			best = d;
	}
	return best;
}

/* The open point farthest from all settled ones, ends of series first; points.n for none. */
static size_t gap_pick(const struct gap *gap)
{
	size_t best = gap->points.n, best_d = 0;
	bool boundary = false;

	for (size_t i = 0; i < gap->points.n; i++) {
		const struct snapshot_point *p = &gap->points.v[i];
		size_t d;

		if (gap->settled[i] || (boundary && !p->boundary))
			continue;
		d = distance(gap, i);
		if (d > best_d || (p->boundary && !boundary)) {
			best = i;
			best_d = d;
			boundary = p->boundary;
		}
	}
	return best;
}

static bool machines_wait(const struct planner *planner)
{
	for (size_t i = 0; i < planner->classes.n; i++)
		if (planner->classes.v[i].queued < 2 * planner->classes.v[i].up)
			return true;
	return false;
}

/* Asks for what is next between heads: boots when built, else builds, two ahead. */
static bool plan_gaps(struct planner *planner, const struct snapshot *snapshot, int64_t recipe,
		      struct err *err)
{
	CLEANUP(gap_release) struct gap gap = {0};
	size_t asked = 0;

	if (!machines_wait(planner))
		return true;
	if (!gap_read(planner, snapshot, recipe, &gap, err))
		return false;
	for (size_t builds = gap.builds_open; asked < 2;) {
		size_t i = gap_pick(&gap);

		if (i == gap.points.n)
			break;
		gap.settled[i] = true;
		if (gap.built[i].state == BUILD_PENDING)
			continue;
		if (gap.built[i].state == BUILD_ABSENT && builds++ >= 2)
			break;
		if (!plan_commit(planner,
				 &(struct wanted){
					 .commit = gap.points.v[i].commit,
					 .tree = snapshot->tree_name,
					 .recipe = recipe,
					 .priority = gap.points.v[i].boundary
							     ? JOB_PRIORITY_BOUNDARY
							     : JOB_PRIORITY_GAP,
				 },
				 err))
			return false;
		asked++;
	}
	return true;
}

/* Whether the head is fed in again as its own successor: the standing A/A (db/twin.h). */
static bool has_twin(const struct planner *planner, const struct snapshot *s)
{
	int64_t every = conf_i64(planner->bisector->settings->conf, "detect", NULL, "twin-every");

	return every > 0 && s->seq % every == 0;
}

static bool plan_head(struct planner *planner, const struct snapshot *s, struct err *err)
{
	struct wanted wanted = {
		.commit = s->head, .tree = s->tree_name, .priority = JOB_PRIORITY_HEAD};

	if (!bisector_recipe(planner->bisector, s->tree_name, &wanted.recipe, err) ||
	    !plan_commit(planner, &wanted, err))
		return err_wrap(err, "snapshot %d of %s", s->seq, s->branch_name);
	wanted.layout_seed = s->id;
	if (has_twin(planner, s) && !plan_commit(planner, &wanted, err))
		return err_wrap(err, "twin of snapshot %d of %s", s->seq, s->branch_name);
	wanted.layout_seed = 0;
	wanted.commit = s->base;
	if (s->seq == 1 && !plan_commit(planner, &wanted, err))
		return err_wrap(err, "base of %s", s->branch_name);
	return true;
}

static bool plan_heads(struct planner *planner, const struct snapshots *snapshots, struct err *err)
{
	for (size_t i = 0; i < snapshots->n; i++) {
		const struct snapshot *s = &snapshots->v[i];

		if (!conf_has(planner->bisector->settings->conf, "tree", s->tree_name))
			continue;
		if (!plan_head(planner, s, err) && !bisector_tolerates(planner->bisector, err))
			return false;
	}
	return true;
}

static bool plan_between(struct planner *planner, const struct snapshots *snapshots,
			 struct err *err)
{
	int64_t branch = 0, recipe;
	bool busy;

	if (!work_is_urgent(planner->bisector->db, &busy, err))
		return false;
	for (size_t i = 0; !busy && i < snapshots->n; i++) {
		const struct snapshot *s = &snapshots->v[i];

		if (s->branch == branch ||
		    !conf_has(planner->bisector->settings->conf, "tree", s->tree_name))
			continue;
		branch = s->branch;
		if (!bisector_recipe(planner->bisector, s->tree_name, &recipe, err) ||
		    !plan_gaps(planner, s, recipe, err))
			return err_wrap(err, "commits of %s", s->branch_name);
	}
	return true;
}

/* A host that could not build, a full disk say, may have been helped since. */
static bool retry_builds(struct bisector *bisector, struct err *err)
{
	int n;

	if (!job_retry_builds(bisector->db, RETRY_BUILDS_AFTER_S, &n, err))
		return false;
	if (n)
		log_info("%d build%s that the host could not make: trying again", n,
			 n > 1 ? "s" : "");
	return true;
}

bool plan_advance(struct bisector *bisector, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	CLEANUP(planner_release) struct planner planner = {.bisector = bisector};
	CLEANUP(snapshots_release) struct snapshots snapshots = {0};

	planner.boots = (int)conf_i64(conf, "detect", NULL, "boots");
	if (!toolchain_current(bisector->db, &planner.toolchain, err))
		return false;
	if (!planner.toolchain)
		return true;
	return retry_builds(bisector, err) &&
	       classes_read_booting(bisector->db, &planner.classes, err) &&
	       snapshots_read(bisector->db, PLAN_SNAPSHOTS, &snapshots, err) &&
	       plan_heads(&planner, &snapshots, err) &&
	       (!conf_bool(conf, "detect", NULL, "gaps") ||
		plan_between(&planner, &snapshots, err));
}

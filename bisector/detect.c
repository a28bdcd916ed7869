// SPDX-License-Identifier: GPL-2.0-or-later
/* Pairs to judge. */
#include "bisector/detect.h"

#include <math.h>
#include <stdlib.h>

#include "bisector/judge.h"
#include "bisector/plan.h"
#include "db/history.h"
#include "db/regression.h"
#include "db/twin.h"
#include "db/work.h"

/* Commits in the order they came, with what is known of their images. */
struct row_of_builds {
	int64_t *commits;
	size_t n;
	struct built *built;
	bool *booted;	  /* has routine boots */
	bool *unbootable; /* in the class that is looked at */
};

static void row_release(struct row_of_builds *row)
{
	free(row->commits);
	free(row->built);
	free(row->booted);
	free(row->unbootable);
}

struct detector {
	struct bisector *bisector;
	struct classes classes;
	int64_t toolchain;
};

static void detector_release(struct detector *d)
{
	classes_release(&d->classes);
}

static bool *mark(const struct row_of_builds *row, const int64_t *images, size_t n)
{
	bool *marks = xcalloc(row->n, sizeof(*marks));

	for (size_t i = 0; i < row->n; i++)
		for (size_t k = 0; k < n && row->built[i].image; k++)
			marks[i] |= row->built[i].image == images[k];
	return marks;
}

static bool read_builds(struct detector *d, const char *tree, struct row_of_builds *row,
			struct err *err)
{
	AUTO_FREE int64_t *images = xcalloc(row->n, sizeof(*images));
	AUTO_FREE int64_t *booted = NULL;
	int64_t recipe;
	size_t n;

	if (!bisector_recipe(d->bisector, tree, &recipe, err) ||
	    !builds_of_commits(d->bisector->db, row->commits, row->n, recipe, d->toolchain,
			       &row->built, err))
		return false;
	for (size_t i = 0; i < row->n; i++)
		images[i] = row->built[i].image;
	if (!routine_images(d->bisector->db, images, row->n, &booted, &n, err))
		return false;
	row->booted = mark(row, booted, n);
	return true;
}

static bool read_class(struct detector *d, int64_t class_id, struct row_of_builds *row,
		       struct err *err)
{
	AUTO_FREE int64_t *images = xcalloc(row->n, sizeof(*images));
	AUTO_FREE int64_t *bad = NULL;
	size_t n;

	for (size_t i = 0; i < row->n; i++)
		images[i] = row->built[i].image;
	if (!unbootable_images(d->bisector->db, class_id, images, row->n, &bad, &n, err))
		return false;
	free(row->unbootable);
	row->unbootable = mark(row, bad, n);
	return true;
}

/* Can never be measured, so that the one before it is what counts. */
static bool hopeless(const struct row_of_builds *row, size_t i)
{
	return row->built[i].state == BUILD_FAILED || row->built[i].state == BUILD_BROKEN ||
	       row->unbootable[i];
}

static bool judge_two(struct detector *d, const struct row_of_builds *row, size_t before,
		      size_t after, int64_t branch, int64_t class_id, double z, struct err *err)
{
	const struct judged_pair pair = {
		.before = row->built[before],
		.after = row->built[after],
		.branch = branch,
		.class_id = class_id,
		.heads = z <= 0,
		.z = fmax(z, conf_f64(d->bisector->settings->conf, "detect", NULL, "z")),
	};

	if (!pair.before.image || !pair.after.image || pair.before.image == pair.after.image)
		return true;
	return judge_pair(d->bisector, &pair, err);
}

/* Heads of one branch, oldest first, the base before the first when it is known. */
static struct row_of_builds heads_of(const struct snapshot *newest, size_t n)
{
	struct row_of_builds row = {.commits = xcalloc(n + 1, sizeof(*row.commits))};

	if (newest[n - 1].seq == 1)
		row.commits[row.n++] = newest[n - 1].base;
	for (size_t i = n; i--;)
		row.commits[row.n++] = newest[i].head;
	return row;
}

static bool judge_heads(struct detector *d, const struct snapshot *newest, size_t n,
			struct err *err)
{
	CLEANUP(row_release) struct row_of_builds row = heads_of(newest, n);

	if (!read_builds(d, newest->tree_name, &row, err))
		return false;
	for (size_t k = 0; k < d->classes.n; k++) {
		int64_t class_id = d->classes.v[k].id;
		size_t last = row.n;

		if (!read_class(d, class_id, &row, err))
			return false;
		for (size_t i = 0; i < row.n; i++) {
			if (hopeless(&row, i))
				continue;
			if (last < row.n &&
			    !judge_two(d, &row, last, i, newest->branch, class_id, 0, err))
				return false;
			last = i;
		}
	}
	return true;
}

static bool judge_neighbours_of(struct detector *d, const struct snapshot *s,
				const struct snapshot_points *points,
				const struct row_of_builds *row, int64_t class_id, struct err *err)
{
	size_t last = row->n;
	bool known;

	for (size_t i = 0; i < row->n; i++) {
		if (hopeless(row, i) || !row->booted[i])
			continue;
		if (last < row->n) {
			if (!regression_between(d->bisector->db, s->id, points->v[last].pos,
						points->v[i].pos, &known, err) ||
			    (!known && !judge_two(d, row, last, i, s->branch, class_id,
						  DETECT_NEIGHBOUR_Z, err)))
				return false;
		}
		last = i;
	}
	return true;
}

static bool judge_neighbours(struct detector *d, const struct snapshot *s, struct err *err)
{
	CLEANUP(row_release) struct row_of_builds row = {0};
	struct snapshot_points points = {0};
	AUTO_FREE struct snapshot_point *owned = NULL;
	bool fine = snapshot_points_read(d->bisector->db, s->id, &points, err);

	owned = points.v;
	if (!fine)
		return false;
	row.commits = xcalloc(points.n, sizeof(*row.commits));
	row.n = points.n;
	for (size_t i = 0; i < points.n; i++)
		row.commits[i] = points.v[i].commit;
	if (!read_builds(d, s->tree_name, &row, err))
		return false;
	for (size_t k = 0; k < d->classes.n; k++)
		if (!read_class(d, d->classes.v[k].id, &row, err) ||
		    !judge_neighbours_of(d, s, &points, &row, d->classes.v[k].id, err))
			return false;
	return true;
}

/* Heads fed in a second time, in another layout. */
static bool judge_twins(struct detector *d, const struct snapshot *newest, struct err *err)
{
	struct twins twins = {0};
	AUTO_FREE struct twin *owned = NULL;
	int64_t recipe;
	bool fine = bisector_recipe(d->bisector, newest->tree_name, &recipe, err) &&
		    twins_unjudged(d->bisector->db, newest->branch, PLAN_SNAPSHOTS, recipe,
				   d->toolchain, &twins, err);

	owned = twins.v;
	for (size_t i = 0; fine && i < twins.n; i++) {
		const struct twin *t = &twins.v[i];
		const struct judged_pair pair = {
			.before = {t->head, t->own_build, t->own_image, BUILD_BUILT},
			.after = {t->head, t->twin_build, t->twin_image, BUILD_BUILT},
			.branch = newest->branch,
			.class_id = t->class_id,
			.heads = true,
			.z = conf_f64(d->bisector->settings->conf, "detect", NULL, "z"),
			.twin = t,
		};

		fine = judge_pair(d->bisector, &pair, err);
	}
	return fine;
}

static bool judge_branch(struct detector *d, const struct snapshot *newest, size_t n,
			 struct err *err)
{
	bool urgent;

	if (!judge_heads(d, newest, n, err) || !judge_twins(d, newest, err) ||
	    !work_is_urgent(d->bisector->db, &urgent, err))
		return false;
	return urgent || !conf_bool(d->bisector->settings->conf, "detect", NULL, "gaps") ||
	       judge_neighbours(d, newest, err);
}

bool detect_advance(struct bisector *bisector, struct err *err)
{
	CLEANUP(snapshots_release) struct snapshots snapshots = {0};
	CLEANUP(detector_release) struct detector d = {.bisector = bisector};
	size_t n;

	if (!toolchain_current(bisector->db, &d.toolchain, err) ||
	    !classes_read_booting(bisector->db, &d.classes, err) ||
	    !snapshots_read(bisector->db, PLAN_SNAPSHOTS, &snapshots, err))
		return false;
	for (size_t i = 0; i < snapshots.n; i += n) {
		const struct snapshot *newest = &snapshots.v[i];

		for (n = 1; i + n < snapshots.n && newest[n].branch == newest->branch; n++)
			continue;
		if (!conf_has(bisector->settings->conf, "tree", newest->tree_name) ||
		    judge_branch(&d, newest, n, err))
			continue;
		err_wrap(err, "%s", newest->branch_name);
		if (!bisector_tolerates(bisector, err))
			return false;
	}
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Histories. */
#include "bisector/nightly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bisector/judge.h"
#include "bisector/plan.h"
#include "bisector/spans.h"
#include "bisector/watch.h"
#include "db/history.h"
#include "db/segment.h"
#include "db/tree.h"
#include "stats/compare.h"
#include "stats/estimate.h"
#include "stats/modes.h"
#include "stats/segment.h"

#define HISTORY_MIN 6	/* heads: two segments of three, and less says nothing */
#define RISE_Z	    3.5 /* one in 4,000 unchanged pairs of levels; fresh boots decide anyway */
#define GOOD_AGAIN  2.5 /* deviations by which a level lies nearer to good than to bad: 1 in 160 */
#define GOOD_HEADS  2	/* of the level that is good again, booted after the proof */

struct night {
	struct bisector *bisector;
	int64_t branch, snapshot; /* its newest */
	struct series_list series;
	struct candidates found;
};

static void night_release(struct night *night)
{
	series_list_release(&night->series);
	free(night->found.v);
}

/* One series, divided. */
struct divided {
	const struct series *series;
	struct watch_history history;
	struct segmentation parts;
	struct db_segment *levels; /* [parts.n] */
	struct modes modes;
};

static void divided_release(struct divided *d)
{
	watch_history_release(&d->history);
	segmentation_release(&d->parts);
	free(d->levels);
}

static size_t end_of(const struct divided *d, size_t part)
{
	return part + 1 < d->parts.n ? d->parts.starts[part + 1] : d->history.n;
}

static void divide(struct divided *d)
{
	AUTO_FREE double *y = xcalloc(d->history.n, sizeof(*y));

	for (size_t i = 0; i < d->history.n; i++)
		y[i] = d->history.v[i].y;
	segment_series(y, d->history.n, &segment_rule_history, &d->parts);
	d->levels = xcalloc(d->parts.n, sizeof(*d->levels));
	for (size_t k = 0; k < d->parts.n; k++) {
		size_t from = d->parts.starts[k], end = end_of(d, k);

		d->levels[k] = (struct db_segment){
			.first_commit = d->history.v[from].commit,
			.last_commit = d->history.v[end - 1].commit,
			.heads = end - from,
			.level = estimate_mean(y + from, end - from),
			.step = NAN,
		};
		if (k)
			d->levels[k].step = d->levels[k].level - d->levels[k - 1].level;
	}
}

/* Of the boots of all levels, about these. */
static void find_modes(struct divided *d)
{
	AUTO_FREE double *y = xcalloc(d->history.n_boots + 1, sizeof(*y));
	size_t part = 0;

	for (size_t i = 0; i < d->history.n_boots; i++) {
		while (d->history.head[i] >= end_of(d, part))
			part++;
		y[i] = d->history.boots[i] - d->levels[part].level;
	}
	modes_find(y, d->history.n_boots, &d->modes);
	if (d->modes.two)
		log_info("history of %s: its boots lie in two heaps, %.0f %% of them %.1f %% above "
			 "the others",
			 d->series->metric, 100 * d->modes.upper,
			 100 * compare_relative(d->modes.apart));
}

/* Deviation of a level. */
static double level_sd(const struct divided *d, size_t part)
{
	return sqrt(d->parts.noise.long_run / (double)d->levels[part].heads);
}

/* The first part that lies wholly after what is known as changed. */
static size_t first_open(const struct divided *d)
{
	size_t from = 0;

	for (size_t i = 0; i < d->history.n_past; i++) {
		const struct watched_past *p = &d->history.past[i];

		if (p->after >= d->history.n || strcmp(p->state, "confirmed") != 0)
			continue;
		for (size_t k = 0; k < d->parts.n; k++)
			if (d->parts.starts[k] <= p->after && k > from)
				from = k;
	}
	return from;
}

/* A candidate, whatever came of it, compared these two levels. */
static bool was_asked(const struct divided *d, size_t low, size_t last)
{
	for (size_t i = 0; i < d->history.n_past; i++) {
		const struct watched_past *p = &d->history.past[i];

		if (p->before < end_of(d, low) && p->after < d->history.n &&
		    p->after >= d->parts.starts[last])
			return true;
	}
	return false;
}

/* The newest level against the best one since the last confirmed change. */
static void find_rise(struct night *night, const struct divided *d)
{
	size_t last = d->parts.n - 1, low = first_open(d);
	double rise, z;

	for (size_t k = low; k < last; k++)
		if (d->levels[k].level < d->levels[low].level)
			low = k;
	if (low == last)
		return;
	rise = d->levels[last].level - d->levels[low].level;
	z = rise / hypot(level_sd(d, low), level_sd(d, last));
	if (rise < bisector_min_effect(night->bisector, d->series->metric) || z < RISE_Z ||
	    was_asked(d, low, last))
		return;
	*array_push(night->found.v, night->found.n, night->found.cap) = (struct candidate){
		.series = d->series->id,
		.before_image = d->history.v[end_of(d, low) - 1].image,
		.before_commit = d->levels[low].last_commit,
		.after_image = d->history.v[d->history.n - 1].image,
		.after_commit = d->levels[last].last_commit,
		.branch = night->branch,
		.state = "confirming",
		.seed = bisector_seed(),
		.effect = rise,
		.z = z,
		.by_history = true,
	};
}

/* Whether enough heads of the last level were booted after the proof. */
static bool seen_since(struct night *night, const struct divided *d, int64_t regression, bool *yes,
		       struct err *err)
{
	size_t n = 0;

	for (size_t i = d->history.n; i-- > d->parts.starts[d->parts.n - 1] && n < GOOD_HEADS;) {
		if (!history_is_after(night->bisector->db, regression, d->history.v[i].image, yes,
				      err))
			return false;
		n += *yes;
	}
	*yes = n >= GOOD_HEADS;
	return true;
}

static bool close_one(struct night *night, const struct divided *d,
		      const struct db_open_regression *r, struct err *err)
{
	double sign = better_sign(better_parse(d->series->direction)), floor = d->series->floor;
	size_t last = d->parts.n - 1;
	double good = sign * log(r->before + floor), bad = sign * log(r->after + floor);
	double margin = 0.5 * (good + bad) - d->levels[last].level;
	bool yes;

	if (!(margin > GOOD_AGAIN * level_sd(d, last)))
		return true;
	if (!seen_since(night, d, r->id, &yes, err))
		return false;
	if (!yes)
		return true;
	log_info("regression %lld: %s is good again", (long long)r->id, d->series->metric);
	return history_fixed(night->bisector->db, r->id, d->levels[last].first_commit, err);
}

static bool close_recovered(struct night *night, const struct divided *d, struct err *err)
{
	AUTO_FREE struct db_open_regression *open = NULL;
	size_t n;

	if (!history_regressions(night->bisector->db, d->series->id, night->branch, &open, &n, err))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!close_one(night, d, &open[i], err))
			return false;
	return true;
}

static bool store(struct night *night, const struct divided *d, struct err *err)
{
	AUTO_FREE int64_t *commits = xcalloc(d->history.n, sizeof(*commits));
	AUTO_FREE double *down_to = xcalloc(d->history.n, sizeof(*down_to));
	const struct db_history history = {
		.series = d->series->id,
		.branch = night->branch,
		.heads = d->history.n,
		.sd = d->parts.noise.sd,
		.rho = d->parts.noise.rho,
		.down_to = d->history.down_to,
		.mode_apart = d->modes.two ? d->modes.apart : NAN,
		.mode_upper = d->modes.two ? d->modes.upper : NAN,
		.head_commits = commits,
		.head_down_to = down_to,
		.segments = d->levels,
		.n = d->parts.n,
	};

	for (size_t i = 0; i < d->history.n; i++) {
		commits[i] = d->history.v[i].commit;
		down_to[i] = d->history.v[i].down_to;
	}
	return history_store(night->bisector->db, &history, err);
}

static bool look_at(struct night *night, const struct series *series, struct err *err)
{
	CLEANUP(divided_release) struct divided d = {.series = series};

	if (!watch_history(night->bisector, series, night->branch, &d.history, err))
		return false;
	divide(&d);
	find_modes(&d);
	if (!store(night, &d, err))
		return false;
	if (bisector_judges(night->bisector, series) &&
	    !spans_make(night->bisector, series, night->branch, night->snapshot, &d.history, err))
		return false;
	if (d.history.n < HISTORY_MIN || !(d.parts.noise.sd > 0))
		return true;
	if (bisector_judges(night->bisector, series))
		find_rise(night, &d);
	return close_recovered(night, &d, err);
}

/* Candidates that turn out to be of one step. */
static bool merge(struct night *night, struct err *err)
{
	AUTO_FREE int64_t *ended = NULL;
	size_t n;

	if (!history_merge(night->bisector->db, night->branch, &ended, &n, err))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!job_cancel(night->bisector->db, ended[i], 0, 0,
				"another candidate has its step", err))
			return false;
	return true;
}

static bool look_at_branch(struct bisector *bisector, const struct snapshot *newest, double every_s,
			   struct err *err)
{
	CLEANUP(night_release)
	struct night night = {
		.bisector = bisector, .branch = newest->branch, .snapshot = newest->id};
	CLEANUP(db_tx_end) struct db *tx = NULL;
	AUTO_FREE int64_t *due = NULL;
	size_t n;

	if (!history_due(bisector->db, newest->branch, every_s, &due, &n, err))
		return false;
	if (!n)
		return true;
	if (!db_tx_begin(bisector->db, &tx, err) ||
	    !series_read(bisector->db, due, n, &night.series, err))
		return false;
	for (size_t i = 0; i < night.series.n; i++)
		if (!look_at(&night, &night.series.v[i], err))
			return false;
	return merge(&night, err) && db_tx_commit(&tx, err) &&
	       (!night.found.n || judge_raise(bisector, &night.series, &night.found, err));
}

bool nightly_advance(struct bisector *bisector, struct err *err)
{
	CLEANUP(snapshots_release) struct snapshots snapshots = {0};
	double every_s = conf_f64(bisector->settings->conf, "detect", NULL, "history-every");

	if (!(every_s > 0))
		return true;
	if (!snapshots_read(bisector->db, 1, &snapshots, err))
		return false;
	for (size_t i = 0; i < snapshots.n; i++) {
		const struct snapshot *s = &snapshots.v[i];

		if (!conf_has(bisector->settings->conf, "tree", s->tree_name) ||
		    look_at_branch(bisector, s, every_s, err))
			continue;
		err_wrap(err, "history of %s", s->branch_name);
		if (!bisector_tolerates(bisector, err))
			return false;
	}
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Pilots: one tree in several layouts, booted often; what its numbers scatter by. */
#include "bisector/kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bisector/boots.h"
#include "db/history.h"
#include "db/noise.h"
#include "db/request_work.h"
#include "stats/components.h"
#include "stats/estimate.h"

#define ITERATIONS_MAX 1000

struct pilot {
	struct bisector *bisector;
	const struct asked *ask;
	struct noise_boots boots;
	struct series_list list;
	json_t *told; /* of the result; borrowed */
};

static void layout_role(size_t layout, char role[8])
{
	snprintf(role, 8, "l%zu", layout % 1000000);
}

static bool all_built(const struct asked *ask, struct err *err)
{
	for (size_t i = 0; i < ask->n_commits; i++)
		if (ask->builds[i].state != BUILD_BUILT)
			return err_set(err, ERR_USAGE,
				       "layout %lld of the commit does not build: %.200s",
				       (long long)ask->layouts[i], ask->builds[i].error);
	return true;
}

/* Layouts in turn, in a random order, so that a drift of the machine is no layout's. */
static bool queue(struct bisector *bisector, const struct asked *ask, struct err *err)
{
	AUTO_FREE struct boots_side *sides = xcalloc(ask->n_commits, sizeof(*sides));
	AUTO_FREE char(*roles)[8] = xcalloc(ask->n_commits, sizeof(*roles));
	const struct boots_plan plan = {
		.purpose = "request",
		.owner = ask->id,
		.request = ask->id,
		.priority = JOB_PRIORITY_REQUEST,
		.class_id = ask->class_id,
		.only_machine = ask->machine,
		.suites = ask->suites,
		.n_suites = ask->n_suites,
		.sides = sides,
		.n_sides = ask->n_commits,
		.seed = (uint64_t)ask->id,
	};

	for (size_t i = 0; i < ask->n_commits; i++) {
		layout_role(i, roles[i]);
		sides[i] = (struct boots_side){roles[i], ask->commits[i], ask->builds[i].id,
					       ask->builds[i].image, NULL};
	}
	return boots_queue(bisector, &plan, 0, ask->boots, err);
}

/* What one boot gave, as logarithms appended to y; false: it has none. */
static bool add_boot(const struct noise_boot *from, double floor, struct components_boot *boot,
		     double *y)
{
	struct err err;

	*boot = (struct components_boot){.layout = strtoul(from->role + 1, NULL, 10), .y = y};
	for (size_t i = 0; i < from->n; i++)
		boot->n += estimate_log(from->values[i], floor, &y[boot->n], &err);
	return boot->n && estimate_log(from->number, floor, &boot->number, &err);
}

static double median_of(const struct noise_boot *boots, size_t n,
			double (*value)(const struct noise_boot *boot))
{
	AUTO_FREE double *x = xcalloc(n, sizeof(*x));
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (value(&boots[i]) > 0)
			x[k++] = value(&boots[i]);
	return k ? estimate_median(x, k) : NAN;
}

static double others_s(const struct noise_boot *boot)
{
	return boot->others_s;
}

static double iteration_s(const struct noise_boot *boot)
{
	return boot->n ? boot->run_s / (double)boot->n : NAN;
}

static void tell_detectable(json_t *obj, const struct components *c, bool built, const char *name)
{
	static const size_t boots[] = {2, 4, 8};

	for (size_t i = 0; i < ARRAY_SIZE(boots); i++) {
		char key[48];

		snprintf(key, sizeof(key), "%s_%zu", name, boots[i]);
		js_set_f64(obj, key, components_detectable(c, boots[i], built));
	}
}

static json_t *tell(const struct pilot *pilot, const struct series *series,
		    const struct components *c, const struct noise_row *row, double mean)
{
	json_t *obj = kind_series(pilot->bisector, series);

	js_set_i64(obj, "n", (int64_t)c->boots);
	js_set_i64(obj, "layouts", (int64_t)c->layouts);
	js_set_f64(obj, "iterations", c->iterations);
	js_set_f64(obj, "mean", mean);
	js_set_f64(obj, "sd_iteration", row->sd_iteration);
	js_set_f64(obj, "sd_boot", row->sd_boot);
	js_set_f64(obj, "sd_layout", row->sd_layout);
	js_set_f64(obj, "sd", row->sd);
	js_set_f64(obj, "boot_s", row->boot_s);
	js_set_f64(obj, "iteration_s", row->iteration_s);
	if (row->best_iterations)
		js_set_i64(obj, "best_iterations", row->best_iterations);
	else
		js_set_new(obj, "best_iterations", json_null());
	tell_detectable(obj, c, true, "detectable");
	tell_detectable(obj, c, false, "detectable_same_build");
	return obj;
}

static struct noise_row row_of(const struct pilot *pilot, const struct series *series,
			       const struct components *c, const struct noise_boot *boots, size_t n)
{
	struct noise_row row = {
		.request = pilot->ask->id,
		.series = series->id,
		.last_boot = boots[n - 1].boot,
		.layouts = c->layouts,
		.boots = c->boots,
		.iterations = c->iterations,
		.sd_iteration = sqrt(c->iteration),
		.sd_boot = sqrt(c->boot),
		.sd_layout = sqrt(c->layout),
		.sd = c->sd,
		.df = c->df,
		.boot_s = median_of(boots, n, others_s),
		.iteration_s = median_of(boots, n, iteration_s),
	};

	row.best_iterations = components_iterations(c, row.boot_s, row.iteration_s, ITERATIONS_MAX);
	return row;
}

/* The boots [boots, boots + n) are those of the series. */
static bool judge_series(struct pilot *pilot, const struct series *series,
			 const struct noise_boot *boots, size_t n, struct err *err)
{
	AUTO_FREE struct components_boot *of = xcalloc(n, sizeof(*of));
	AUTO_FREE double *numbers = xcalloc(n, sizeof(*numbers));
	AUTO_FREE double *y = NULL;
	struct components c;
	struct noise_row row;
	size_t k = 0, used = 0, all = 0;

	for (size_t i = 0; i < n; i++)
		all += boots[i].n;
	y = xcalloc(all, sizeof(*y));
	for (size_t i = 0; i < n; i++) {
		if (!add_boot(&boots[i], series->floor, &of[k], y + used))
			continue;
		used += of[k].n;
		numbers[k] = of[k].number;
		k++;
	}
	if (!k)
		return true;
	components_find(of, k, &c);
	if (isnan(c.sd))
		return true;
	row = row_of(pilot, series, &c, boots, n);
	json_array_append_new(pilot->told, tell(pilot, series, &c, &row,
						exp(estimate_mean(numbers, k)) - series->floor));
	return noise_add(pilot->bisector->db, &row, err);
}

static bool judge_all(struct pilot *pilot, struct err *err)
{
	const struct noise_boots *boots = &pilot->boots;

	for (size_t from = 0, to; from < boots->n; from = to) {
		const struct series *series = series_find(&pilot->list, boots->v[from].series);

		for (to = from; to < boots->n && boots->v[to].series == boots->v[from].series;)
			to++;
		if (series && !judge_series(pilot, series, boots->v + from, to - from, err))
			return false;
	}
	return true;
}

static bool read_series(struct pilot *pilot, struct err *err)
{
	AUTO_FREE int64_t *ids = xcalloc(pilot->boots.n, sizeof(*ids));
	size_t n = 0;

	for (size_t i = 0; i < pilot->boots.n; i++)
		if (!n || ids[n - 1] != pilot->boots.v[i].series)
			ids[n++] = pilot->boots.v[i].series;
	return series_read(pilot->bisector->db, ids, n, &pilot->list, err);
}

static bool finish(struct pilot *pilot, const struct request *request,
		   const struct boots_progress *progress, struct err *err)
{
	CLEANUP(history_commit_release) struct history_commit commit = {0};
	AUTO_JSON *result = json_object();

	if (!commit_read(pilot->bisector->db, pilot->ask->commits[0], &commit, err))
		return false;
	pilot->told = json_array();
	js_set_str(result, "oid", commit.oid);
	js_set_str(result, "subject", commit.subject);
	js_set_str(result, "machine", js_str_or(request->args, "machine", NULL));
	js_set_i64(result, "layouts", (int64_t)pilot->ask->n_commits);
	js_set_i64(result, "boots", (int64_t)progress->done);
	js_set_i64(result, "boots_failed", (int64_t)(progress->failed + progress->kernel_bad));
	js_set_str(result, "error", progress->error);
	js_set_new(result, "series", pilot->told);
	return judge_all(pilot, err) &&
	       request_finish(pilot->bisector->db, pilot->ask->id, result, err);
}

bool kind_noise(struct bisector *bisector, const struct request *request, struct asked *ask,
		struct err *err)
{
	struct pilot pilot = {.bisector = bisector, .ask = ask};
	CLEANUP(work_jobs_release) struct work_jobs jobs = {0};
	struct boots_progress progress;
	size_t open;
	bool ok;

	if (!asked_builds(bisector, ask, &open, err) || (!open && !all_built(ask, err)))
		return false;
	if (open)
		return true;
	if (!queue(bisector, ask, err) ||
	    !work_jobs_read(bisector->db, 0, 0, ask->id, "request", &jobs, err))
		return false;
	progress = boots_progress(&jobs, NULL);
	if (progress.open)
		return true;
	ok = noise_boots_read(bisector->db, ask->id, &pilot.boots, err) &&
	     read_series(&pilot, err) && finish(&pilot, request, &progress, err);
	noise_boots_release(&pilot.boots);
	series_list_release(&pilot.list);
	return ok;
}

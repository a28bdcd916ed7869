// SPDX-License-Identifier: GPL-2.0-or-later
/* Runs and comparisons by hand. */
#include "bisector/kinds.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bisector/boots.h"
#include "bisector/pair.h"
#include "db/history.h"
#include "db/request_work.h"
#include "stats/compare.h"
#include "stats/estimate.h"

#define RUNNING "running" /* role of the one kernel that nobody built */

/* Boots of a request and their numbers. */
struct gathered {
	struct work_jobs jobs;
	struct estimates estimates;
	struct series_list list;
};

static void gathered_release(struct gathered *g)
{
	work_jobs_release(&g->jobs);
	free(g->estimates.v);
	series_list_release(&g->list);
}

static bool gather(struct bisector *bisector, int64_t request, struct gathered *g, struct err *err)
{
	const struct estimate_filter filter = {.request = request, .purpose = "request"};

	return work_jobs_read(bisector->db, 0, 0, request, "request", &g->jobs, err) &&
	       estimates_read(bisector->db, &filter, &g->estimates, err) &&
	       estimates_series(bisector->db, &g->estimates, &g->list, err);
}

static struct boots_plan plan_of(const struct asked *ask, const struct boots_side *sides, size_t n)
{
	return (struct boots_plan){
		.purpose = "request",
		.owner = ask->id,
		.request = ask->id,
		.priority = JOB_PRIORITY_REQUEST,
		.class_id = ask->class_id,
		.suites = ask->suites,
		.n_suites = ask->n_suites,
		.sides = sides,
		.n_sides = n,
		.seed = (uint64_t)ask->id, /* the row's own number: stored, and no choice of ours */
	};
}

json_t *kind_series(const struct bisector *bisector, const struct series *s)
{
	json_t *obj = json_object();

	js_set_i64(obj, "series", s->id);
	js_set_str(obj, "benchmark", s->benchmark);
	js_set_str(obj, "pass", s->pass);
	js_set_str(obj, "metric", s->metric);
	js_set_str(obj, "unit", s->unit);
	js_set_str(obj, "direction", s->direction);
	js_set_bool(obj, "judged", bisector_judges(bisector, s));
	return obj;
}

static void side_boots(json_t *obj, const struct gathered *g, const char *role)
{
	struct boots_progress boots = boots_progress(&g->jobs, role);

	js_set_i64(obj, "boots", (int64_t)boots.done);
	js_set_i64(obj, "boots_failed", (int64_t)(boots.failed + boots.kernel_bad));
	if (boots.error)
		js_set_str(obj, "error", boots.error);
}

static void run_series(const struct bisector *bisector, const struct gathered *g,
		       const struct series *series, const char *role, json_t *list)
{
	AUTO_FREE double *values = xcalloc(g->estimates.n, sizeof(*values));
	AUTO_FREE double *logs = xcalloc(g->estimates.n, sizeof(*logs));
	size_t n = bisector_values(&g->estimates, series, role, 0, 0, values);
	struct err err;
	double mean;
	json_t *obj;

	if (!n || !estimate_geomean(values, n, series->floor, &mean, &err))
		return;
	bisector_logs(&g->estimates, series, role, 0, 0, logs);
	obj = kind_series(bisector, series);
	js_set_i64(obj, "n", (int64_t)n);
	js_set_f64(obj, "mean", mean);
	js_set_f64(obj, "sd", n > 1 ? estimate_sd(logs, n) : NAN);
	json_array_append_new(list, obj);
}

static bool run_commit(struct bisector *bisector, const struct asked *ask, size_t i,
		       const char *role, const struct gathered *g, json_t *list, struct err *err)
{
	static const char *const states[] = {
		[BUILD_ABSENT] = "broken", [BUILD_PENDING] = "broken", [BUILD_BUILT] = "built",
		[BUILD_FAILED] = "failed", [BUILD_BROKEN] = "broken",
	};
	CLEANUP(history_commit_release) struct history_commit commit = {0};
	json_t *obj, *series;

	if (!commit_read(bisector->db, ask->commits[i], &commit, err))
		return false;
	obj = json_object();
	series = json_array();
	js_set_str(obj, "oid", commit.oid);
	js_set_str(obj, "subject", commit.subject);
	js_set_str(obj, "build", states[ask->builds[i].state]);
	js_set_str(obj, "error", *ask->builds[i].error ? ask->builds[i].error : NULL);
	side_boots(obj, g, role);
	for (size_t k = 0; k < g->list.n; k++)
		run_series(bisector, g, &g->list.v[k], role, series);
	js_set_new(obj, "series", series);
	json_array_append_new(list, obj);
	return true;
}

static void run_running(const struct bisector *bisector, const struct gathered *g, const char *role,
			json_t *list)
{
	json_t *obj = json_object(), *series = json_array();

	js_set_str(obj, "oid", NULL);
	js_set_str(obj, "subject", "the running kernel");
	js_set_str(obj, "build", "none");
	side_boots(obj, g, role);
	for (size_t k = 0; k < g->list.n; k++)
		run_series(bisector, g, &g->list.v[k], role, series);
	js_set_new(obj, "series", series);
	json_array_append_new(list, obj);
}

static void role_name(size_t i, char role[8])
{
	snprintf(role, 8, "c%zu", i % 1000000);
}

static bool run_result(struct bisector *bisector, const struct asked *ask, const struct gathered *g,
		       struct err *err)
{
	AUTO_JSON *result = json_object();
	json_t *list = json_array();
	char role[8];

	js_set_new(result, "commits", list);
	if (ask->running)
		run_running(bisector, g, RUNNING, list);
	for (size_t i = 0; i < ask->n_commits; i++) {
		role_name(i, role);
		if (!run_commit(bisector, ask, i, role, g, list, err))
			return false;
	}
	return request_finish(bisector->db, ask->id, result, err);
}

static bool queue_running(struct bisector *bisector, const struct asked *ask, struct err *err)
{
	const struct boots_side side = {.role = RUNNING};
	const struct boots_plan plan = plan_of(ask, &side, 1);

	return boots_queue(bisector, &plan, 0, ask->boots, err);
}

bool kind_run(struct bisector *bisector, const struct request *request _unused, struct asked *ask,
	      struct err *err)
{
	CLEANUP(gathered_release) struct gathered g = {0};
	size_t builds_open;
	char role[8];

	if (!asked_builds(bisector, ask, &builds_open, err) ||
	    (ask->running && !queue_running(bisector, ask, err)))
		return false;
	for (size_t i = 0; i < ask->n_commits; i++) {
		const struct boots_side side = {role, ask->commits[i], ask->builds[i].id,
						ask->builds[i].image, NULL};
		const struct boots_plan plan = plan_of(ask, &side, 1);

		role_name(i, role);
		if (ask->builds[i].state == BUILD_BUILT &&
		    !boots_queue(bisector, &plan, 0, ask->boots, err))
			return false;
	}
	if (!gather(bisector, ask->id, &g, err))
		return false;
	return builds_open || boots_progress(&g.jobs, NULL).open ||
	       run_result(bisector, ask, &g, err);
}

static bool compare_one(const struct bisector *bisector, const struct gathered *g,
			const struct series *series, json_t *list, struct err *err)
{
	struct comparison c;
	json_t *obj;

	if (!pair_compare(bisector->db, &g->estimates, series, &c, err))
		return false;
	if (!c.before_n || !c.after_n)
		return true;
	obj = kind_series(bisector, series);
	js_set_i64(obj, "before_n", (int64_t)c.before_n);
	js_set_f64(obj, "before_mean", c.before_mean);
	js_set_i64(obj, "after_n", (int64_t)c.after_n);
	js_set_f64(obj, "after_mean", c.after_mean);
	js_set_f64(obj, "effect", c.effect);
	js_set_f64(obj, "lo", c.lo);
	js_set_f64(obj, "hi", c.hi);
	js_set_f64(obj, "p", c.p);
	js_set_bool(obj, "significant", c.significant);
	js_set_f64(obj, "mde", c.mde);
	js_set_str(obj, "test", compare_test_name(c.test));
	json_array_append_new(list, obj);
	return true;
}

static bool compare_side(struct bisector *bisector, const struct asked *ask, size_t i,
			 const struct gathered *g, json_t *result, struct err *err)
{
	static const char *const roles[] = {"before", "after"};
	CLEANUP(history_commit_release) struct history_commit commit = {0};
	json_t *side;

	if (!commit_read(bisector->db, ask->commits[i], &commit, err))
		return false;
	side = json_object();
	js_set_str(side, "oid", commit.oid);
	js_set_str(side, "subject", commit.subject);
	js_set_i64(side, "image", ask->builds[i].image);
	side_boots(side, g, roles[i]);
	js_set_new(result, roles[i], side);
	return true;
}

static bool compare_result(struct bisector *bisector, const struct asked *ask,
			   const struct gathered *g, struct err *err)
{
	AUTO_JSON *result = json_object();
	json_t *list = json_array();

	js_set_new(result, "series", list);
	js_set_bool(result, "identical", ask->builds[0].image == ask->builds[1].image);
	if (!compare_side(bisector, ask, 0, g, result, err) ||
	    !compare_side(bisector, ask, 1, g, result, err))
		return false;
	for (size_t i = 0; i < g->list.n; i++)
		if (!compare_one(bisector, g, &g->list.v[i], list, err))
			return false;
	return request_finish(bisector->db, ask->id, result, err);
}

bool kind_compare(struct bisector *bisector, const struct request *request _unused,
		  struct asked *ask, struct err *err)
{
	CLEANUP(gathered_release) struct gathered g = {0};
	size_t open;

	if (!asked_builds(bisector, ask, &open, err) || (!open && !asked_ends_built(ask, err)))
		return false;
	if (open)
		return true;
	if (ask->builds[0].image != ask->builds[1].image) {
		const struct boots_side sides[] = {
			{"before", ask->commits[0], ask->builds[0].id, ask->builds[0].image, NULL},
			{"after", ask->commits[1], ask->builds[1].id, ask->builds[1].image, NULL},
		};
		const struct boots_plan plan = plan_of(ask, sides, 2);

		if (!boots_queue(bisector, &plan, 0, ask->boots, err))
			return false;
	}
	if (!gather(bisector, ask->id, &g, err))
		return false;
	return boots_progress(&g.jobs, NULL).open || compare_result(bisector, ask, &g, err);
}

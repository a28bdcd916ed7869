// SPDX-License-Identifier: GPL-2.0-or-later
/* Bisections by hand. */
#include "bisector/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bisector/boots.h"
#include "bisector/start.h"
#include "db/request_work.h"

static bool finish(struct bisector *bisector, int64_t request, int64_t bisection,
		   const struct bisection_summary *s, struct err *err)
{
	AUTO_JSON *result = json_object();

	if (bisection)
		js_set_i64(result, "bisection", bisection);
	else
		js_set_str(result, "bisection", NULL);
	js_set_str(result, "outcome", s->outcome);
	js_set_str(result, "culprit", s->culprit_oid);
	js_set_str(result, "subject", s->culprit_subject);
	js_set_f64(result, "posterior", s->posterior);
	if (s->regression)
		js_set_i64(result, "regression", s->regression);
	else
		js_set_str(result, "regression", NULL);
	if (s->second) {
		js_set_i64(result, "second_bisection", s->second);
		js_set_str(result, "second_culprit", s->second_oid);
	}
	js_set_i64(result, "boots", s->boots);
	js_set_str(result, "reason", s->reason);
	return request_finish(bisector->db, request, result, err);
}

static bool same_image(struct bisector *bisector, int64_t request, struct err *err)
{
	CLEANUP(bisection_summary_release)
	struct bisection_summary s = {
		.outcome = xstrdup("none"),
		.reason = xstrdup("good and bad are the same image: nothing can differ"),
		.posterior = NAN,
	};

	return finish(bisector, request, 0, &s, err);
}

/* The series that the request means, among those that a boot of its bad end gave. */
static const struct series *pick(const struct series_list *list, const char *metric,
				 const char *pass)
{
	const struct series *best = NULL;

	for (size_t i = 0; i < list->n; i++) {
		const struct series *s = &list->v[i];

		if (strcmp(s->metric, metric) || (pass && strcmp(s->pass, pass)))
			continue;
		if (!best || (!strcmp(s->pass, "clean") && strcmp(best->pass, "clean")))
			best = s;
	}
	return best;
}

static bool unknown_metric(const struct series_list *list, const char *metric, struct err *err)
{
	CLEANUP(strs_release) struct strs names = STRS_INIT;
	AUTO_FREE char *text = NULL;

	for (size_t i = 0; i < list->n; i++)
		if (!strs_has(&names, list->v[i].metric))
			strs_push(&names, list->v[i].metric);
	text = strs_join(&names, ", ");
	return err_set(err, ERR_NOTFOUND, "metric %s is not measured there; there are: %s", metric,
		       text);
}

static bool failing(const struct request *request)
{
	return js_bool_or(request->args, "boot_failure", false);
}

static bool start(struct bisector *bisector, const struct request *request, const struct asked *ask,
		  const struct series *series, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	double relative = js_f64_or(request->args, "min_effect", 0);
	struct bisection bisection = {
		.request = ask->id,
		.tree = ask->tree,
		.series = series->id,
		.suite = ask->n_suites == 1 ? ask->suites[0] : series->suite,
		.class_id = ask->class_id,
		.recipe = ask->recipe,
		.toolchain = ask->toolchain,
		.good = ask->commits[0],
		.bad = ask->commits[1],
		.min_effect = relative > 0	 ? log1p(relative)
			      : failing(request) ? log(2) / 2
						 : bisector_min_effect(bisector, series->metric),
		.budget_boots = (int)js_i64_or(request->args, "budget",
					       conf_i64(conf, "bisect", NULL, "budget")),
	};

	if (bisection.budget_boots < 1)
		return err_set(err, ERR_USAGE, "budget: at least 1 boot");
	return start_bisection(bisector, &bisection, err);
}

/* The search itself boots both ends: whether the bad one fails is its first question. */
static bool start_boots(struct bisector *bisector, const struct request *request,
			const struct asked *ask, struct err *err)
{
	struct series series = {.metric = (char *)"boots_failed", .suite = ask->suites[0]};

	return series_of_boots(bisector->db, ask->class_id, ask->recipe, ask->toolchain, &series.id,
			       err) &&
	       start(bisector, request, ask, &series, err);
}

/* One boot of the bad end tells which series the metric is. */
static bool find_series(struct bisector *bisector, const struct request *request,
			const struct asked *ask, struct err *err)
{
	const struct boots_side side = {"after", ask->commits[1], ask->builds[1].id,
					ask->builds[1].image, NULL};
	const struct boots_plan plan = {
		.purpose = "request",
		.owner = ask->id,
		.request = ask->id,
		.priority = JOB_PRIORITY_REQUEST,
		.class_id = ask->class_id,
		.suites = ask->suites,
		.n_suites = ask->n_suites,
		.sides = &side,
		.n_sides = 1,
	};
	const struct estimate_filter filter = {.request = ask->id, .purpose = "request"};
	CLEANUP(series_list_release) struct series_list list = {0};
	CLEANUP(work_jobs_release) struct work_jobs jobs = {0};
	struct estimates estimates = {0};
	AUTO_FREE struct estimate *owned = NULL;
	const struct series *series;
	struct boots_progress boots;
	const char *metric;
	bool fine;

	if (!asked_text(request->args, "metric", &metric, err) ||
	    !boots_queue(bisector, &plan, 0, 1, err) ||
	    !work_jobs_read(bisector->db, 0, 0, ask->id, "request", &jobs, err))
		return false;
	boots = boots_progress(&jobs, NULL);
	if (boots.open)
		return true;
	if (!boots.done)
		return err_set(err, ERR_USAGE, "the bad end does not boot: %s",
			       boots.error ? boots.error : "no reason was given");
	fine = estimates_read(bisector->db, &filter, &estimates, err);
	owned = estimates.v;
	if (!fine || !estimates_series(bisector->db, &estimates, &list, err))
		return false;
	series = pick(&list, metric, js_str_or(request->args, "pass", NULL));
	return series ? start(bisector, request, ask, series, err)
		      : unknown_metric(&list, metric, err);
}

bool kind_bisect(struct bisector *bisector, const struct request *request, struct asked *ask,
		 struct err *err)
{
	CLEANUP(bisection_summary_release) struct bisection_summary summary = {0};
	struct bisection bisection;
	size_t open;

	if (!bisection_of(bisector->db, 0, ask->id, &bisection, err))
		return false;
	if (!bisection.id) {
		if (!asked_builds(bisector, ask, &open, err))
			return false;
		if (open)
			return true;
		if (!asked_ends_built(ask, err))
			return false;
		if (ask->builds[0].image == ask->builds[1].image)
			return same_image(bisector, ask->id, err);
		if (failing(request))
			return start_boots(bisector, request, ask, err);
		return find_series(bisector, request, ask, err);
	}
	if (!bisection_summary_read(bisector->db, bisection.id, &summary, err))
		return false;
	if (!strcmp(summary.state, "done"))
		return finish(bisector, ask->id, bisection.id, &summary, err);
	return strcmp(summary.state, "cancelled") ||
	       request_fail(bisector->db, ask->id, "its bisection was cancelled", err);
}

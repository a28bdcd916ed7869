// SPDX-License-Identifier: GPL-2.0-or-later
/* Canaries: when, and what they say. */
#include "bisector/health.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "db/job.h"
#include "stats/compare.h"
#include "stats/estimate.h"

#define MOST_HISTORY 30 /* a level that creeps for months is no news to the day */
#define LEAST_SD     1e-4

bool health_drift(const double *values, size_t n, double floor, struct drift *out)
{
	double logs[MOST_HISTORY + 1], mean, sd, t;
	size_t kept = 0;

	for (size_t i = 0; i < n && kept < ARRAY_SIZE(logs); i++)
		if (values[i] + floor > 0)
			logs[kept++] = log(values[i] + floor);
		else if (i == 0)
			return false;
	if (kept < HEALTH_HISTORY + 1)
		return false;
	out->n = kept - 1;
	mean = estimate_mean(logs + 1, out->n);
	sd = fmax(estimate_sd(logs + 1, out->n), LEAST_SD);
	t = (logs[0] - mean) / (sd * sqrt(1 + 1.0 / (double)out->n));
	out->percent = 100 * expm1(logs[0] - mean);
	out->p = 2 * estimate_t_upper(fabs(t), (double)(out->n - 1));
	return true;
}

/* What a canary's numbers say, by series. */
struct reading {
	size_t told;	   /* series that have a history */
	size_t judged;	   /* that can say something */
	const char *worst; /* metric of the smallest p that is off by more than is worth telling */
	struct drift drift;
};

static void take(struct bisector *bisector, const struct series *series, const double *values,
		 size_t n, struct reading *r)
{
	double least = 100 * bisector_min_effect(bisector, series->metric);
	struct drift d;

	if (!bisector_judges(bisector, series))
		return;
	r->told++;
	if (!health_drift(values, n, series->floor, &d))
		return;
	r->judged++;
	if (fabs(d.percent) >= least && (!r->worst || d.p < r->drift.p)) {
		r->worst = series->metric;
		r->drift = d;
	}
}

/* The pulses of one series are neighbours, the fresh one first; without one it says nothing. */
static void take_all(struct bisector *bisector, const struct pulse *pulses, size_t n,
		     const struct series_list *list, struct reading *r)
{
	AUTO_FREE double *values = xcalloc(n + 1, sizeof(*values));

	for (size_t from = 0, end; from < n; from = end) {
		const struct series *series = series_find(list, pulses[from].series);

		for (end = from; end < n && pulses[end].series == pulses[from].series; end++)
			values[end - from] = pulses[end].value;
		if (series && pulses[from].fresh)
			take(bisector, series, values, end - from, r);
	}
}

static bool read_pulses(struct bisector *bisector, const struct patient *p,
			struct series_list *list, struct reading *r, struct err *err)
{
	AUTO_FREE struct pulse *pulses = NULL;
	AUTO_FREE int64_t *ids = NULL;
	size_t n, n_ids = 0;

	if (!pulses_read(bisector->db, p, &pulses, &n, err))
		return false;
	ids = xcalloc(n + 1, sizeof(*ids));
	for (size_t i = 0; i < n; i++)
		if (!i || pulses[i].series != pulses[i - 1].series)
			ids[n_ids++] = pulses[i].series;
	if (!series_read(bisector->db, ids, n_ids, list, err))
		return false;
	take_all(bisector, pulses, n, list, r);
	return true;
}

static bool pass(struct bisector *bisector, const struct patient *p, const char *text,
		 struct err *err)
{
	AUTO_FREE char *note = xasprintf("a canary passed: %s", text);

	if (!canary_judged(bisector->db, p, "passed", text, err))
		return false;
	if (!p->quarantined)
		return true;
	log_info("machine %s: back in service: %s", p->name, note);
	return patient_return(bisector->db, p->id, note, err);
}

/* Once may be a bad moment: the second in a row, at once, is the machine. */
static bool drifted(struct bisector *bisector, const struct patient *p, const char *text,
		    struct err *err)
{
	AUTO_FREE char *note = xasprintf("drifted from its own history: %s", text);

	log_warn("machine %s: %s", p->name, note);
	if (!canary_judged(bisector->db, p, "drifted", text, err))
		return false;
	return p->quarantined || p->drifted < 1 ||
	       patient_quarantine(bisector->db, p->id, note, err);
}

static bool failed(struct bisector *bisector, const struct patient *p, struct err *err)
{
	const char *why = p->unjudged_error ? p->unjudged_error : "no reason was given";
	AUTO_FREE char *note = xasprintf("the known-good kernel failed on it: %s", why);

	log_warn("machine %s: its canary failed: %s", p->name, why);
	if (!canary_judged(bisector->db, p, "failed", why, err))
		return false;
	return p->quarantined || !p->machine_failed ||
	       patient_quarantine(bisector->db, p->id, note, err);
}

static bool judge(struct bisector *bisector, const struct patient *p, struct err *err)
{
	double alpha = conf_f64(bisector->settings->conf, "health", NULL, "alpha");
	CLEANUP(series_list_release) struct series_list list = {0};
	struct reading r = {0};
	AUTO_STR text = str_new();

	if (strcmp(p->unjudged_state, "done") != 0)
		return failed(bisector, p, err);
	if (!read_pulses(bisector, p, &list, &r, err))
		return false;
	if (r.worst && r.drift.p * (double)r.judged < alpha) {
		str_addf(&text, "%s is %+.1f %% off %zu earlier canaries (p %.2g)", r.worst,
			 r.drift.percent, r.drift.n, r.drift.p);
		return drifted(bisector, p, text.s, err);
	}
	if (r.judged)
		str_addf(&text, "%zu series are as they were", r.judged);
	else
		str_addf(&text, "no history yet (%d canaries are wanted)", HEALTH_HISTORY);
	return pass(bisector, p, text.s, err);
}

/* The one that the settings name, else the first that fits; 0 when none does. */
static int64_t suite_of(struct bisector *bisector, const struct patient *p)
{
	const char *name = conf_str(bisector->settings->conf, "health", NULL, "suite");
	AUTO_FREE int64_t *ids = NULL;
	size_t n = bisector_suites(bisector, NULL, p->class_name, &ids);

	for (size_t i = 0; i < n; i++) {
		const struct suite *s = bisector_suite(bisector, ids[i]);

		if (!name || (s && !strcmp(s->name, name)))
			return ids[i];
	}
	return 0;
}

static bool queue(struct bisector *bisector, const struct patient *p, bool firmware,
		  struct err *err)
{
	AUTO_FREE char *key = xasprintf("canary:%s:%d", p->name, p->n + 1);
	int64_t suite = suite_of(bisector, p), id;
	struct job job = {
		.key = key,
		.kind = (char *)"boot",
		.purpose = (char *)"canary",
		.role = firmware ? (char *)"firmware" : NULL,
		.priority = JOB_PRIORITY_CANARY,
		.build = p->build,
		.image = p->image,
		.commit = p->commit,
		.class_id = p->class_id,
		.only_machine = p->id,
		.suites = &suite,
		.n_suites = 1,
		.max_attempts = 2,
	};
	bool fresh;

	if (!suite)
		return err_set(err, ERR_USAGE,
			       "no suite of the settings fits: see [health] suite, [suite] class");
	return job_add(bisector->db, &job, &id, &fresh, err);
}

static bool is_due(const struct conf *conf, const struct patient *p)
{
	double every = conf_f64(conf, "health", NULL, p->quarantined ? "probe" : "canary");

	if (!p->quarantined && (p->recovered || p->drifted == 1))
		return true;
	return every > 0 && isfinite(p->since_s) && p->since_s >= every;
}

static bool advance(struct bisector *bisector, const struct patient *p, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	int64_t every = conf_i64(conf, "health", NULL, "firmware-every");

	if (p->unjudged)
		return judge(bisector, p, err);
	if (p->open)
		return true;
	if (is_due(conf, p))
		return queue(bisector, p, false, err);
	if (p->kexec && !p->quarantined && every > 0 && p->boots + 1 >= every)
		return queue(bisector, p, true, err);
	return true;
}

bool health_advance(struct bisector *bisector, struct err *err)
{
	CLEANUP(patients_release) struct patients patients = {0};

	if (!patients_read(bisector->db, &patients, err))
		return false;
	for (size_t i = 0; i < patients.n; i++) {
		const struct patient *p = &patients.v[i];

		if (advance(bisector, p, err))
			continue;
		err_wrap(err, "canary of machine %s", p->name);
		if (!bisector_tolerates(bisector, err))
			return false;
	}
	return true;
}

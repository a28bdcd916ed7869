// SPDX-License-Identifier: GPL-2.0-or-later
/* Waiting for an answer. */
#include "cli/wait.h"

#include <math.h>
#include <string.h>

#include "cli/progress.h"
#include "cli/stop.h"
#include "db/status.h"

/* Nothing is notified while a kernel builds or boots; the time shown still moves. */
#define LOOK_EVERY_S 1.0

static double eta_of(const struct request_progress *p)
{
	double s = 0;

	if (p->builds_open)
		s += (double)p->builds_open * p->build_s;
	if (p->boots_open)
		s += (double)p->boots_open * p->boot_s / (double)(p->machines ? p->machines : 1);
	return p->jobs ? s : NAN;
}

/* It would wait for ever: a person has to do something, or a canary. */
static void add_blocked(const struct request_progress *p, struct str *text)
{
	if (p->boots_open && !p->machines)
		str_addf(text,
			 "; waits: no machine of its class is in service%s%s%s; see `mmperf "
			 "machines`",
			 *p->out ? " (" : "", p->out, *p->out ? ")" : "");
}

static void add_jobs(const struct request_progress *p, struct str *text)
{
	if (!p->jobs) {
		str_add(text, p->hosts_alive ? "queued"
					     : "queued; no runner is alive, start "
					       "`mmperf up`");
		return;
	}
	str_addf(text, "%lld of %lld jobs done", (long long)p->ended, (long long)p->jobs);
	if (p->failed)
		str_addf(text, ", %lld failed", (long long)p->failed);
	if (!p->hosts_alive)
		str_add(text, "; no runner is alive, start `mmperf up`");
	else
		add_blocked(p, text);
}

/* A bisection tells how many boots it may use at most, and its best suspect. */
static bool add_bisection(struct db *db, int64_t bisection, const struct request_progress *p,
			  struct str *phase, struct str *text, double *eta_s, struct err *err)
{
	AUTO_JSON *doc = NULL;
	json_t *all, *best = NULL, *h;
	int64_t budget;
	size_t i;

	if (!status_bisection(db, bisection, &doc, err) ||
	    !js_get_array(doc, "hypotheses", &all, err))
		return false;
	json_array_foreach(all, i, h) if (!best || js_f64_or(h, "mass", 0) >
							   js_f64_or(best, "mass", 0)) best = h;
	budget = js_i64_or(doc, "budget", 0);
	str_add(phase, js_str_or(doc, "state", "?"));
	str_addf(text, "bisection %lld %s: %lld boots of at most %lld", (long long)bisection,
		 phase->s, (long long)p->boots, (long long)budget);
	if (best)
		str_addf(text, ", best suspect %.12s at %.2f", js_str_or(best, "oid", "none"),
			 js_f64_or(best, "mass", 0));
	add_blocked(p, text);
	*eta_s = (double)(budget > p->boots ? budget - p->boots : 0) * p->boot_s /
		 (double)(p->machines ? p->machines : 1);
	return true;
}

static bool show(struct db *db, const struct request *request, struct progress *progress,
		 struct err *err)
{
	AUTO_STR text = str_new(), phase = str_new();
	struct request_progress p;
	int64_t bisection;
	double eta_s;

	if (!request_bisection(db, request->id, &bisection, err) ||
	    !request_progress(db, request->id, bisection, &p, err))
		return false;
	str_addf(&text, "request %lld: ", (long long)request->id);
	eta_s = eta_of(&p);
	if (bisection) {
		if (!add_bisection(db, bisection, &p, &phase, &text, &eta_s, err))
			return false;
	} else {
		add_jobs(&p, &text);
		str_add(&phase, p.jobs ? "jobs" : "queued");
	}
	progress_show(progress, phase.s, text.s, eta_s, bisection != 0);
	return true;
}

static bool is_open(const struct request *request)
{
	return !strcmp(request->state, "queued") || !strcmp(request->state, "running");
}

static bool verdict(const struct request *request, struct err *err)
{
	if (!strcmp(request->state, "done"))
		return true;
	if (is_open(request))
		return err_set(
			err, ERR_FAILED,
			"interrupted; request %lld goes on: `mmperf status` shows it, `mmperf "
			"run --cancel %lld` ends it",
			(long long)request->id, (long long)request->id);
	return err_set(err, ERR_FAILED, "request %lld %s%s%s", (long long)request->id,
		       request->state, request->error ? ": " : "",
		       request->error ? request->error : "");
}

static bool look_until_ended(struct db *db, int64_t id, struct progress *progress,
			     struct request *out, struct err *err)
{
	for (;;) {
		bool got;

		request_release(out);
		if (!request_read(db, id, out, err))
			return false;
		if (!is_open(out) || *stop_flag())
			return verdict(out, err);
		if (!show(db, out, progress, err) ||
		    !db_wait(db, LOOK_EVERY_S, stop_flag(), -1, &got, err))
			return false;
	}
}

bool wait_for_request(struct session *session, int64_t id, struct request *out, struct err *err)
{
	CLEANUP(request_release) struct request request = {0};
	CLEANUP(progress_release) struct progress progress;
	struct db *db;

	progress_init(&progress, false);
	stop_on_signals();
	if (!session_db(session, &db, err) || !db_listen(db, "mmperf", err) ||
	    !look_until_ended(db, id, &progress, &request, err))
		return false;
	*out = request;
	request = (struct request){0};
	return true;
}

void wait_print_queued(struct session *session, const char *kind, int64_t id)
{
	AUTO_JSON *doc = json_object();

	if (session->json) {
		js_set_i64(doc, "request", id);
		js_set_str(doc, "kind", kind);
		js_set_str(doc, "state", "queued");
		session_print_json(doc);
		return;
	}
	printf("%s queued as request %lld; `mmperf status` shows how far it is\n", kind,
	       (long long)id);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Daemon: decides and remembers. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/repo.h"
#include "bisector/bisector.h"
#include "bisector/confirm.h"
#include "bisector/detect.h"
#include "bisector/health.h"
#include "bisector/nightly.h"
#include "bisector/plan.h"
#include "bisector/prove.h"
#include "bisector/request.h"
#include "bisector/search.h"
#include "bisector/sync.h"
#include "db/statistics.h"

#define LOCK_KEY 0x6d6d7062LL /* one bisector for one database */

static const double look_again_s = 30; /* what no notification tells: machines, time */
static const double retry_first_s = 0.5, retry_most_s = 30;
static const double statistics_every_s = 5;

static volatile int stop_requested;

static void on_signal(int number _unused)
{
	stop_requested = 1;
}

/* Its own questions are the ones that wrong plans make slow. */
static bool refresh_statistics(struct bisector *bisector, struct err *err)
{
	double now = clock_mono_s();

	if (now < bisector->statistics_due)
		return true;
	bisector->statistics_due = now + statistics_every_s;
	return statistics_refresh(bisector->db, err);
}

static bool advance_bisections(struct bisector *bisector, struct err *err)
{
	struct bisections open = {0};
	AUTO_FREE struct bisection *owned = NULL;
	bool fine = bisections_open(bisector->db, &open, err);

	owned = open.v;
	for (size_t i = 0; fine && i < open.n && !stop_requested; i++) {
		const struct bisection *b = &open.v[i];

		if (!strcmp(b->state, "proving") ? prove_advance(bisector, b, err)
						 : search_advance(bisector, b, err))
			continue;
		err_wrap(err, "bisection %lld", (long long)b->id);
		fine = bisector_tolerates(bisector, err);
	}
	return fine;
}

/* Everything that can be moved, once: first what a machine may be waiting for. False when the database is gone. */
static bool advance_all(struct bisector *bisector, struct err *err)
{
	static bool (*const parts[])(struct bisector *, struct err *) = {
		refresh_statistics, health_advance, request_advance, advance_bisections,
		confirm_advance,    detect_advance, plan_advance,    nightly_advance,
	};

	for (size_t i = 0; i < ARRAY_SIZE(parts) && !stop_requested; i++)
		if (!parts[i](bisector, err) && !bisector_tolerates(bisector, err))
			return false;
	return true;
}

static bool take_over(struct db *db, struct err *err)
{
	bool said = false, got = false, notified;

	while (!stop_requested) {
		if (!db_try_lock(db, LOCK_KEY, &got, err))
			return false;
		if (got)
			return true;
		if (!said)
			log_info("another mmperf-bisector works on this database; standing by");
		said = true;
		if (!db_wait(db, 1, &stop_requested, -1, &notified, err))
			return false;
	}
	return true;
}

/* Until a signal (true) or an error. ERR_DBDOWN is worth trying again. */
static bool serve(struct bisector *bisector, double *retry_s, bool once, struct err *err)
{
	CLEANUP(db_close_ptr) struct db *db = NULL;
	bool notified;

	if (!settings_open_db(bisector->settings, "mmperf_bisector", "mmperf-bisector", &db, err))
		return false;
	bisector->db = db;
	if (!take_over(db, err) || !sync_settings(bisector, err) || !db_listen(db, "mmperf", err))
		return false;
	if (*retry_s > retry_first_s)
		log_info("database: connected");
	*retry_s = retry_first_s;
	while (!stop_requested) {
		if (!advance_all(bisector, err))
			return false;
		if (once)
			break;
		if (!db_wait(db, look_again_s, &stop_requested, -1, &notified, err))
			return false;
	}
	return true;
}

static bool run(struct bisector *bisector, bool once, struct err *err)
{
	double retry_s = retry_first_s;

	while (!serve(bisector, &retry_s, once, err)) {
		if (err->kind != ERR_DBDOWN || once)
			return false;
		if (retry_s <= retry_first_s)
			log_warn("%s; trying again", err->msg);
		for (double waited = 0; waited < retry_s && !stop_requested; waited += 0.1)
			clock_sleep_s(0.1);
		if (stop_requested)
			return true;
		retry_s = fmin(2 * retry_s, retry_most_s);
	}
	return true;
}

static void catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static int serve_settings(const char *config, bool once)
{
	CLEANUP(settings_release) struct settings settings = {0};
	AUTO_FREE struct bisector *bisector = xcalloc(1, sizeof(*bisector));
	struct err err = {0};
	bool fine;

	repo_init();
	fine = settings_load(config, &settings, &err);
	if (fine) {
		catch_signals();
		bisector->settings = &settings;
		fine = run(bisector, once, &err);
		suites_release(&bisector->suites);
	}
	if (!fine)
		log_error("%s", err.msg);
	return fine ? 0 : err_exit_status(&err);
}

int main(int argc, char **argv)
{
	const char *config = NULL;
	bool once = false, verbose = false, help = false;
	const struct opt opts[] = {
		{'c', "config", OPT_STRING, &config, "FILE", "settings"},
		{0, "once", OPT_FLAG, &once, NULL, "do what there is to do, then end"},
		{'v', "verbose", OPT_FLAG, &verbose, NULL, "log more"},
		{0},
	};
	AUTO_STRS operands = STRS_INIT;
	struct err err = {0};

	log_set_program("bisector");
	if (!opt_parse(opts, argc, argv, &operands, &help, &err) || operands.n) {
		log_error("%s", operands.n ? "no arguments are wanted; see --help" : err.msg);
		return 2;
	}
	if (help) {
		printf("usage: mmperf-bisector [--config FILE] [--once]\n\n"
		       "Decides what is built and measured, confirms changes, finds and proves "
		       "the\n"
		       "commit that made them.\n\n");
		opt_help(opts, stdout);
		return 0;
	}
	if (verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	return serve_settings(config, once);
}

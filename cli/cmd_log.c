// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf log: what has happened. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/stop.h"
#include "db/status.h"

static void print_events(const json_t *events)
{
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		AUTO_STR line = str_new();

		str_addf(&line, "%.19s  %-10s ", js_str_or(event, "at", ""),
			 js_str_or(event, "kind", ""));
		show_safe(js_str_or(event, "text", ""), &line);
		puts(line.s);
	}
	fflush(stdout);
}

/* One object in one line, so that a reader can follow. */
static void print_lines(const json_t *events)
{
	json_t *event;
	size_t i;

	json_array_foreach(events, i, event)
	{
		AUTO_FREE char *text = js_text(event);

		puts(text);
	}
	fflush(stdout);
}

static void keep_last(const json_t *events, char **after)
{
	size_t n = json_array_size(events);

	if (!n)
		return;
	free(*after);
	*after = xstrdup(js_str_or(json_array_get(events, n - 1), "at", ""));
}

/* Much is notified while there is work; the events are looked up once in a while only. */
#define LOOK_EVERY_S 2.0

static bool follow(struct session *session, struct db *db, char **after, struct err *err)
{
	stop_on_signals();
	if (!*after && !status_time(db, 0, after, err))
		return false;
	if (!db_listen(db, "mmperf", err))
		return false;
	while (!*stop_flag()) {
		AUTO_JSON *events = NULL;
		bool got;

		if (!status_log(db, 1000, *after, &events, err))
			return false;
		if (session->json)
			print_lines(events);
		else
			print_events(events);
		keep_last(events, after);
		clock_sleep_s(LOOK_EVERY_S);
		if (!db_wait(db, 5, stop_flag(), -1, &got, err))
			return false;
	}
	return true;
}

static bool show_log(struct session *session, long long limit, double since_s, bool go_on,
		     struct err *err)
{
	AUTO_FREE char *after = NULL;
	AUTO_JSON *events = NULL;
	struct db *db;

	if (!session_db(session, &db, err) ||
	    (isfinite(since_s) && !status_time(db, since_s, &after, err)) ||
	    !status_log(db, limit, after, &events, err))
		return false;
	if (session->json && go_on)
		print_lines(events);
	else if (session->json)
		session_print_json(events);
	else
		print_events(events);
	keep_last(events, &after);
	return !go_on || follow(session, db, &after, err);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	double since_s = NAN;
	long long limit = 40;
	bool go_on = false, help;
	const struct opt opts[] = {
		{'n', "limit", OPT_INT, &limit, "N", "show the newest N events (40)"},
		{0, "since", OPT_SECONDS, &since_s, "TIME", "only of the last TIME, such as 2h"},
		{'f', "follow", OPT_FLAG, &go_on, NULL, "go on with new ones until interrupted"},
		{0},
	};
	AUTO_STRS none = STRS_INIT;

	if (!command_parse(session, &cmd_log, opts, argc, argv, 0, 0, &none, &help, err))
		return false;
	if (limit < 1)
		return err_set(err, ERR_USAGE, "log: --limit wants at least 1");
	return help || show_log(session, limit, since_s, go_on, err);
}

const struct command cmd_log = {
	.name = "log",
	.summary = "what has happened, newest last",
	.usage = "[-n N] [--since TIME] [--follow]",
	.about = "Snapshots, failed builds and boots, candidates and what became of them, "
		 "bisections,\n"
		 "regressions, mails and requests, each with its reason. Times are UTC.",
	.run = run,
};

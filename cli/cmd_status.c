// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf status: what is going on. */
#include <string.h>

#include "base/clock.h"
#include "cli/command.h"
#include "cli/session.h"
#include "cli/show.h"
#include "db/span.h"
#include "db/status.h"
#include "reports/twins.h"

static void print_machines(const json_t *rows)
{
	static const struct show_column columns[] = {
		{"MACHINE", "name", SHOW_TEXT, 0},     {"CLASS", "class", SHOW_TEXT, 0},
		{"STATE", "state", SHOW_TEXT, 0},      {"DOING", "doing", SHOW_TEXT, 40},
		{"FOR", "doing_s", SHOW_SPAN, 0},      {"SEEN", "seen_s", SHOW_SPAN, 0},
		{"FAILED", "failures", SHOW_COUNT, 0}, {0},
	};

	if (json_array_size(rows))
		show_table(rows, columns, stdout);
	else
		printf("no machines yet\n");
}

static void print_queue(const json_t *rows)
{
	static const struct show_column columns[] = {
		{"JOBS", "kind", SHOW_TEXT, 0},
		{"FOR", "purpose", SHOW_TEXT, 0},
		{"QUEUED", "queued", SHOW_COUNT, 0},
		{"RUNNING", "running", SHOW_COUNT, 0},
		{0},
	};

	if (json_array_size(rows))
		show_table(rows, columns, stdout);
	else
		printf("no jobs are queued or running\n");
}

static void print_totals(const json_t *t)
{
	printf("builds: %lld good, %lld failed, %lld to do; %lld images; %lld good boots; "
	       "%lld snapshots\n",
	       (long long)js_i64_or(t, "built", 0), (long long)js_i64_or(t, "failed", 0),
	       (long long)js_i64_or(t, "pending", 0), (long long)js_i64_or(t, "images", 0),
	       (long long)js_i64_or(t, "boots", 0), (long long)js_i64_or(t, "snapshots", 0));
	printf("regressions: %lld; mails: %lld sent, %lld to go, %lld for you to look at\n",
	       (long long)js_i64_or(t, "regressions", 0), (long long)js_i64_or(t, "outbox_sent", 0),
	       (long long)js_i64_or(t, "outbox_queued", 0),
	       (long long)js_i64_or(t, "outbox_unsure", 0));
}

static void print_alarms(const json_t *a)
{
	AUTO_STR twins = str_new();

	printf("suspected in 7 days: %lld, confirmed %lld; noise alone: %.2g confirmed at most, on "
	       "average, %.3g allowed\n",
	       (long long)js_i64_or(a, "clusters", 0), (long long)js_i64_or(a, "confirmed", 0),
	       js_f64_or(a, "expected_false", 0), js_f64_or(a, "allowed_false", 0));
	twins_say(&twins, json_object_get(a, "twins"));
	puts(twins.s);
}

static void print_bisections(const json_t *rows)
{
	static const struct show_column columns[] = {
		{"BISECTION", "id", SHOW_COUNT, 0},
		{"TREE", "tree", SHOW_TEXT, 0},
		{"METRIC", "metric", SHOW_TEXT, 0},
		{"STATE", "state", SHOW_TEXT, 0},
		{"BOOTS", "boots", SHOW_COUNT, 0},
		{"OF", "budget", SHOW_COUNT, 0},
		{"BEST", "best", SHOW_OID, 0},
		{"POSTERIOR", "posterior", SHOW_PROB, 0},
		{"SUBJECT", "best_subject", SHOW_TEXT, 50},
		{0},
	};

	if (json_array_size(rows))
		show_table(rows, columns, stdout);
	else
		printf("no bisection is running\n");
}

static void print_utilisation(const json_t *rows, const char *window)
{
	static const struct show_column columns[] = {
		{"HOST", "host", SHOW_TEXT, 0},
		{"WORK", "work_s", SHOW_SPAN, 0},
		{"BUILDING", "building_s", SHOW_SPAN, 0},
		{"MEASURING", "measuring_s", SHOW_SPAN, 0},
		{"IDLE", "idle_s", SHOW_SPAN, 0},
		{"IDLE SHARE", "idle_share", SHOW_SHARE, 0},
		{0},
	};

	if (!json_array_size(rows))
		return;
	printf("\nof the last %s, while there was work:\n", window);
	show_table(rows, columns, stdout);
}

static void print_failures(const json_t *rows, const char *window)
{
	static const struct show_column columns[] = {
		{"FAILED", "what", SHOW_TEXT, 0},
		{"HOW", "outcome", SHOW_TEXT, 0},
		{"COUNT", "count", SHOW_COUNT, 0},
		{"LAST", "last", SHOW_TEXT, 100},
		{0},
	};

	if (!json_array_size(rows))
		return;
	printf("\nin the last %s:\n", window);
	show_table(rows, columns, stdout);
}

static bool put(json_t *doc, const char *key, json_t *value)
{
	js_set_new(doc, key, value);
	return true;
}

static bool add_idle(struct db *db, json_t *doc, struct err *err)
{
	bool idle;

	if (!status_idle(db, &idle, err))
		return false;
	js_set_bool(doc, "idle", idle);
	return true;
}

static bool add_alarms(struct session *session, struct db *db, json_t *doc, struct err *err)
{
	const struct settings *settings;
	json_t *v;

	if (!session_settings(session, &settings, err) || !status_alarms(db, &v, err))
		return false;
	twins_add_rates(json_object_get(v, "twins"));
	js_set_f64(v, "allowed_false", conf_f64(settings->conf, "detect", NULL, "false-mails"));
	return put(doc, "alarms", v);
}

static bool gather(struct db *db, double window_s, json_t *doc, struct err *err)
{
	json_t *v;

	js_set_f64(doc, "window_s", window_s);
	return status_machines(db, &v, err) && put(doc, "machines", v) &&
	       status_queue(db, &v, err) && put(doc, "queue", v) && status_totals(db, &v, err) &&
	       put(doc, "totals", v) && status_bisections(db, true, &v, err) &&
	       put(doc, "bisections", v) && status_utilisation(db, window_s, &v, err) &&
	       put(doc, "utilisation", v) && status_failures(db, window_s, &v, err) &&
	       put(doc, "failures", v) && status_histories(db, &v, err) &&
	       put(doc, "histories", v) && add_idle(db, doc, err);
}

static void print_histories(const json_t *rows)
{
	static const struct show_column columns[] = {
		{"TREE", "tree", SHOW_TEXT, 0},
		{"BRANCH", "branch", SHOW_TEXT, 0},
		{"CLASS", "class", SHOW_TEXT, 0},
		{"BENCHMARK", "benchmark", SHOW_TEXT, 0},
		{"METRIC", "metric", SHOW_TEXT, 0},
		{"HEADS", "heads", SHOW_COUNT, 0},
		{"LEVELS", "levels", SHOW_COUNT, 0},
		{"LAST STEP", "step", SHOW_EFFECT, 0},
		{"AT", "step_at", SHOW_OID, 0},
		{"NOTHING DOWN TO", "down_to", SHOW_EFFECT, 0},
		{"TWO HEAPS APART", "mode_apart", SHOW_EFFECT, 0},
		{"IN THE WORSE", "mode_upper", SHOW_SHARE, 0},
		{0},
	};

	if (json_array_size(rows))
		show_table(rows, columns, stdout);
	else
		printf("no history was divided into levels yet\n");
}

/* Each series' newest heads as rows of their own. */
static void print_heads(const json_t *histories)
{
	static const struct show_column columns[] = {
		{"BRANCH", "branch", SHOW_TEXT, 0},
		{"CLASS", "class", SHOW_TEXT, 0},
		{"BENCHMARK", "benchmark", SHOW_TEXT, 0},
		{"METRIC", "metric", SHOW_TEXT, 0},
		{"COMMIT", "oid", SHOW_OID, 0},
		{"FOUND", "found", SHOW_TEXT, 0},
		{"NOTHING DOWN TO", "down_to", SHOW_EFFECT, 0},
		{"SUBJECT", "subject", SHOW_TEXT, 40},
		{0},
	};
	AUTO_JSON *rows = json_array();
	const json_t *series, *head;
	size_t i, k;

	json_array_foreach(histories, i, series)
		json_array_foreach(json_object_get(series, "commits"), k, head)
	{
		json_t *row = json_copy((json_t *)series);

		json_object_update(row, (json_t *)head);
		json_array_append_new(rows, row);
	}
	if (json_array_size(rows)) {
		printf("\nwhat each of the newest heads alone would have shown:\n");
		show_table(rows, columns, stdout);
	}
}

/* A row for each series of the commits that begin with oid. */
static bool tell_commit(struct session *session, struct db *db, const char *oid, struct err *err)
{
	static const struct show_column columns[] = {
		{"BRANCH", "branch", SHOW_TEXT, 0},
		{"COMMIT", "oid", SHOW_OID, 0},
		{"CLASS", "class", SHOW_TEXT, 0},
		{"BENCHMARK", "benchmark", SHOW_TEXT, 0},
		{"METRIC", "metric", SHOW_TEXT, 0},
		{"FOUND", "found", SHOW_TEXT, 0},
		{"NOTHING DOWN TO", "down_to", SHOW_EFFECT, 0},
		{"WITH OTHERS", "beside", SHOW_COUNT, 0},
		{"SUBJECT", "subject", SHOW_TEXT, 40},
		{0},
	};
	AUTO_JSON *rows = NULL;

	if (!span_commits(db, strcmp(oid, "all") != 0 ? oid : NULL, &rows, err))
		return false;
	if (session->json)
		session_print_json(rows);
	else if (json_array_size(rows))
		show_table(rows, columns, stdout);
	else
		return err_set(err, ERR_NOTFOUND,
			       "status: no commit %s in what the nightly look saw of the newest "
			       "snapshots",
			       oid);
	return true;
}

static void print_all(const json_t *doc, double window_s)
{
	AUTO_STR window = str_new();

	clock_add_span(&window, window_s);
	print_machines(json_object_get(doc, "machines"));
	putchar('\n');
	print_queue(json_object_get(doc, "queue"));
	putchar('\n');
	print_bisections(json_object_get(doc, "bisections"));
	putchar('\n');
	print_totals(json_object_get(doc, "totals"));
	print_alarms(json_object_get(doc, "alarms"));
	print_utilisation(json_object_get(doc, "utilisation"), window.s);
	print_failures(json_object_get(doc, "failures"), window.s);
}

static void add_running(const json_t *queue, struct str *line, int64_t *queued)
{
	const json_t *row;
	size_t i;

	json_array_foreach(queue, i, row)
	{
		*queued += js_i64_or(row, "queued", 0);
		if (js_i64_or(row, "running", 0))
			str_addf(line, "%s for %s; ",
				 strcmp(js_str_or(row, "kind", ""), "build") ? "booting"
									     : "building",
				 js_str_or(row, "purpose", "?"));
	}
}

/* "booting for search; 3 jobs to go; 5 builds, 14 good boots; bisection 1 searching: ..." */
static void print_brief(const json_t *doc)
{
	const json_t *totals = json_object_get(doc, "totals"), *row;
	AUTO_STR line = str_new();
	int64_t queued = 0;
	size_t i;

	add_running(json_object_get(doc, "queue"), &line, &queued);
	str_addf(&line, "%lld jobs to go; %lld builds, %lld good boots", (long long)queued,
		 (long long)js_i64_or(totals, "built", 0),
		 (long long)js_i64_or(totals, "boots", 0));
	json_array_foreach(json_object_get(doc, "bisections"), i, row)
		str_addf(&line, "; bisection %lld %s: best %.12s at %.2f",
			 (long long)js_i64_or(row, "id", 0), js_str_or(row, "state", "?"),
			 js_str_or(row, "best", "none"), js_f64_or(row, "posterior", 0));
	puts(line.s);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	double window_s = 86400;
	const char *commit = NULL;
	bool brief = false, history = false;
	const struct opt opts[] = {
		{0, "window", OPT_SECONDS, &window_s, "TIME",
		 "utilisation and failures of the last TIME (1d)"},
		{0, "brief", OPT_FLAG, &brief, NULL, "one line"},
		{0, "history", OPT_FLAG, &history, NULL,
		 "add what each series' history shows, and would show"},
		{0, "commit", OPT_STRING, &commit, "OID",
		 "only what happened in this commit, or in all: down to what change nothing did"},
		{0},
	};
	AUTO_JSON *doc = json_object();
	AUTO_STRS none = STRS_INIT;
	struct db *db;
	bool help;

	if (!command_parse(session, &cmd_status, opts, argc, argv, 0, 0, &none, &help, err))
		return false;
	if (help)
		return true;
	if (!session_db(session, &db, err))
		return false;
	if (commit)
		return tell_commit(session, db, commit, err);
	if (!gather(db, window_s, doc, err) || !add_alarms(session, db, doc, err))
		return false;
	if (session->json)
		session_print_json(doc);
	else if (brief)
		print_brief(doc);
	else
		print_all(doc, window_s);
	if (history && !session->json) {
		putchar('\n');
		print_histories(json_object_get(doc, "histories"));
		print_heads(json_object_get(doc, "histories"));
	}
	return true;
}

const struct command cmd_status = {
	.name = "status",
	.summary = "machines, queue, bisections, utilisation, failures",
	.usage = "[--window TIME] [--brief] [--history]\n"
		 "--commit OID|all",
	.about = "What the machines are doing, what is queued, how far each bisection is, how much "
		 "of\n"
		 "the time with work each host neither built nor measured, and what went wrong.",
	.run = run,
};

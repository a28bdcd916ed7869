// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf run: measure commits that a person names. */
#include <string.h>

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/revision.h"
#include "cli/show.h"

static void print_commit(const json_t *commit)
{
	static const struct show_column columns[] = {
		{"BENCHMARK", "benchmark", SHOW_TEXT, 0},
		{"PASS", "pass", SHOW_TEXT, 0},
		{"METRIC", "metric", SHOW_TEXT, 0},
		{"N", "n", SHOW_COUNT, 0},
		{"MEAN", "mean", SHOW_NUMBER, 0},
		{"UNIT", "unit", SHOW_TEXT, 0},
		{"SD", "sd", SHOW_SHARE, 0},
		{"JUDGED", "judged", SHOW_TEXT, 0},
		{0},
	};
	const json_t *series = json_object_get(commit, "series");
	const char *build = js_str_or(commit, "build", "?");
	AUTO_STR line = str_new();

	str_addf(&line, "%.12s ", js_str_or(commit, "oid", "-"));
	show_safe(js_str_or(commit, "subject", ""), &line);
	if (!strcmp(build, "failed") || !strcmp(build, "broken")) {
		str_addf(&line, ": %s: ", !strcmp(build, "failed") ? "does not build" : build);
		show_safe(js_str_or(commit, "error", "no message"), &line);
	}
	printf("%s\n", line.s);
	if (js_i64_or(commit, "boots_failed", 0))
		printf("%lld boots failed; `mmperf log` tells how\n",
		       (long long)js_i64_or(commit, "boots_failed", 0));
	if (json_array_size(series))
		show_table(series, columns, stdout);
}

static void print_result(const json_t *result)
{
	const json_t *commits = json_object_get(result, "commits");
	json_t *commit;
	size_t i;

	json_array_foreach(commits, i, commit)
	{
		if (i)
			putchar('\n');
		print_commit(commit);
	}
}

static bool ask_run(struct session *session, struct ask *ask, const char *word, long long layout,
		    struct err *err)
{
	CLEANUP(request_release) struct request request = {0};
	AUTO_JSON *args = json_object();
	AUTO_STRS oids = STRS_INIT;
	AUTO_FREE char *tree = NULL;
	json_t *commits = json_array();
	bool ended;

	js_set_new(args, "commits", commits);
	if (!ask_check(session, ask, err) ||
	    (!ask->running && !revision_range(session, word, &oids, &tree, err)))
		return false;
	for (size_t i = 0; i < oids.n; i++)
		json_array_append_new(commits, json_string(oids.v[i]));
	if (layout)
		js_set_i64(args, "layout", layout);
	if (ask->running)
		js_set_bool(args, "running", true);
	else
		js_set_str(args, "tree", tree);
	ask_set_args(ask, args);
	if (!ask_and_wait(session, ask, "run", args, &request, &ended, err))
		return false;
	if (ended && session->json)
		session_print_json(request.result);
	else if (ended)
		print_result(request.result);
	return true;
}

static bool cancel(struct session *session, int64_t id, struct err *err)
{
	struct db *db;
	bool open;

	if (!session_db(session, &db, err) || !request_cancel(db, id, &open, err))
		return false;
	if (!open)
		return err_set(err, ERR_NOTFOUND, "request %lld is not open", (long long)id);
	printf("request %lld cancelled\n", (long long)id);
	return true;
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	CLEANUP(ask_release) struct ask ask = {.suites = STRS_INIT};
	long long cancelled = 0, layout = 0;
	const struct opt opts[] = {
		{'b', "bench", OPT_LIST, &ask.suites, "SUITE",
		 "measure this; may be repeated (all)"},
		{0, "class", OPT_STRING, &ask.class_word, "CLASS", "on machines of this class"},
		{'n', "boots", OPT_INT, &ask.boots, "N", "boots of each commit (detect.boots)"},
		{0, "layout", OPT_INT, &layout, "SEED",
		 "kernels of this layout: another padding between objects (0: none)"},
		{0, "running", OPT_FLAG, &ask.running, NULL,
		 "measure the kernel that a machine of driver local runs"},
		{0, "no-wait", OPT_FLAG, &ask.no_wait, NULL, "queue it and return"},
		{0, "cancel", OPT_INT, &cancelled, "ID", "end a request of any kind"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	bool help;

	if (!command_parse(session, &cmd_run, opts, argc, argv, 0, 1, &words, &help, err))
		return false;
	if (help)
		return true;
	if (cancelled)
		return cancel(session, cancelled, err);
	if (ask.running && words.n)
		return err_set(err, ERR_USAGE, "run: --running measures no commit: leave out '%s'",
			       words.v[0]);
	if (!ask.running && !words.n)
		return err_set(err, ERR_USAGE,
			       "run: say which commits: REV or FROM..TO, or --running");
	if (layout < 0)
		return err_set(err, ERR_USAGE, "run: --layout wants a seed: 0, 1, 2, ...");
	return ask_run(session, &ask, words.n ? words.v[0] : NULL, layout, err);
}

const struct command cmd_run = {
	.name = "run",
	.summary = "build, boot and measure commits",
	.usage = "REV|FROM..TO [--bench SUITE]... [--class CLASS] [--boots N] [--layout SEED] "
		 "[--no-wait]\n"
		 "--running [--bench SUITE]... [--class CLASS] [--boots N] [--no-wait]\n"
		 "--cancel ID",
	.about = "REV is a followed branch (mm-unstable, mm-unstable~3), or anything git knows in "
		 "what\n"
		 "was fetched. FROM..TO are the commits of TO that are not in FROM. Waits for the "
		 "end\n"
		 "and prints the mean of each metric over the boots.",
	.run = run,
};

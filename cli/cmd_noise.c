// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf noise: the pilot of a machine. */
#include <string.h>

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/revision.h"
#include "cli/show.h"
#include "db/history.h"
#include "db/known.h"

#define LAYOUTS	    3
#define LAYOUTS_MAX 16

struct noise_wish {
	long long layouts;
	bool last; /* what is stored */
	bool all;  /* series that decide nothing, too */
};

static json_t *judged(const json_t *series)
{
	json_t *list = json_array(), *one;
	size_t i;

	json_array_foreach(series, i, one) if (js_bool_or(one, "judged", false))
		json_array_append(list, one);
	return list;
}

static void print_result(const json_t *result, bool all)
{
	static const struct show_column columns[] = {
		{"BENCHMARK", "benchmark", SHOW_TEXT, 0},
		{"METRIC", "metric", SHOW_TEXT, 0},
		{"MEAN", "mean", SHOW_NUMBER, 0},
		{"UNIT", "unit", SHOW_TEXT, 0},
		{"ITERATION", "sd_iteration", SHOW_SHARE, 0},
		{"BOOT", "sd_boot", SHOW_SHARE, 0},
		{"LAYOUT", "sd_layout", SHOW_SHARE, 0},
		{"OF", "iterations", SHOW_NUMBER, 0},
		{"BEST", "best_iterations", SHOW_COUNT, 0},
		{"SEEN BY 2", "detectable_2", SHOW_EFFECT, 0},
		{"BY 4", "detectable_4", SHOW_EFFECT, 0},
		{"BY 8", "detectable_8", SHOW_EFFECT, 0},
		{0},
	};
	const json_t *series = json_object_get(result, "series");
	AUTO_JSON *shown = all ? json_copy((json_t *)series) : judged(series);
	AUTO_STR line = str_new();

	str_addf(&line, "%s: %lld boots of %lld layouts of %.12s ",
		 js_str_or(result, "machine", "-"), (long long)js_i64_or(result, "boots", 0),
		 (long long)js_i64_or(result, "layouts", 0), js_str_or(result, "oid", "-"));
	show_safe(js_str_or(result, "subject", ""), &line);
	printf("%s\n", line.s);
	if (js_i64_or(result, "boots_failed", 0))
		printf("%lld boots failed; `mmperf log` tells how\n",
		       (long long)js_i64_or(result, "boots_failed", 0));
	printf("\nStandard deviations of one iteration, boot, layout; iterations of a boot as they "
	       "are (OF)\nand at best; the smallest change seen 9 times in 10 by so many boots on "
	       "each side.\n\n");
	if (json_array_size(shown))
		show_table(shown, columns, stdout);
	else
		printf("no series has two boots of one layout\n");
}

/* The head that was fetched last. */
static bool newest_head(struct session *session, struct revision *out, struct err *err)
{
	CLEANUP(snapshots_release) struct snapshots snapshots = {0};
	CLEANUP(history_commit_release) struct history_commit commit = {0};
	const struct snapshot *newest = NULL;
	struct db *db;

	if (!session_db(session, &db, err) || !snapshots_read(db, 1, &snapshots, err))
		return false;
	for (size_t i = 0; i < snapshots.n; i++)
		if (!newest || snapshots.v[i].id > newest->id)
			newest = &snapshots.v[i];
	if (!newest)
		return err_set(err, ERR_NOTFOUND,
			       "noise: no branch was fetched yet; say which commit, or start "
			       "`mmperf up`");
	if (!commit_read(db, newest->head, &commit, err))
		return false;
	*out = (struct revision){.id = commit.id,
				 .tree = xstrdup(newest->tree_name),
				 .subject = xstrdup(commit.subject)};
	memcpy(out->oid, commit.oid, sizeof(out->oid));
	return true;
}

static bool show_last(struct session *session, const char *machine, bool all, struct err *err)
{
	CLEANUP(request_release) struct request request = {0};
	AUTO_JSON *args = json_object();
	struct db *db;
	int64_t id;

	js_set_str(args, "machine", machine);
	if (!session_db(session, &db, err) || !request_find_done(db, "noise", args, 0, &id, err))
		return false;
	if (!id)
		return err_set(err, ERR_NOTFOUND,
			       "noise: there was no pilot of %s yet; without --last it is made",
			       machine);
	if (!request_read(db, id, &request, err))
		return false;
	if (session->json)
		session_print_json(request.result);
	else
		print_result(request.result, all);
	return true;
}

static bool pilot(struct session *session, struct ask *ask, const char *machine, const char *word,
		  const struct noise_wish *wish, struct err *err)
{
	CLEANUP(revision_release) struct revision revision = {0};
	CLEANUP(request_release) struct request request = {0};
	AUTO_JSON *args = json_object();
	json_t *layouts = json_array();
	bool ended;

	js_set_new(args, "layouts", layouts);
	for (long long i = 0; i < wish->layouts; i++)
		json_array_append_new(layouts, json_integer(i));
	if (!ask_check(session, ask, err) || !(word ? revision_find(session, word, &revision, err)
						    : newest_head(session, &revision, err)))
		return false;
	js_set_str(args, "commit", revision.oid);
	js_set_str(args, "tree", revision.tree);
	js_set_str(args, "machine", machine);
	ask_set_args(ask, args);
	if (!ask_and_wait(session, ask, "noise", args, &request, &ended, err))
		return false;
	if (ended && session->json)
		session_print_json(request.result);
	else if (ended)
		print_result(request.result, wish->all);
	return true;
}

static bool noise(struct session *session, struct ask *ask, const struct strs *words,
		  const struct noise_wish *wish, struct err *err)
{
	AUTO_FREE char *class_name = NULL;
	struct db *db;
	int64_t id;

	if (wish->layouts < 1 || wish->layouts > LAYOUTS_MAX)
		return err_set(err, ERR_USAGE, "noise: --layouts wants a number from 1 to %d",
			       LAYOUTS_MAX);
	if (!session_db(session, &db, err) ||
	    !known_machine(db, words->v[0], &id, &class_name, err))
		return false;
	ask->class_word = class_name;
	if (wish->last)
		return show_last(session, words->v[0], wish->all, err);
	return pilot(session, ask, words->v[0], words->n > 1 ? words->v[1] : NULL, wish, err);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	CLEANUP(ask_release) struct ask ask = {.suites = STRS_INIT};
	struct noise_wish wish = {.layouts = LAYOUTS};
	const struct opt opts[] = {
		{'b', "bench", OPT_LIST, &ask.suites, "SUITE",
		 "measure this; may be repeated (all)"},
		{'n', "boots", OPT_INT, &ask.boots, "N", "boots of each layout (12)"},
		{0, "layouts", OPT_INT, &wish.layouts, "N", "kernels of other layouts (3)"},
		{0, "all", OPT_FLAG, &wish.all, NULL, "also series that nothing is decided by"},
		{0, "last", OPT_FLAG, &wish.last, NULL, "show the stored one, boot nothing"},
		{0, "no-wait", OPT_FLAG, &ask.no_wait, NULL, "queue it and return"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	bool help;

	if (!command_parse(session, &cmd_noise, opts, argc, argv, 1, 2, &words, &help, err))
		return false;
	return help || noise(session, &ask, &words, &wish, err);
}

const struct command cmd_noise = {
	.name = "noise",
	.summary = "how far a machine's numbers scatter, and what it can see",
	.usage = "MACHINE [REV] [--bench SUITE]... [--boots N] [--layouts N] [--all] [--no-wait]\n"
		 "MACHINE --last [--all]",
	.about = "The pilot: boots kernels that differ in nothing but their layout (of REV; the "
		 "head "
		 "that was\n"
		 "fetched last) many times on this machine, and prints for each series what "
		 "iterations, "
		 "boots\n"
		 "and layouts scatter by, how many iterations a boot should have, and the smallest "
		 "change that\n"
		 "2, 4 and 8 boots on each side show. It is stored, and decisions use it from then "
		 "on. "
		 "Once a\n"
		 "month, and after changes of firmware or compiler, is often enough.",
	.run = run,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf bisect: find the commit that changed a metric. */
#include <math.h>
#include <string.h>

#include "cli/ask.h"
#include "cli/searches.h"
#include "cli/command.h"
#include "cli/revision.h"
#include "db/known.h"

struct wanted {
	struct ask ask;
	const char *good, *bad;
	const char *suite;
	const char *metric;
	const char *pass;
	long long budget;
	double min_effect; /* share; 0 = the settings' */
	bool boot_failure; /* instead of a metric */
};

static void wanted_release(struct wanted *wanted)
{
	ask_release(&wanted->ask);
}

struct ends {
	struct revision good, bad;
};

static void ends_release(struct ends *ends)
{
	revision_release(&ends->good);
	revision_release(&ends->bad);
}

/* A good end that is no ancestor is what a rebase makes, and fine; a bad one below it is not. */
static bool check_between(struct session *session, const struct ends *ends, struct err *err)
{
	char base[REPO_OID_SIZE];
	struct repo *repo;

	if (!strcmp(ends->good.oid, ends->bad.oid))
		return err_set(err, ERR_USAGE,
			       "bisect: good and bad are the same commit %.12s; there is nothing "
			       "between them",
			       ends->good.oid);
	if (!session_repo(session, &repo, err))
		return false;
	if (!repo_merge_base(repo, ends->good.oid, ends->bad.oid, base, err)) {
		if (err->kind != ERR_NOTFOUND)
			return false;
		return err_set(
			err, ERR_USAGE,
			"bisect: %.12s and %.12s have no common ancestor; take a good commit "
			"of the same history",
			ends->good.oid, ends->bad.oid);
	}
	if (!strcmp(base, ends->bad.oid))
		return err_set(
			err, ERR_USAGE,
			"bisect: bad %.12s is an ancestor of good %.12s; swap the two, or name "
			"an earlier good commit",
			ends->bad.oid, ends->good.oid);
	return true;
}

static bool check(struct session *session, struct wanted *wanted, struct ends *ends,
		  struct err *err)
{
	struct db *db;

	if (!wanted->good || !wanted->bad || !wanted->metric == !wanted->boot_failure)
		return err_set(err, ERR_USAGE,
			       "bisect: --good, --bad and either --metric or --boot-failure are "
			       "needed");
	if (wanted->boot_failure && (wanted->pass || wanted->min_effect > 0))
		return err_set(err, ERR_USAGE,
			       "bisect: --boot-failure looks at boots: no --pass or --min-effect");
	if (wanted->budget < 0 || wanted->min_effect < 0)
		return err_set(err, ERR_USAGE,
			       "bisect: --budget and --min-effect cannot be negative");
	if (!session_db(session, &db, err) || !ask_check(session, &wanted->ask, err) ||
	    (wanted->suite && !known_suite(db, wanted->suite, err)) ||
	    (wanted->metric && !known_metric(db, wanted->suite, wanted->metric, err)))
		return false;
	return revision_find(session, wanted->good, &ends->good, err) &&
	       revision_find(session, wanted->bad, &ends->bad, err) &&
	       check_between(session, ends, err);
}

static json_t *to_args(const struct wanted *wanted, const struct ends *ends)
{
	json_t *args = json_object();

	js_set_str(args, "good", ends->good.oid);
	js_set_str(args, "bad", ends->bad.oid);
	js_set_str(args, "tree", ends->bad.tree);
	if (wanted->boot_failure)
		js_set_bool(args, "boot_failure", true);
	else
		js_set_str(args, "metric", wanted->metric);
	ask_set_args(&wanted->ask, args);
	if (wanted->suite)
		js_set_str(args, "suite", wanted->suite);
	if (wanted->pass)
		js_set_str(args, "pass", wanted->pass);
	if (wanted->budget)
		js_set_i64(args, "budget", wanted->budget);
	if (wanted->min_effect > 0)
		js_set_f64(args, "min_effect", wanted->min_effect);
	return args;
}

static bool print_end(struct session *session, const struct request *request, struct err *err)
{
	struct db *db;
	int64_t id = js_i64_or(request->result, "bisection", 0);

	if (!strcmp(js_str_or(request->result, "outcome", ""), "culprit"))
		session_found(session);
	if (session->json) {
		session_print_json(request->result);
		return true;
	}
	return session_db(session, &db, err) && search_show(session, id, err);
}

static bool ask_bisect(struct session *session, struct wanted *wanted, struct err *err)
{
	CLEANUP(request_release) struct request request = {0};
	CLEANUP(ends_release) struct ends ends = {0};
	AUTO_JSON *args = NULL;
	bool ended;

	if (!check(session, wanted, &ends, err))
		return false;
	args = to_args(wanted, &ends);
	if (!ask_and_wait(session, &wanted->ask, "bisect", args, &request, &ended, err))
		return false;
	return !ended || print_end(session, &request, err);
}

static bool to_id(const char *word, int64_t *id, struct err *err)
{
	long long v;

	if (!str_to_i64(word, &v) || v < 1)
		return err_set(err, ERR_USAGE,
			       "bisect: \"%s\" is no number of a bisection; `mmperf bisect list` "
			       "shows them",
			       word);
	*id = v;
	return true;
}

/* Words that steer a bisection; operands behind the number: boots or none. */
static const struct {
	const char *word, *kind;
	size_t operands;
} steers[] = {
	{"cancel", "halt", 0},
	{"resume", "resume", 0},
	{"extend", "extend", 1},
};

static bool steer(struct session *session, const char *kind, const struct strs *words,
		  struct err *err)
{
	long long boots = 0;
	int64_t id = 0;

	if (!to_id(words->v[1], &id, err))
		return false;
	if (words->n == 3 && (!str_to_i64(words->v[2], &boots) || boots < 1))
		return err_set(err, ERR_USAGE, "bisect extend: \"%s\" is no number of boots",
			       words->v[2]);
	return search_steer(session, kind, id, boots, err);
}

static bool act(struct session *session, const struct strs *words, struct err *err)
{
	const char *verb = words->v[0];
	int64_t id = 0;

	if (!strcmp(verb, "list") && words->n == 1)
		return searches_list(session, err);
	if (!strcmp(verb, "show") && words->n == 2)
		return to_id(words->v[1], &id, err) && search_show(session, id, err);
	for (size_t i = 0; i < ARRAY_SIZE(steers); i++)
		if (!strcmp(verb, steers[i].word) && words->n == 2 + steers[i].operands)
			return steer(session, steers[i].kind, words, err);
	return err_set(err, ERR_USAGE,
		       "bisect: \"%s\" is none of list, show ID, cancel ID, resume ID, extend ID "
		       "BOOTS; a new bisection wants --good, --bad and --metric",
		       verb);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	CLEANUP(wanted_release) struct wanted w = {.ask.suites = STRS_INIT};
	const struct opt opts[] = {
		{0, "good", OPT_STRING, &w.good, "REV", "a commit without the change"},
		{0, "bad", OPT_STRING, &w.bad, "REV", "a commit with it"},
		{'b', "bench", OPT_STRING, &w.suite, "SUITE",
		 "the suite to run (the one that has the metric)"},
		{'m', "metric", OPT_STRING, &w.metric, "METRIC", "the metric that changed"},
		{0, "boot-failure", OPT_FLAG, &w.boot_failure, NULL,
		 "instead: find what makes kernels panic, hang or stay silent"},
		{0, "pass", OPT_STRING, &w.pass, "PASS",
		 "clean or instrumented (the one that has it)"},
		{0, "class", OPT_STRING, &w.ask.class_word, "CLASS", "on machines of this class"},
		{0, "budget", OPT_INT, &w.budget, "N", "boots at most (bisect.budget)"},
		{0, "min-effect", OPT_FLOAT, &w.min_effect, "X",
		 "relative change worth finding, such as 0.05"},
		{0, "no-wait", OPT_FLAG, &w.ask.no_wait, NULL, "queue it and return"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	bool help;

	if (!command_parse(session, &cmd_bisect, opts, argc, argv, 0, 3, &words, &help, err))
		return false;
	if (help)
		return true;
	return words.n ? act(session, &words, err) : ask_bisect(session, &w, err);
}

const struct command cmd_bisect = {
	.name = "bisect",
	.summary = "find the commit that changed a metric",
	.usage = "--good REV --bad REV --metric METRIC|--boot-failure [--bench SUITE] [--class "
		 "CLASS] [...]\n"
		 "list\nshow ID\ncancel ID\nresume ID\nextend ID BOOTS",
	.about = "Boots commits until one of them is the culprit with a posterior of "
		 "bisect.posterior,\n"
		 "or the budget is used and a narrowed range is left; then proves it by fresh "
		 "boots.\n"
		 "Good need not be an ancestor of bad. Exit status 3 when a culprit was found.",
	.run = run,
};

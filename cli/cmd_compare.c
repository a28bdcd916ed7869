// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf compare: two commits side by side. */
#include <string.h>

#include "cli/ask.h"
#include "cli/command.h"
#include "cli/revision.h"
#include "reports/compare.h"
#include "reports/profile_tree.h"

struct wish {
	const char *layouts;
	bool fresh;
	bool profile;
};

struct sides {
	struct revision before, after;
};

static void sides_release(struct sides *sides)
{
	revision_release(&sides->before);
	revision_release(&sides->after);
}

static bool boots_default(struct session *session, struct ask *ask, struct err *err)
{
	const struct settings *settings;

	if (!session_settings(session, &settings, err))
		return false;
	if (!ask->boots)
		ask->boots = conf_i64(settings->conf, "bisect", NULL, "prove-boots");
	return true;
}

/*
 * Only boots that were made for a comparison count: those that raised a suspicion were picked for
 * being extreme. An earlier comparison of the same two with as many boots is as good as a new one.
 */
static bool earlier(struct session *session, const struct ask *ask, json_t *args,
		    struct request *out, bool *ended, struct err *err)
{
	AUTO_JSON *sought = json_copy(args);
	struct db *db;
	int64_t id;

	json_object_del(sought, "boots");
	*ended = false;
	if (!session_db(session, &db, err) ||
	    !request_find_done(db, "compare", sought, ask->boots, &id, err))
		return false;
	*ended = id != 0;
	return !id || request_read(db, id, out, err);
}

static bool side_image(const json_t *result, const char *side, int64_t *image, struct err *err)
{
	json_t *obj;

	return js_get_object(result, side, &obj, err) && js_get_i64(obj, "image", image, err);
}

/* What two functions below 0.5 % do is noise at the usual thousands of samples (LKP's limit, too). */
static const double least_share = 0.005;

static json_t *profiles_json(const struct profile_pairs *pairs)
{
	json_t *list = json_array();

	for (size_t i = 0; i < pairs->n; i++)
		json_array_append_new(list, profile_tree_json(&pairs->v[i], least_share));
	return list;
}

static void profiles_print(const struct profile_pairs *pairs, struct str *out)
{
	for (size_t i = 0; i < pairs->n; i++)
		profile_tree_print(out, &pairs->v[i], least_share, "base", "new");
	if (!pairs->n)
		str_add(out, "\nNo profiles of both sides: a suite with `pass = profiled` makes "
			     "them.\n");
}

static bool print_table(struct session *session, const struct compare_key *key, bool profile,
			struct err *err)
{
	CLEANUP(compare_table_release) struct compare_table table = {0};
	CLEANUP(profile_pairs_release) struct profile_pairs pairs = {0};
	AUTO_STR text = str_new();
	const struct settings *settings;
	struct worth worth;
	struct db *db;

	if (!session_settings(session, &settings, err) || !session_db(session, &db, err) ||
	    !compare_table_read(db, key, &table, err) ||
	    (profile && !profile_pairs_read(db, key, &pairs, err)))
		return false;
	if (session->json) {
		AUTO_JSON *doc = compare_table_json(&table);

		js_set_i64(doc, "request", key->request);
		if (profile)
			js_set_new(doc, "profiles", profiles_json(&pairs));
		session_print_json(doc);
	} else {
		compare_table_print(&table, &text);
		if (profile)
			profiles_print(&pairs, &text);
		fputs(text.s, stdout);
	}
	worth = settings_worth(settings);
	if (compare_table_worse(&table, &worth))
		session_found(session);
	return true;
}

static bool print_result(struct session *session, const struct ask *ask, const struct sides *sides,
			 const struct request *request, bool profile, struct err *err)
{
	struct compare_key key = {
		.before_commit = sides->before.id,
		.after_commit = sides->after.id,
		.class_id = ask->class_id,
		.request = request->id,
	};

	if (!side_image(request->result, "before", &key.before_image, err) ||
	    !side_image(request->result, "after", &key.after_image, err))
		return err_wrap(err, "request %lld", (long long)request->id);
	return print_table(session, &key, profile, err);
}

/* "7" is the layout of both, "0,7" has one for each; NULL is the plain one. */
static bool set_layouts(const char *text, json_t *args, struct err *err)
{
	long long seeds[2] = {0, 0};
	json_t *list;
	int end = 0;

	if (text && sscanf(text, "%lld%n,%lld%n", &seeds[0], &end, &seeds[1], &end) == 1)
		seeds[1] = seeds[0];
	if (text && (!end || text[end] || seeds[0] < 0 || seeds[1] < 0))
		return err_set(err, ERR_USAGE,
			       "compare: --layout wants a seed or two, such as 7 or 0,7, not '%s'",
			       text);
	list = json_array();
	json_array_append_new(list, json_integer(seeds[0]));
	json_array_append_new(list, json_integer(seeds[1]));
	js_set_new(args, "layouts", list);
	return true;
}

static bool compare(struct session *session, struct ask *ask, const struct strs *words,
		    const struct wish *wish, struct err *err)
{
	CLEANUP(sides_release) struct sides sides = {0};
	CLEANUP(request_release) struct request request = {0};
	AUTO_JSON *args = json_object();
	bool ended = false;

	if (!set_layouts(wish->layouts, args, err) || !ask_check(session, ask, err) ||
	    !boots_default(session, ask, err) ||
	    !revision_find(session, words->v[0], &sides.before, err) ||
	    !revision_find(session, words->v[1], &sides.after, err))
		return false;
	js_set_str(args, "before", sides.before.oid);
	js_set_str(args, "after", sides.after.oid);
	ask_set_args(ask, args);
	if (!wish->fresh && !earlier(session, ask, args, &request, &ended, err))
		return false;
	if (!ended && !ask_and_wait(session, ask, "compare", args, &request, &ended, err))
		return false;
	return !ended || print_result(session, ask, &sides, &request, wish->profile, err);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	CLEANUP(ask_release) struct ask ask = {.suites = STRS_INIT};
	struct wish wish = {0};
	bool help;
	const struct opt opts[] = {
		{'b', "bench", OPT_LIST, &ask.suites, "SUITE",
		 "compare by this; may be repeated (all)"},
		{0, "class", OPT_STRING, &ask.class_word, "CLASS", "on machines of this class"},
		{'n', "boots", OPT_INT, &ask.boots, "N", "boots of each side (bisect.prove-boots)"},
		{0, "layout", OPT_STRING, &wish.layouts, "SEED[,SEED]",
		 "kernels of this layout (of these): compare A A --layout 0,1 tells what it does"},
		{0, "fresh", OPT_FLAG, &wish.fresh, NULL,
		 "boot anew, even when an earlier comparison would do"},
		{0, "profile", OPT_FLAG, &wish.profile, NULL,
		 "where CPUs spend their time, as a call tree"},
		{0, "no-wait", OPT_FLAG, &ask.no_wait, NULL, "queue it and return"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;

	if (!command_parse(session, &cmd_compare, opts, argc, argv, 2, 2, &words, &help, err))
		return false;
	return help || compare(session, &ask, &words, &wish, err);
}

const struct command cmd_compare = {
	.name = "compare",
	.summary = "two commits side by side, with intervals and locks",
	.usage = "BEFORE AFTER [--bench SUITE]... [--class CLASS] [--boots N] [--layout "
		 "SEED[,SEED]]\n"
		 "[--fresh] [--profile] [--no-wait]",
	.about =
		"Boots both commits in random order, interleaved, and prints what differs: means,\n"
		"change with its 95 % interval, * when significant, n, and the lock waits. Exit "
		"status\n"
		"3 when something got significantly worse by detect.min-effect or more (lock "
		"waits:\n"
		"detect.min-wait-effect).",
	.run = run,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Bisections on the screen. */
#include "cli/searches.h"

#include <string.h>

#include "cli/ask.h"
#include "cli/show.h"
#include "db/request.h"
#include "db/status.h"

bool searches_list(struct session *session, struct err *err)
{
	static const struct show_column columns[] = {
		{"ID", "id", SHOW_COUNT, 0},
		{"TREE", "tree", SHOW_TEXT, 0},
		{"SUITE", "suite", SHOW_TEXT, 0},
		{"METRIC", "metric", SHOW_TEXT, 0},
		{"STATE", "state", SHOW_TEXT, 0},
		{"OUTCOME", "outcome", SHOW_TEXT, 0},
		{"BOOTS", "boots", SHOW_COUNT, 0},
		{"BEST", "best", SHOW_OID, 0},
		{"POSTERIOR", "posterior", SHOW_PROB, 0},
		{"SUBJECT", "best_subject", SHOW_TEXT, 50},
		{0},
	};
	AUTO_JSON *rows = NULL;
	struct db *db;

	if (!session_db(session, &db, err) || !status_bisections(db, false, &rows, err))
		return false;
	if (session->json)
		session_print_json(rows);
	else if (json_array_size(rows))
		show_table(rows, columns, stdout);
	else
		printf("no bisection was begun yet\n");
	return true;
}

static void print_head(const json_t *doc)
{
	AUTO_STR line = str_new();

	str_addf(&line, "bisection %lld of %s on %s: %s, %s", (long long)js_i64_or(doc, "id", 0),
		 js_str_or(doc, "tree", ""), js_str_or(doc, "class", ""),
		 js_str_or(doc, "suite", ""), js_str_or(doc, "metric", ""));
	str_addf(&line, "\ngood %.12s  bad %.12s  common ancestor %.12s",
		 js_str_or(doc, "good", ""), js_str_or(doc, "bad", ""),
		 js_str_or(doc, "merge_base", ""));
	str_addf(&line, "\n%s%s%s, %lld boots of at most %lld", js_str_or(doc, "state", ""),
		 js_str_or(doc, "outcome", NULL) ? ": " : "", js_str_or(doc, "outcome", ""),
		 (long long)js_i64_or(doc, "boots", 0), (long long)js_i64_or(doc, "budget", 0));
	if (js_str_or(doc, "reason", NULL)) {
		str_add(&line, "\n");
		show_safe(js_str_or(doc, "reason", ""), &line);
	}
	if (js_str_or(doc, "culprit", NULL)) {
		str_addf(&line, "\nculprit %.12s ", js_str_or(doc, "culprit", ""));
		show_safe(js_str_or(doc, "culprit_subject", ""), &line);
		str_addf(&line, " (posterior %.4f)", js_f64_or(doc, "posterior", 0));
	}
	if (js_i64_or(doc, "beside", 0))
		str_addf(&line, "\nthe second change of bisection %lld, which searched for it",
			 (long long)js_i64_or(doc, "beside", 0));
	if (js_i64_or(doc, "second", 0))
		str_addf(&line, "\nsecond change: bisection %lld",
			 (long long)js_i64_or(doc, "second", 0));
	if (js_i64_or(doc, "regression", 0))
		str_addf(&line, "\n`mmperf report %lld` tells the rest",
			 (long long)js_i64_or(doc, "regression", 0));
	printf("%s\n", line.s);
}

static void print_parts(const json_t *doc)
{
	static const struct show_column hypotheses[] = {
		{"#", "n", SHOW_COUNT, 0},
		{"WHAT", "kind", SHOW_TEXT, 0},
		{"COMMIT", "oid", SHOW_OID, 0},
		{"BOOTS", "boots", SHOW_COUNT, 0},
		{"PRIOR", "prior", SHOW_PROB, 0},
		{"POSTERIOR", "mass", SHOW_PROB, 0},
		{"OF SERIES", "series_mass", SHOW_PROB, 0},
		{"SUBJECT", "subject", SHOW_TEXT, 60},
		{0},
	};
	static const struct show_column steps[] = {
		{"STEP", "n", SHOW_COUNT, 0},	  {"COMMIT", "oid", SHOW_OID, 0},
		{"JOB", "state", SHOW_TEXT, 0},	  {"BOOT", "outcome", SHOW_TEXT, 0},
		{"WHY", "reason", SHOW_TEXT, 90}, {0},
	};

	putchar('\n');
	show_table(json_object_get(doc, "hypotheses"), hypotheses, stdout);
	if (!json_array_size(json_object_get(doc, "steps")))
		return;
	putchar('\n');
	show_table(json_object_get(doc, "steps"), steps, stdout);
}

bool search_show(struct session *session, int64_t id, struct err *err)
{
	AUTO_JSON *doc = NULL;
	struct db *db;

	if (!session_db(session, &db, err) || !status_bisection(db, id, &doc, err))
		return false;
	if (session->json) {
		session_print_json(doc);
		return true;
	}
	print_head(doc);
	print_parts(doc);
	return true;
}

bool search_steer(struct session *session, const char *kind, int64_t id, int64_t boots,
		  struct err *err)
{
	CLEANUP(request_release) struct request request = {0};
	const struct ask ask = {.suites = STRS_INIT};
	AUTO_JSON *args = json_object();
	AUTO_JSON *doc = NULL;
	struct db *db;
	bool ended;

	if (!session_db(session, &db, err) || !status_bisection(db, id, &doc, err))
		return false;
	if (!strcmp(kind, "halt") && (!strcmp(js_str_or(doc, "state", ""), "done") ||
				      !strcmp(js_str_or(doc, "state", ""), "cancelled")))
		return err_set(err, ERR_NOTFOUND, "bisection %lld has ended already (%s)",
			       (long long)id, js_str_or(doc, "state", "?"));
	js_set_i64(args, "bisection", id);
	if (boots)
		js_set_i64(args, "boots", boots);
	if (!ask_and_wait(session, &ask, kind, args, &request, &ended, err))
		return false;
	if (session->json)
		session_print_json(request.result);
	else
		printf("bisection %lld %s\n", (long long)id,
		       !strcmp(kind, "halt") ? "cancelled" : "goes on");
	return true;
}

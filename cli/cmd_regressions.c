// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf regressions: what was found. */
#include <string.h>

#include "cli/command.h"
#include "cli/session.h"
#include "cli/show.h"
#include "db/report.h"

static json_t *to_json(const struct report_lines *lines, const char *tree)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < lines->n; i++) {
		const struct report_line *line = &lines->v[i];
		json_t *row;

		if (tree && strcmp(line->tree, tree) != 0)
			continue;
		row = json_object();
		js_set_i64(row, "id", line->id);
		js_set_str(row, "state", line->state);
		js_set_str(row, "tree", line->tree);
		js_set_str(row, "branch", line->branch);
		js_set_str(row, "culprit", line->oid);
		js_set_str(row, "subject", line->subject);
		js_set_str(row, "metric", line->metric);
		js_set_str(row, "direction", line->direction);
		js_set_f64(row, "effect", line->effect);
		js_set_f64(row, "posterior", line->posterior);
		js_set_bool(row, "emulated", line->emulated);
		js_set_str(row, "created", line->created);
		json_array_append_new(rows, row);
	}
	return rows;
}

static void print_rows(const json_t *rows)
{
	static const struct show_column columns[] = {
		{"ID", "id", SHOW_COUNT, 0},
		{"FOUND", "created", SHOW_TEXT, 16},
		{"STATE", "state", SHOW_TEXT, 0},
		{"TREE", "tree", SHOW_TEXT, 0},
		{"CULPRIT", "culprit", SHOW_OID, 0},
		{"METRIC", "metric", SHOW_TEXT, 0},
		{"WORSE BY", "effect", SHOW_EFFECT, 0},
		{"POSTERIOR", "posterior", SHOW_PROB, 0},
		{"SUBJECT", "subject", SHOW_TEXT, 60},
		{0},
	};

	if (json_array_size(rows))
		show_table(rows, columns, stdout);
	else
		printf("no regression was proved yet; `mmperf log` tells what was looked at\n");
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	const char *tree = NULL;
	const struct opt opts[] = {
		{0, "tree", OPT_STRING, &tree, "TREE", "only of this tree"},
		{0},
	};
	CLEANUP(report_lines_release) struct report_lines lines = {0};
	AUTO_STRS none = STRS_INIT;
	AUTO_JSON *rows = NULL;
	struct db *db;
	bool help;

	if (!command_parse(session, &cmd_regressions, opts, argc, argv, 0, 0, &none, &help, err))
		return false;
	if (help)
		return true;
	if (!session_db(session, &db, err) || !report_lines_read(db, &lines, err))
		return false;
	rows = to_json(&lines, tree);
	if (session->json)
		session_print_json(rows);
	else
		print_rows(rows);
	return true;
}

const struct command cmd_regressions = {
	.name = "regressions",
	.summary = "list what was found and proved",
	.usage = "[--tree TREE]",
	.about = "Newest first. An effect above 0 is worse, whatever the metric's direction.\n"
		 "`mmperf report ID` tells the rest.",
	.run = run,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf machines: test machines and their state. */
#include <string.h>

#include "cli/command.h"
#include "cli/session.h"
#include "cli/show.h"
#include "db/status.h"

static bool list(struct session *session, struct db *db, struct err *err)
{
	static const struct show_column columns[] = {
		{"NAME", "name", SHOW_TEXT, 0},
		{"CLASS", "class", SHOW_TEXT, 0},
		{"DRIVER", "driver", SHOW_TEXT, 0},
		{"EMULATED", "emulated", SHOW_TEXT, 0},
		{"HOST", "host", SHOW_TEXT, 0},
		{"STATE", "state", SHOW_TEXT, 0},
		{"FAILED", "failures", SHOW_COUNT, 0},
		{"DOING", "doing", SHOW_TEXT, 40},
		{"FOR", "doing_s", SHOW_SPAN, 0},
		{"NOTE", "note", SHOW_TEXT, 40},
		{0},
	};
	AUTO_JSON *rows = NULL;

	if (!status_machines(db, &rows, err))
		return false;
	if (session->json)
		session_print_json(rows);
	else if (!json_array_size(rows))
		printf("no machines yet; [machine] sections of the settings make them when `mmperf "
		       "up` starts\n");
	else
		show_table(rows, columns, stdout);
	return true;
}

static bool set(struct session *session, struct db *db, const char *verb, const char *machine,
		const char *note, struct err *err)
{
	if (strcmp(verb, "up") != 0 && strcmp(verb, "offline") != 0)
		return err_set(err, ERR_USAGE, "machines: \"%s\" is neither up nor offline", verb);
	if (!status_machine_set(db, machine, verb, note, err))
		return false;
	if (session->json)
		return list(session, db, err);
	printf("machine %s is %s%s\n", machine, verb,
	       strcmp(verb, "up") != 0 ? "; a boot that runs on it is finished first" : "");
	return true;
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	const char *note = NULL;
	const struct opt opts[] = {
		{0, "note", OPT_STRING, &note, "TEXT", "why, for others to read"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	struct db *db;
	bool help;

	if (!command_parse(session, &cmd_machines, opts, argc, argv, 0, 2, &words, &help, err))
		return false;
	if (help)
		return true;
	if (words.n == 1)
		return err_set(err, ERR_USAGE,
			       "machines: say which machine; usage: mmperf machines "
			       "up|offline NAME");
	if (!session_db(session, &db, err))
		return false;
	return words.n ? set(session, db, words.v[0], words.v[1], note, err)
		       : list(session, db, err);
}

const struct command cmd_machines = {
	.name = "machines",
	.summary = "list test machines, take them in or out",
	.usage = "\noffline NAME [--note TEXT]\nup NAME",
	.about = "Without words: the machines, their state and what they are doing. offline keeps "
		 "new\n"
		 "boots away from a machine, up takes it back.",
	.run = run,
};

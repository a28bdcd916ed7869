// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf machine show, quarantine, release: one machine and its state. */
#include <string.h>

#include "cli/machine_verbs.h"
#include "cli/session.h"
#include "cli/show.h"
#include "db/health.h"
#include "db/machine_event.h"
#include "db/status.h"

static void print_line(const char *title, const json_t *o, const char *key, enum show_as as)
{
	AUTO_STR text = str_new();
	const json_t *value = json_object_get(o, key);

	if (!value || json_is_null(value))
		return;
	show_value(value, as, &text);
	printf("%-10s %s\n", title, text.s);
}

static void print_table(const char *title, const json_t *o, const char *key,
			const struct show_column *columns)
{
	if (!json_array_size(json_object_get(o, key)))
		return;
	printf("\n%s:\n", title);
	show_table(json_object_get(o, key), columns, stdout);
}

static void print_machine(const json_t *o)
{
	static const struct show_column boots[] = {
		{"METHOD", "method", SHOW_TEXT, 0}, {"OUTCOME", "outcome", SHOW_TEXT, 0},
		{"BOOTS", "n", SHOW_COUNT, 0},	    {"MEDIAN", "median_s", SHOW_SPAN, 0},
		{"LAST", "last", SHOW_TEXT, 0},	    {0},
	};
	static const struct show_column events[] = {
		{"AT", "at", SHOW_TEXT, 0},
		{"WHAT", "kind", SHOW_TEXT, 0},
		{"WHY", "text", SHOW_TEXT, 100},
		{0},
	};

	static const struct show_column canaries[] = {
		{"AT", "at", SHOW_TEXT, 0},
		{"METHOD", "method", SHOW_TEXT, 0},
		{"VERDICT", "verdict", SHOW_TEXT, 0},
		{"TEXT", "text", SHOW_TEXT, 100},
		{0},
	};
	static const struct show_column offsets[] = {
		{"BENCHMARK", "benchmark", SHOW_TEXT, 0},
		{"PASS", "pass", SHOW_TEXT, 0},
		{"METRIC", "metric", SHOW_TEXT, 0},
		{"KEXEC", "n", SHOW_COUNT, 0},
		{"FIRMWARE", "n_firmware", SHOW_COUNT, 0},
		{"OFFSET %", "percent", SHOW_NUMBER, 0},
		{0},
	};

	print_line("machine", o, "name", SHOW_TEXT);
	print_line("class", o, "class", SHOW_TEXT);
	print_line("driver", o, "driver", SHOW_TEXT);
	print_line("host", o, "host", SHOW_TEXT);
	print_line("state", o, "state", SHOW_TEXT);
	print_line("note", o, "note", SHOW_TEXT);
	print_line("failed", o, "failures", SHOW_COUNT);
	print_line("used by", o, "holder", SHOW_TEXT);
	print_line("owner", o, "owner", SHOW_TEXT);
	print_table("boots of the last 30 days", o, "boots", boots);
	print_table("canaries", o, "canaries", canaries);
	print_table("kexec against firmware, on the known-good image", o, "offsets", offsets);
	print_table("what happened", o, "events", events);
}

static bool show(struct session *session, struct db *db, const char *machine, struct err *err)
{
	AUTO_JSON *answer = NULL, *health = NULL;

	if (!machine_show_read(db, machine, &answer, err) ||
	    !health_show_read(db, machine, &health, err))
		return false;
	json_object_update(answer, health);
	if (session->json)
		session_print_json(answer);
	else
		print_machine(answer);
	return true;
}

static bool run_show(struct session *session, int argc, char **argv, struct err *err)
{
	const struct opt opts[] = {{0}};
	AUTO_STRS words = STRS_INIT;
	struct db *db;
	bool help;

	if (!command_parse(session, &machine_show, opts, argc, argv, 1, 1, &words, &help, err))
		return false;
	return help || (session_db(session, &db, err) && show(session, db, words.v[0], err));
}

static bool set(struct session *session, const struct command *command, const char *state, int argc,
		char **argv, struct err *err)
{
	const char *note = NULL;
	const struct opt opts[] = {
		{0, "note", OPT_STRING, &note, "TEXT", "why, for others to read"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	struct db *db;
	bool help;

	if (!command_parse(session, command, opts, argc, argv, 1, 1, &words, &help, err))
		return false;
	return help || (session_db(session, &db, err) &&
			status_machine_set(db, words.v[0], state, note, err) &&
			show(session, db, words.v[0], err));
}

static bool run_quarantine(struct session *session, int argc, char **argv, struct err *err)
{
	return set(session, &machine_quarantine, "quarantined", argc, argv, err);
}

static bool run_release(struct session *session, int argc, char **argv, struct err *err)
{
	return set(session, &machine_release_verb, "up", argc, argv, err);
}

const struct command machine_show = {
	.name = "machine show",
	.summary = "its state, its boots and what happened to it",
	.usage = "NAME",
	.run = run_show,
};

const struct command machine_quarantine = {
	.name = "machine quarantine",
	.summary = "take it out of service as broken; its owner is told",
	.usage = "NAME [--note TEXT]",
	.run = run_quarantine,
};

const struct command machine_release_verb = {
	.name = "machine release",
	.summary = "take it back into service, with its failures forgotten",
	.usage = "NAME [--note TEXT]",
	.run = run_release,
};

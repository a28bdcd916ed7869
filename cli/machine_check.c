// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf machine check: all that must be right about a machine, one line each. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "cli/machine_verbs.h"
#include "cli/session.h"
#include "cli/show.h"
#include "cli/stop.h"
#include "db/request.h"
#include "runner/check.h"
#include "runner/jobmain.h"

static const char *const verdicts[] = {
	[CHECK_OK] = "ok",
	[CHECK_NOTE] = "note",
	[CHECK_BAD] = "BAD",
};

struct teller {
	bool json;
	json_t *lines;
};

static void say(void *arg, const char *what, enum check_verdict verdict, const char *text)
{
	struct teller *t = arg;
	AUTO_STR safe = str_new();
	json_t *line;

	if (!t->json) {
		show_safe(text, &safe);
		printf("%-4s  %-12s %s\n", verdicts[verdict], what, safe.s);
		fflush(stdout);
		return;
	}
	line = json_object();
	js_set_str(line, "what", what);
	js_set_str(line, "verdict", verdicts[verdict]);
	js_set_str(line, "text", text);
	json_array_append_new(t->lines, line);
}

/* The last step of a first set-up, which takes boots. */
static bool tell_pilot(struct session *session, const char *machine, struct teller *teller,
		       struct err *err)
{
	AUTO_JSON *args = json_object();
	AUTO_STR text = str_new();
	struct db *db;
	int64_t id;

	js_set_str(args, "machine", machine);
	if (!session_db(session, &db, err) || !request_find_done(db, "noise", args, 0, &id, err))
		return false;
	str_addf(&text,
		 id ? "its pilot has measured it: `mmperf noise %s --last`"
		    : "not known yet: `mmperf noise %s` measures by how much its boots scatter",
		 machine);
	say(teller, "noise", id ? CHECK_OK : CHECK_NOTE, text.s);
	return true;
}

static bool check(struct session *session, const struct settings *settings, const char *machine,
		  struct check_wish *wish, struct err *err)
{
	CLEANUP(worker_release) struct worker w = {0};
	AUTO_FREE char *user = session_user(), *holder = NULL, *agent = NULL;
	AUTO_JSON *lines = json_array();
	struct teller teller = {session->json, lines};
	struct check_out out = {say, &teller};
	bool ok;

	holder = xasprintf("`mmperf machine check` of %s", user);
	if (!job_agent_path(&agent, err) ||
	    !worker_open_machine(&w, settings, machine, holder, stop_flag(), err))
		return false;
	wish->agent = agent;
	ok = check_machine(&w, machine, wish, &out, err) &&
	     tell_pilot(session, machine, &teller, err);
	if (session->json)
		session_print_json(lines);
	return ok;
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	struct check_wish wish = {0};
	bool no_jump = false, help;
	const struct opt opts[] = {
		{0, "no-jump", OPT_FLAG, &no_jump, NULL, "leave the round trip by kexec out"},
		{0, "power-cycle", OPT_FLAG, &wish.power, NULL, "also switch it off and on"},
		{0},
	};
	const struct settings *settings;
	AUTO_STRS words = STRS_INIT;

	if (!command_parse(session, &machine_check, opts, argc, argv, 1, 1, &words, &help, err))
		return false;
	if (help)
		return true;
	if (!session_settings(session, &settings, err))
		return false;
	if (!conf_has(settings->conf, "machine", words.v[0]))
		return err_set(err, ERR_USAGE,
			       "there is no [machine \"%s\"] in the settings; `mmperf machine add` "
			       "writes one",
			       words.v[0]);
	if (strcmp(conf_str(settings->conf, "machine", words.v[0], "driver"), "kexec") != 0)
		return err_set(
			err, ERR_USAGE,
			"machine %s has driver %s; only machines of driver kexec are checked",
			words.v[0], conf_str(settings->conf, "machine", words.v[0], "driver"));
	wish.jump = !no_jump;
	return check(session, settings, words.v[0], &wish, err);
}

const struct command machine_check = {
	.name = "machine check",
	.summary = "look at all that must be right about it",
	.usage = "NAME [--no-jump] [--power-cycle]",
	.about = "One line for each thing that a machine of driver kexec needs, with what to do\n"
		 "where it is not right: ssh, root, tools, drivers, power, console, agent, kexec,\n"
		 "a jump of its own kernel, noise.\n"
		 "No boot runs on it meanwhile.",
	.run = run,
};

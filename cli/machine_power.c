// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf machine power: what its power is, and changing it by hand. */
#include <stdlib.h>
#include <string.h>

#include "cli/machine_guard.h"
#include "cli/machine_verbs.h"
#include "cli/session.h"
#include "runner/power.h"

static bool show(struct session *session, struct power *p, const char *machine, struct err *err)
{
	AUTO_JSON *answer = json_object();
	enum power_state state;

	if (!power_state(p, &state, err))
		return false;
	js_set_str(answer, "machine", machine);
	js_set_str(answer, "power", power_state_name(state));
	if (session->json)
		session_print_json(answer);
	else
		printf("machine %s: power is %s\n", machine, power_state_name(state));
	return true;
}

static bool find_driver(const struct power *p, const char *name, size_t *out, struct err *err)
{
	AUTO_STR known = str_new();

	for (size_t i = 0; i < power_count(p); i++) {
		if (!strcmp(power_name(p, i), name)) {
			*out = i;
			return true;
		}
		str_addf(&known, "%s%s", i ? ", " : "", power_name(p, i));
	}
	return err_set(err, ERR_USAGE, "the machine has no power driver \"%s\"; it has: %s", name,
		       known.len ? known.s : "none");
}

static bool change(struct power *p, const char *verb_name, const char *by, struct err *err)
{
	enum power_verb verb;
	size_t i = 0;

	if (!power_verb_find(verb_name, &verb, err))
		return false;
	if (!by)
		return power_do(p, verb, err);
	return find_driver(p, by, &i, err) && power_do_by(p, i, verb, err);
}

static bool act(struct session *session, const struct strs *words, const char *by, struct err *err)
{
	CLEANUP(power_free_ptr) struct power *p = NULL;
	struct machine_owner owner = {.machine = words->v[0]};
	struct power_guard guard = {.may = machine_is_ours, .arg = &owner};
	const struct settings *settings;

	if (!session_settings(session, &settings, err) ||
	    !power_open(settings, words->v[0], &guard, &p, err))
		return false;
	if (words->n == 1)
		return show(session, p, words->v[0], err);
	if (!session_db(session, &owner.db, err) || !change(p, words->v[1], by, err))
		return false;
	if (session->json)
		return show(session, p, words->v[0], err);
	printf("machine %s: power %s is done\n", words->v[0], words->v[1]);
	return true;
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	const char *by = NULL;
	const struct opt opts[] = {
		{0, "by", OPT_STRING, &by, "DRIVER", "only by this one of its power drivers"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	bool help;

	if (!command_parse(session, &machine_power, opts, argc, argv, 1, 2, &words, &help, err))
		return false;
	return help || act(session, &words, by, err);
}

const struct command machine_power = {
	.name = "machine power",
	.summary = "show or change its power",
	.usage = "NAME [--by DRIVER] [on|off|cycle|reset|soft|nmi]",
	.about = "Without a verb: whether it is on. A verb wants the machine to be out of service "
		 "(`mmperf\n"
		 "machines offline NAME`), so that it hits no boot. soft asks the system to shut "
		 "down and\n"
		 "turns the machine on again.",
	.run = run,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Power by a program of the lab: labgrid-client, a LAVA job, a relay board's tool. It is given the
 * verb as its last word and the machine's name in the environment; `state` prints on, off or
 * unknown. Exit status 0 is done, 2 is "no such verb here", all else a failure that its last line
 * explains.
 */
#include "runner/power/drivers.h"

#include <math.h>
#include <string.h>

#include "base/proc.h"

#define NO_SUCH_VERB 2

static bool exec_check(struct power_link *link, struct err *err)
{
	const char *command;
	AUTO_STRS words = STRS_INIT;
	AUTO_FREE char *found = NULL;

	if (!power_need(link, "power-command", &command, err))
		return false;
	strs_split(&words, command, " \t");
	found = words.n && !strchr(words.v[0], '/') ? proc_which(words.v[0]) : NULL;
	if (!words.n || (!strchr(words.v[0], '/') && !found))
		return err_set(err, ERR_USAGE, "power-command: %s is not installed",
			       words.n ? words.v[0] : "(nothing)");
	return true;
}

/* The last line that says something, cut in place. */
static const char *last_line(char *text)
{
	char *trimmed = str_trim(text), *nl = strrchr(trimmed, '\n');

	return nl ? nl + 1 : trimmed;
}

static bool call(struct power_link *link, const char *verb, struct proc_result *result,
		 struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};

	if (!power_left(link, INFINITY, &spec.timeout_s, err))
		return false;
	strs_split(&spec.argv, power_str(link, "power-command"), " \t");
	strs_push(&spec.argv, verb);
	strs_pushf(&spec.env, "MMPERF_MACHINE=%s", link->machine);
	strs_pushf(&spec.env, "MMPERF_POWER=%s", verb);
	if (!proc_run(&spec, result, err))
		return false;
	if (result->status == NO_SUCH_VERB)
		return err_set(err, ERR_NOTFOUND, "%s does not know the verb %s", spec.argv.v[0],
			       verb);
	if (result->status)
		return err_set(err, ERR_FAILED, "%s %s ended with status %d: %s", spec.argv.v[0],
			       verb, result->status, last_line(result->out.s));
	return true;
}

static bool exec_order(struct power_link *link, enum power_verb verb, struct err *err)
{
	CLEANUP(proc_result_release) struct proc_result result = {0};

	return call(link, power_verb_name(verb), &result, err);
}

static bool exec_ask(struct power_link *link, enum power_state *out, struct err *err)
{
	CLEANUP(proc_result_release) struct proc_result result = {0};
	const char *word;

	if (!call(link, "state", &result, err))
		return false;
	word = last_line(result.out.s);
	*out = !strcmp(word, "on")    ? POWER_IS_ON
	       : !strcmp(word, "off") ? POWER_IS_OFF
				      : POWER_UNKNOWN;
	return true;
}

const struct power_driver power_exec = {
	.name = "exec",
	.check = exec_check,
	.order = exec_order,
	.ask = exec_ask,
};

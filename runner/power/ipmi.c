// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Power by IPMI 2.0 over the network. ipmitool says whether the BMC took an order; what came of it
 * the caller asks.
 */
#include "runner/power/ipmi.h"

#include <string.h>

#include "base/secret.h"
#include "runner/power/drivers.h"

/* ipmitool tries four times, waiting 1, 2, 3 and 4 s, and twice that when the BMC has to be asked
 * for its ciphers. */
#define CALL_S 25.0

static const char *setting(const struct settings *settings, const char *machine, const char *key)
{
	return conf_str(settings->conf, "machine", machine, key);
}

/* -P shows the password to everybody on this host, -f and -k have their own rules. */
static bool check_options(const char *options, struct err *err)
{
	static const char *const forbidden[] = {"-P", "-f", "-k", "-K", "-y", "-E", "-H", "-U"};
	AUTO_STRS words = STRS_INIT;

	strs_split(&words, options ? options : "", " \t");
	for (size_t i = 0; i < words.n; i++)
		for (size_t j = 0; j < ARRAY_SIZE(forbidden); j++)
			if (str_starts(words.v[i], forbidden[j]))
				return err_set(err, ERR_USAGE,
					       "ipmi-options: %s may not be given; bmc-host, "
					       "bmc-user and bmc-password-file say it",
					       forbidden[j]);
	return true;
}

static bool need(const struct settings *settings, const char *machine, const char *key,
		 struct err *err)
{
	const char *value = setting(settings, machine, key);

	if (value && *value)
		return true;
	return err_set(err, ERR_USAGE, "set %s in [machine \"%s\"]", key, machine);
}

bool ipmi_check(const struct settings *settings, const char *machine, struct err *err)
{
	AUTO_SECRET password = str_new();
	AUTO_FREE char *tool = proc_which("ipmitool");

	if (!need(settings, machine, "bmc-host", err) ||
	    !need(settings, machine, "bmc-user", err) ||
	    !need(settings, machine, "bmc-password-file", err) ||
	    !check_options(setting(settings, machine, "ipmi-options"), err))
		return false;
	if (!tool)
		return err_set(err, ERR_USAGE, "ipmitool is not installed");
	return secret_read(setting(settings, machine, "bmc-password-file"), &password, err);
}

bool ipmi_command(const struct settings *settings, const char *machine, const char *const *words,
		  struct proc_spec *spec, struct err *err)
{
	const char *options = setting(settings, machine, "ipmi-options");
	AUTO_SECRET password = str_new();

	if (!secret_read(setting(settings, machine, "bmc-password-file"), &password, err))
		return false;
	strs_pushl(&spec->argv, "ipmitool", "-I", "lanplus", "-H",
		   setting(settings, machine, "bmc-host"), "-U",
		   setting(settings, machine, "bmc-user"), "-E", NULL);
	strs_split(&spec->argv, options ? options : "", " \t");
	for (; *words; words++)
		strs_push(&spec->argv, *words);
	strs_pushf(&spec->env, "IPMI_PASSWORD=%s", password.s);
	return true;
}

void ipmi_wipe(struct proc_spec *spec)
{
	for (size_t i = 0; i < spec->env.n; i++)
		explicit_bzero(spec->env.v[i], strlen(spec->env.v[i]));
	proc_spec_release(spec);
}

static bool ipmi_driver_check(struct power_link *link, struct err *err)
{
	return ipmi_check(link->settings, link->machine, err);
}

/* The line that says why; warnings may stand around it. */
static void explain(char *said, struct err *err)
{
	char *last = str_trim(said), *nl = strrchr(last, '\n');

	last = nl ? nl + 1 : last;
	if (strstr(said, "Unable to establish"))
		err_set(err, ERR_FAILED,
			"no session with the BMC: it does not answer, or refuses bmc-user or its "
			"password");
	else
		err_set(err, strstr(last, "Invalid command") ? ERR_NOTFOUND : ERR_FAILED, "%.300s",
			*last ? last : "ipmitool failed without a word");
}

static bool call(const struct power_link *link, const char *verb, struct proc_result *result,
		 struct err *err)
{
	const char *const words[] = {"chassis", "power", verb, NULL};
	CLEANUP(ipmi_wipe) struct proc_spec spec = {0};

	if (!power_left(link, CALL_S, &spec.timeout_s, err) ||
	    !ipmi_command(link->settings, link->machine, words, &spec, err) ||
	    !proc_run(&spec, result, err))
		return false;
	if (result->status == 0)
		return true;
	explain(result->out.s, err);
	return err_wrap(err, "%s: chassis power %s", power_str(link, "bmc-host"), verb);
}

static bool ipmi_order(struct power_link *link, enum power_verb verb, struct err *err)
{
	static const char *const names[POWER_VERBS] = {
		[POWER_ON] = "on",     [POWER_OFF] = "off",  [POWER_RESET] = "reset",
		[POWER_SOFT] = "soft", [POWER_NMI] = "diag",
	};
	CLEANUP(proc_result_release) struct proc_result result = {0};

	/* "chassis power cycle" cannot be seen, off and on can. */
	if (!names[verb])
		return err_set(err, ERR_NOTFOUND, "made of off and on");
	return call(link, names[verb], &result, err);
}

static bool ipmi_ask(struct power_link *link, enum power_state *out, struct err *err)
{
	CLEANUP(proc_result_release) struct proc_result result = {0};

	if (!call(link, "status", &result, err))
		return false;
	*out = strstr(result.out.s, "Power is on")    ? POWER_IS_ON
	       : strstr(result.out.s, "Power is off") ? POWER_IS_OFF
						      : POWER_UNKNOWN;
	return true;
}

const struct power_driver power_ipmi = {
	.name = "ipmi",
	.check = ipmi_driver_check,
	.order = ipmi_order,
	.ask = ipmi_ask,
};

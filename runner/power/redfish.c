// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Power by Redfish: what the service advertises is asked for, and nothing else (DMTF DSP0266,
 * DSP2046 ComputerSystem). That an order was taken (200, 204, 202) is no result; the caller polls
 * PowerState.
 */
#include "runner/power/redfish_http.h"

#include <math.h>
#include <string.h>

#include "base/log.h"

/* Between two looks at a task whose BMC does not say when; doubled each time, up to the second. */
#define TASK_LOOK_S	0.1
#define TASK_LOOK_MAX_S 1.0
#define TYPES		4

/* Reset types for a verb, best first. Cycles are made of off and on, which can be seen. */
static const char *const types[POWER_VERBS][TYPES] = {
	[POWER_ON] = {"On", "ForceOn"},
	[POWER_OFF] = {"ForceOff"},
	[POWER_RESET] = {"ForceRestart", "PowerCycle"},
	[POWER_SOFT] = {"GracefulShutdown"},
	[POWER_NMI] = {"Nmi"},
};

static bool redfish_driver_check(struct power_link *link, struct err *err)
{
	return redfish_check(link, err);
}

static bool service(struct power_link *link, struct redfish **out, struct err *err)
{
	struct redfish *rf = link->state;

	if (!rf && !redfish_open(link, &rf, err))
		return false;
	link->state = rf;
	*out = rf;
	return true;
}

static void redfish_end(struct power_link *link)
{
	redfish_close(link->state);
	link->state = NULL;
}

/* The collection's members by name, for a person who has to choose. */
static bool say_which(const json_t *members, struct err *err)
{
	AUTO_STR names = str_new();
	const json_t *member;
	size_t i;

	json_array_foreach(members, i, member)
	{
		const char *id = js_str_or(member, "@odata.id", "?");

		str_addf(&names, "%s%.100s", i ? ", " : "", id);
	}
	return err_set(err, ERR_USAGE, "the BMC has %zu systems%s%s: set bmc-system",
		       json_array_size(members), names.len ? ": " : "", names.s);
}

/* Paths differ by maker, and a switch's BMC has none: the single one, or what the settings say. */
static bool system_path(struct power_link *link, struct redfish *rf, char **out, struct err *err)
{
	const char *set = power_str(link, "bmc-system"), *systems, *id;
	AUTO_JSON *root = NULL, *collection = NULL;
	json_t *link_to, *members;

	if (set) {
		*out = xstrdup(set);
		return true;
	}
	if (!redfish_get(rf, "/redfish/v1/", &root, NULL, err) ||
	    !js_get_object(root, "Systems", &link_to, err) ||
	    !js_get_str(link_to, "@odata.id", &systems, err) ||
	    !redfish_get(rf, systems, &collection, NULL, err) ||
	    !js_get_array(collection, "Members", &members, err))
		return err_wrap(err, "finding the system");
	if (json_array_size(members) != 1)
		return say_which(members, err);
	if (!js_get_str(json_array_get(members, 0), "@odata.id", &id, err))
		return false;
	*out = xstrdup(id);
	return true;
}

static bool has_text(const json_t *array, const char *text)
{
	const json_t *item;
	size_t i;

	json_array_foreach(array, i, item)
	{
		if (json_is_string(item) && !strcmp(json_string_value(item), text))
			return true;
	}
	return false;
}

static json_t *values_of(const json_t *info)
{
	const json_t *parameter;
	size_t i;

	json_array_foreach(json_object_get(info, "Parameters"), i, parameter)
	{
		if (!strcmp(js_str_or(parameter, "Name", ""), "ResetType"))
			return json_incref(json_object_get(parameter, "AllowableValues"));
	}
	return NULL;
}

/* What the reset action takes; NULL when it does not say, which the standard allows. */
static bool allowed_types(struct redfish *rf, const json_t *action, json_t **out, struct err *err)
{
	const char *info_path = js_str_or(action, "@Redfish.ActionInfo", NULL);
	AUTO_JSON *info = NULL;

	*out = json_incref(json_object_get(action, "ResetType@Redfish.AllowableValues"));
	if (*out || !info_path)
		return true;
	if (!redfish_get(rf, info_path, &info, NULL, err))
		return false;
	*out = values_of(info);
	return true;
}

/* A task has ended when its monitor stops answering 202, or its state says so (DSP0266 12.2). */
static bool task_ended(const struct http_answer *answer, bool *ended, struct err *err)
{
	static const char *const bad[] = {"Exception", "Killed", "Cancelled", "Interrupted"};
	AUTO_JSON *task = NULL;
	struct err ignored;
	const char *state;

	*ended = answer->status != 202;
	if (!js_parse(answer->body.s, answer->body.len, &task, &ignored))
		return true;
	state = js_str_or(task, "TaskState", "");
	if (!strcmp(state, "Completed"))
		*ended = true;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (!strcmp(state, bad[i]))
			return err_set(err, ERR_FAILED, "the BMC's task ended as %s", state);
	return true;
}

/* Without a Location there is nothing to follow: PowerState will tell. */
static bool follow_task(struct redfish *rf, const struct http_answer *taken, struct err *err)
{
	AUTO_FREE char *monitor = xstrdup_null(http_header(taken, "Location"));
	double wait_s = http_retry_after_s(taken, 0), look_s = TASK_LOOK_S;
	bool ended = !monitor;

	for (; !ended; look_s = fmin(2 * look_s, TASK_LOOK_MAX_S)) {
		CLEANUP(http_answer_release) struct http_answer answer = {0};

		if (!redfish_wait(rf, wait_s > 0 ? wait_s : look_s, err) ||
		    !redfish_call(rf, "GET", monitor, NULL, NULL, &answer, err))
			return err_wrap(err, "the BMC's task");
		if (answer.status / 100 != 2)
			return redfish_refused(&answer, err);
		if (!task_ended(&answer, &ended, err))
			return false;
		wait_s = http_retry_after_s(&answer, 0);
	}
	return true;
}

static bool post(struct redfish *rf, const char *target, const char *type, struct err *err)
{
	CLEANUP(http_answer_release) struct http_answer answer = {0};
	AUTO_JSON *body = json_object();

	js_set_str(body, "ResetType", type);
	if (!redfish_call(rf, "POST", target, body, NULL, &answer, err))
		return false;
	if (answer.status / 100 != 2)
		return redfish_refused(&answer, err) || err_wrap(err, "%s", type);
	return answer.status != 202 || follow_task(rf, &answer, err) || err_wrap(err, "%s", type);
}

/* Advertised and refused all the same is common: the next type is tried. */
static bool try_types(struct redfish *rf, const char *target, const json_t *allowed,
		      enum power_verb verb, struct err *err)
{
	bool tried = false;

	for (size_t i = 0; i < TYPES && types[verb][i]; i++) {
		if (allowed && !has_text(allowed, types[verb][i]))
			continue;
		tried = true;
		if (post(rf, target, types[verb][i], err))
			return true;
		if (err->kind != ERR_NOTFOUND)
			return false;
	}
	if (tried)
		return false;
	return err_set(err, ERR_NOTFOUND, "the BMC does not offer %s",
		       types[verb][0] ? types[verb][0] : "it");
}

static bool boots_elsewhere(const json_t *system)
{
	const json_t *boot = json_object_get(system, "Boot");

	return !strcmp(js_str_or(boot, "BootSourceOverrideEnabled", ""), "Once");
}

static bool patch_boot(struct redfish *rf, const char *path, const char *etag,
		       struct http_answer *answer, struct err *err)
{
	AUTO_JSON *body = json_object();
	json_t *boot = json_object();

	js_set_str(boot, "BootSourceOverrideEnabled", "Disabled");
	js_set_new(body, "Boot", boot);
	return redfish_call(rf, "PATCH", path, body, etag, answer, err);
}

/*
 * A one-shot entry that somebody left would be used up by this boot: the machine would come up in
 * whatever it names. An ETag that has become stale (412) is fetched again, once.
 */
static bool clear_override(struct redfish *rf, const char *path, struct err *err)
{
	for (int attempt = 0;; attempt++) {
		CLEANUP(http_answer_release) struct http_answer answer = {0};
		AUTO_FREE char *etag = NULL;
		AUTO_JSON *system = NULL;

		if (!redfish_get(rf, path, &system, &etag, err))
			return false;
		if (!boots_elsewhere(system))
			return true;
		if (!patch_boot(rf, path, etag, &answer, err))
			return false;
		if (answer.status / 100 == 2)
			return true;
		if (answer.status != 412 || attempt)
			return redfish_refused(&answer, err);
	}
}

static void prepare_boot(struct power_link *link, struct redfish *rf, const char *path,
			 const json_t *system)
{
	struct err err = {0};

	if (!boots_elsewhere(system))
		return;
	log_warn("machine %s: somebody left a one-shot boot override; it is cleared",
		 link->machine);
	if (!clear_override(rf, path, &err))
		log_warn("machine %s: it stays: %s", link->machine, err.msg);
}

static bool redfish_order(struct power_link *link, enum power_verb verb, struct err *err)
{
	AUTO_FREE char *path = NULL, *own_target = NULL;
	AUTO_JSON *system = NULL, *allowed = NULL;
	struct redfish *rf;
	json_t *action;
	const char *target;

	if (!types[verb][0])
		return err_set(err, ERR_NOTFOUND, "made of off and on");
	if (!service(link, &rf, err) || !system_path(link, rf, &path, err) ||
	    !redfish_get(rf, path, &system, NULL, err))
		return false;
	action = json_object_get(json_object_get(system, "Actions"), "#ComputerSystem.Reset");
	own_target = xasprintf("%s/Actions/ComputerSystem.Reset", path);
	target = js_str_or(action, "target", own_target);
	if (!allowed_types(rf, action, &allowed, err))
		return false;
	if (verb == POWER_ON || verb == POWER_RESET)
		prepare_boot(link, rf, path, system);
	return try_types(rf, target, allowed, verb, err);
}

static bool redfish_ask(struct power_link *link, enum power_state *out, struct err *err)
{
	AUTO_FREE char *path = NULL;
	AUTO_JSON *system = NULL;
	struct redfish *rf;
	const char *state;

	if (!service(link, &rf, err) || !system_path(link, rf, &path, err) ||
	    !redfish_get(rf, path, &system, NULL, err) ||
	    !js_get_str(system, "PowerState", &state, err))
		return false;
	*out = !strcmp(state, "On")    ? POWER_IS_ON
	       : !strcmp(state, "Off") ? POWER_IS_OFF
				       : POWER_UNKNOWN;
	return true;
}

const struct power_driver power_redfish = {
	.name = "redfish",
	.check = redfish_driver_check,
	.order = redfish_order,
	.ask = redfish_ask,
	.end = redfish_end,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* The escalation ladder. */
#include "runner/ladder.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"

#define LOOK_S	1.0
/* The kernel works on one sysrq at a time; a sync of a laden machine takes a while. */
#define SYSRQ_S 2.0

void ladder_release(struct ladder *ladder)
{
	for (size_t i = 0; i < ladder->n; i++)
		free(ladder->v[i].name);
	free(ladder->v);
	ladder->v = NULL;
	ladder->n = 0;
}

void ladder_add(struct ladder *ladder, const char *name, bool (*step)(void *arg, struct err *err),
		void *arg, double wait_s)
{
	*array_push(ladder->v, ladder->n, ladder->cap) =
		(struct rung){.name = xstrdup(name), .step = step, .arg = arg, .wait_s = wait_s};
}

void ladder_add_sysrq(struct ladder *ladder, struct console_source *console, double wait_s)
{
	if (console)
		*array_push(ladder->v, ladder->n, ladder->cap) = (struct rung){
			.name = xstrdup("sysrq by console"), .console = console, .wait_s = wait_s};
}

void ladder_add_power(struct ladder *ladder, struct power *power, double wait_s)
{
	static const enum power_verb verbs[] = {POWER_SOFT, POWER_RESET, POWER_CYCLE};

	for (size_t i = 0; i < power_count(power); i++)
		for (size_t j = power_only_switches(power, i) ? 2 : 0; j < ARRAY_SIZE(verbs); j++)
			*array_push(ladder->v, ladder->n, ladder->cap) = (struct rung){
				.name = xasprintf("%s by %s", power_verb_name(verbs[j]),
						  power_name(power, i)),
				.power = power,
				.driver = i,
				.verb = verbs[j],
				.wait_s = wait_s};
}

static bool send_sysrq(struct console_source *console, struct err *err)
{
	for (const char *key = "sub"; *key; key++) {
		if (!console_source_sysrq(console, *key, err))
			return false;
		clock_sleep_s(SYSRQ_S);
	}
	return true;
}

static bool step(const struct rung *rung, struct err *err)
{
	if (rung->console)
		return send_sysrq(rung->console, err);
	if (rung->power)
		return power_do_by(rung->power, rung->driver, rung->verb, err);
	return rung->step(rung->arg, err);
}

static bool wait_for(const struct ladder *ladder, double wait_s, bool *is_back, struct err *err)
{
	double end = clock_mono_s() + wait_s;

	*is_back = false;
	while (!*is_back) {
		if (!ladder->back(ladder->arg, is_back, err))
			return false;
		if (clock_mono_s() > end)
			break;
		if (!*is_back)
			clock_sleep_s(LOOK_S);
	}
	return true;
}

static void tell(struct str *story, const struct rung *rung, const char *what)
{
	str_addf(story, "%s%s: %s", story->len ? "; " : "", rung->name, what);
}

/* *is_back: this rung has brought the machine back. */
static bool climb_one(const struct ladder *ladder, const struct rung *rung, bool *is_back,
		      struct str *story, struct err *err)
{
	double started = clock_mono_s();
	AUTO_STR what = str_new();
	struct err why = {0};

	*is_back = false;
	log_info("recovery: %s", rung->name);
	if (!step(rung, &why)) {
		tell(story, rung, why.msg);
		if (why.kind != ERR_CONFLICT)
			return true;
		*err = why;
		return false;
	}
	if (!wait_for(ladder, rung->wait_s, is_back, err))
		return false;
	str_add(&what, *is_back ? "back after " : "not back within ");
	clock_add_span(&what, *is_back ? clock_mono_s() - started : rung->wait_s);
	tell(story, rung, what.s);
	return true;
}

bool ladder_climb(const struct ladder *ladder, size_t *used, struct str *story, struct err *err)
{
	for (size_t i = 0; i < ladder->n; i++) {
		bool is_back;

		if (!climb_one(ladder, &ladder->v[i], &is_back, story, err))
			return false;
		if (is_back) {
			*used = i;
			return true;
		}
	}
	*used = ladder->n;
	return true;
}

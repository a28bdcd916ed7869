/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_POWER_H
#define RUNNER_POWER_H

/*
 * Power of a machine, from outside of it. A driver (runner/power/X.c, and its line in power.c) gives
 * raw orders and asks for the state; machine.power names a machine's drivers in the order in which
 * they are tried.
 *
 * Every verb is bounded by machine.power-timeout for each driver. What can be seen is looked at: an
 * order counts when the machine is in the state that it names, not when the device took it. A reset
 * cannot be seen from here; only a new boot of the machine proves it.
 */

#include "db/settings.h"

enum power_verb {
	POWER_ON,
	POWER_OFF,
	POWER_CYCLE, /* off, seen to be off, on */
	POWER_RESET, /* a machine that is off is turned on; where there is no reset, a cycle */
	POWER_SOFT,  /* the system is asked to shut down, then on; never replaced by a hard one */
	POWER_NMI,
	POWER_VERBS
};

enum power_state {
	POWER_UNKNOWN,
	POWER_IS_ON,
	POWER_IS_OFF,
};

/* The lease, in other words: a power action without it may hit somebody else's boot. */
struct power_guard {
	/* May the machine be touched for the next for_s seconds? Asked before each order. */
	bool (*may)(void *arg, double for_s, struct err *err);
	void *arg;
};

struct power;

/* ERR_USAGE when settings are wrong or a secret cannot be read. A machine without power settings has
 * no driver. guard: copied; NULL = the caller knows that nobody else uses the machine. */
bool power_open(const struct settings *settings, const char *machine,
		const struct power_guard *guard, struct power **out, struct err *err) _must_check;
void power_free(struct power *p);
void power_free_ptr(struct power **p);

size_t power_count(const struct power *p);
const char *power_name(const struct power *p, size_t i);

/* Driver after driver until one has done it; err tells what each said. ERR_CONFLICT and whatever
 * else the guard says ends it at once. */
bool power_do(struct power *p, enum power_verb verb, struct err *err) _must_check;
/* By driver i alone. ERR_NOTFOUND when it has no such verb. */
bool power_do_by(struct power *p, size_t i, enum power_verb verb, struct err *err) _must_check;
/* As the first driver says that can tell; POWER_UNKNOWN when there is none. */
bool power_state(struct power *p, enum power_state *out, struct err *err) _must_check;

/* "on", "off", "cycle", "reset", "soft", "nmi"; ERR_USAGE names those there are. */
bool power_verb_find(const char *name, enum power_verb *out, struct err *err) _must_check;
const char *power_verb_name(enum power_verb verb);
/* "on", "off", "unknown". */
const char *power_state_name(enum power_state state);

#endif

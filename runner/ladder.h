/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_LADDER_H
#define RUNNER_LADDER_H

/*
 * Bringing a machine back: rung by rung, the mildest first, each bounded, and after each some time
 * for the machine to return. A rung that fails costs no waiting. What the last rung leaves is a
 * machine for a person.
 *
 *   CLEANUP(ladder_release) struct ladder ladder = {.back = is_back, .arg = m};
 *   ladder_add(&ladder, "ssh reboot", ssh_reboot, m, 120);
 *   ladder_add_sysrq(&ladder, console, 120);
 *   ladder_add_power(&ladder, power, 300);
 */

#include "runner/console_source.h"
#include "runner/power.h"

struct rung {
	char *name;
	bool (*step)(void *arg, struct err *err); /* bounded by itself */
	void *arg;
	double wait_s;
	struct console_source *console; /* instead of step: sysrq s, u, b */
	struct power *power;		/* instead of step */
	size_t driver;
	enum power_verb verb;
};

struct ladder {
	/* Is the machine there again, freshly booted and healthy? Asked about every second. False
	 * ends the climb: the lease was lost, or we are told to stop. */
	bool (*back)(void *arg, bool *is_back, struct err *err);
	void *arg;
	struct rung *v;
	size_t n;
	size_t cap;
};

void ladder_release(struct ladder *ladder);
/* wait_s: for the machine to come back after the step. */
void ladder_add(struct ladder *ladder, const char *name, bool (*step)(void *arg, struct err *err),
		void *arg, double wait_s);
/* Emergency sync, remount and restart over the serial line; nothing when console is NULL. */
void ladder_add_sysrq(struct ladder *ladder, struct console_source *console, double wait_s);
/* Driver after driver: soft, reset, cycle; only the cycle where nothing else can be. */
void ladder_add_power(struct ladder *ladder, struct power *power, double wait_s);

/*
 * Climbs until the machine is back: *used is that rung, ladder->n when none helped. story gets a line
 * for a person, such as "ssh reboot: no route; reset by redfish: back after 41 s". False as back()
 * says, or with ERR_CONFLICT when a step found the lease lost.
 */
bool ladder_climb(const struct ladder *ladder, size_t *used, struct str *story,
		  struct err *err) _must_check;

#endif

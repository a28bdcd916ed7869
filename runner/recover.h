/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_RECOVER_H
#define RUNNER_RECOVER_H

/* Bringing a test machine back to its own kernel: gently first, in bounded steps. */

#include "runner/console_source.h"
#include "runner/console_watch.h"
#include "runner/power.h"
#include "runner/target.h"

struct recovery {
	struct ssh *ssh;
	struct power *power;		/* may be NULL */
	struct console_source *console; /* may be NULL */
	const char *machine;
	double wait_s;		   /* of each step, until ssh answers */
	struct target_state state; /* of the machine when it is back */
	struct str steps;	   /* what was done, for a person */
	size_t driver;		   /* of power, that the next step uses */
};

void recovery_init(struct recovery *r, struct ssh *ssh, const char *machine);
void recovery_release(struct recovery *r);

/*
 * Ends when ssh answers from the machine's own kernel, in a boot other than not_boot (empty: any).
 * ERR_FAILED: no step helped, and they are named; ERR_USAGE: nothing that we could do helps;
 * ERR_CONFLICT, ERR_DBDOWN: the lease does not hold, and the machine was left alone.
 */
bool recovery_run(struct recovery *r, const char *not_boot, struct err *err) _must_check;

/* Waits until a boot other than not_boot answers, and looks at it; ERR_TIMEOUT when none does, or
 * once watch (may be NULL) has heard that none will. */
bool recovery_wait(struct ssh *ssh, const char *dir, const char *not_boot, double timeout_s,
		   struct console_watch *watch, struct target_state *state,
		   struct err *err) _must_check;

/* The lease as the power drivers want it; arg is the worker. */
bool recovery_may(void *arg, double for_s, struct err *err) _must_check;

#endif

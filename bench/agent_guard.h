/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_GUARD_H
#define BENCH_AGENT_GUARD_H

/*
 * What brings a machine back when the kernel under test hangs while the agent works: a process of
 * its own feeds the hardware watchdog, until the job's deadline; then it stops feeding and restarts
 * the machine by sysrq. A kernel that runs no process any more stops feeding by itself.
 */

#include "base/str.h"

#include <sys/types.h>

#define GUARD_SYSRQ "/proc/sysrq-trigger"

struct guard {
	pid_t pid; /* 0: none */
};

/* watchdog_s: of its timer, 0 = leave it alone; deadman_s: from now, 0 = none; sysrq: GUARD_SYSRQ. *note tells
 * what is in force, or why it is not; the caller frees it. */
void guard_start(struct guard *guard, int watchdog_s, double deadman_s, const char *sysrq,
		 char **note);
/* The machine is well: the watchdog is stopped, where the driver lets it be. */
void guard_stop(struct guard *guard);

#endif

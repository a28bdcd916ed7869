/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_QUIET_H
#define RUNNER_QUIET_H

/*
 * How much of a guest's CPUs other work took while it measured: the host's other processes, and a
 * hypervisor below us (steal). Such a boot is a number about the host.
 */

#include "base/err.h"

#include <sys/types.h>

struct quiet {
	const char *cpus; /* CPU list that counts, such as "0-1"; NULL = all; borrowed */
	double busy_s;	  /* of these CPUs at the start */
	double at_s;	  /* clock_mono_s() */
};

/* False, and nothing to say later, when /proc/stat cannot be read. */
bool quiet_begin(struct quiet *quiet, const char *cpus) _must_check;
/*
 * Share (0 to 1) of the CPUs' time since quiet_begin() that neither was idle nor went to process pid,
 * all of whose time counts as since then. Negative when it cannot be told.
 */
double quiet_share(const struct quiet *quiet, pid_t pid);

/* The numbers behind it, from the text of /proc/stat: busy seconds of the listed CPUs, and how many
 * they are; for tests. */
double quiet_busy(const char *stat, const char *cpus, double ticks_per_s, int *n);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_HOST_H
#define RUNNER_HOST_H

/* This host: its rows in the database, and which of its CPUs do what. */

#include "db/job.h"
#include "db/settings.h"

/* A machine of this host; machines without CPUs of their own (driver fake) keep nothing busy. */
struct host_machine {
	const char *name; /* borrowed from the settings */
	int cpus;
	char *cpu_list; /* NULL: any */
};

struct host {
	int64_t id; /* 0 until host_register() */
	int cpus;
	/* Too few CPUs for builds beside guests: one thing at a time, so that neither disturbs. */
	bool turns;
	char *build_cpus; /* NULL: any */
	struct host_machine *machines;
	size_t n, cap;
};

/* The plan, from settings and CPU count alone. cpus = those that we may run on, n of them. */
void host_plan(struct host *host, const struct settings *settings, const int *cpus, int n);
/* host_plan() for the CPUs that this process may use. */
void host_init(struct host *host, const struct settings *settings);
void host_release(struct host *host);
/* ERR_USAGE when a machine of this host is set up in a way that cannot work. */
bool host_check(const struct host *host, const struct settings *settings,
		struct err *err) _must_check;
/* Upserts toolchain, host, classes and machines. */
bool host_register(struct host *host, const struct settings *settings, struct db *db,
		   struct err *err) _must_check;
/* CPU list for a job; borrowed. machine NULL: a build. */
const char *host_cpus_for(const struct host *host, const char *machine);

/* What runs now, for the next offer. */
struct host_load {
	int builds;
	int boots; /* on machines that keep CPUs busy */
};
struct job_offer host_offer(const struct host *host, const struct host_load *load);
/* Whether a boot on that machine counts in host_load. */
bool host_keeps_busy(const struct host *host, const char *machine);

#endif

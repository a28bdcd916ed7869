/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_DAEMONS_H
#define CLI_DAEMONS_H

/* The three daemons as children of `mmperf up`: started, started again after a while when they
 * end, and stopped in order. They die with us, however we die. */

#include "base/proc.h"
#include "db/settings.h"

#define DAEMONS_N 3

struct daemon_child {
	const char *name;
	char *path;
	struct proc proc;
	double started_s;
	double restart_at_s; /* when it does not run */
	double backoff_s;
	int failures; /* ends in a row */
};

struct daemons {
	struct daemon_child v[DAEMONS_N];
	char *config;	  /* path of the settings */
	const char *user; /* for those that need not be root; NULL = ours */
};

bool daemons_init(struct daemons *daemons, const struct settings *settings,
		  struct err *err) _must_check;
/* Stops what still runs. */
void daemons_release(struct daemons *daemons);
/* Starts those that do not run and whose time has come; notes those that have ended. */
bool daemons_look(struct daemons *daemons, struct err *err) _must_check;
/* One that has ended too often in a row; NULL when none has. */
const char *daemons_hopeless(const struct daemons *daemons);
/* First the one that decides, then the one that does, then the one that tells. */
void daemons_stop(struct daemons *daemons);

#endif

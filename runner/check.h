/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_CHECK_H
#define RUNNER_CHECK_H

/* The guided first look at a machine: one line for each thing that must be right, with what to do. */

#include "runner/worker.h"

enum check_verdict {
	CHECK_OK,
	CHECK_NOTE, /* works without, and something is lost */
	CHECK_BAD,
};

struct check_out {
	void (*say)(void *arg, const char *what, enum check_verdict verdict, const char *text);
	void *arg;
};

struct check_wish {
	const char *agent; /* path of mmperf-agent; NULL: it is not tried */
	bool jump;	   /* a kexec round trip with the machine's own kernel */
	bool power;	   /* a power cycle */
};

/* Stops at the first thing without which the rest cannot be looked at. False: the machine cannot be
 * used as it is (ERR_FAILED, and the lines have told why), or the lease is gone. */
bool check_machine(struct worker *w, const char *machine, const struct check_wish *wish,
		   const struct check_out *out, struct err *err) _must_check;

#endif

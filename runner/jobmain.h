/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_JOBMAIN_H
#define RUNNER_JOBMAIN_H

/* The process of one attempt. */

#include "runner/worker.h"

/*
 * Does the job and ends its attempt. False: the attempt was not ended by us; what is to be stored is
 * kept in its directory (runner/keep.h). stop: non-zero ends it early, as lost.
 */
bool job_main(const struct settings *settings, int64_t attempt, int64_t token, const int *stop,
	      struct err *err) _must_check;

/* Path of the agent for test machines, beside this program or in bench/ below; caller frees. */
bool job_agent_path(char **out, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_DAEMON_H
#define RUNNER_DAEMON_H

/* The loop of a host's runner: follow trees, claim jobs, look after the processes that do them. */

#include "db/settings.h"

/*
 * Runs until SIGTERM or SIGINT; SIGHUP fetches all trees now. once: does all work that there is, and
 * returns. A database that goes away is waited for.
 */
bool daemon_run(const struct settings *settings, bool once, struct err *err) _must_check;

#endif

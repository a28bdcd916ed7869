/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_COMMAND_RUN_H
#define BENCH_COMMAND_RUN_H

/* The command that is watched. */

#include "base/err.h"

/* Runs it and waits; Ctrl-C is left to it. *status as an exit status: 128 more than a signal. who names
 * us when it cannot be executed. */
bool command_run(const char *who, char *const *argv, int *status, struct err *err) _must_check;

#endif

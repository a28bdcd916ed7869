/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_SANDBOX_H
#define BASE_SANDBOX_H

/* Taking rights away from the calling process; for the child side of a fork: async-signal-safe. */

#include "base/err.h"

#include <stdbool.h>

/*
 * No socket can be opened any more, of any family, by this process or anything that it starts: a filter
 * of system calls, seccomp(2), for which nobody needs privileges. What is open already stays, and so do
 * pairs of sockets. Sets no_new_privs, so it comes after a change of user. False with errno.
 */
bool sandbox_cut_network(void) _must_check;

/* What is executed next gets no capability that the user whom it runs as does not bring. */
bool sandbox_drop_rights(void) _must_check;

#endif

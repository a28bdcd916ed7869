/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_CONSOLE_RECORD_H
#define RUNNER_CONSOLE_RECORD_H

/*
 * The process behind a struct console_source: connects, reads, connects again. Orders come over a
 * SOCK_SEQPACKET socket, one answer for each:
 *
 *   mark TEXT   -> ok POSITION
 *   sysrq KEY   -> ok 0
 *               -> no KIND REASON          KIND: an enum err_kind as a number
 */

#include "db/settings.h"

/* The settings of the machine's console are right and its secrets readable. *set: it has one. */
bool console_check(const struct settings *settings, const char *machine, bool *set,
		   struct err *err) _must_check;
/* Until the socket closes or *stop; control -1 = nobody gives orders. path NULL = stdout. */
bool console_record(const struct settings *settings, const char *machine, const char *path,
		    int control, const int *stop, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_WAIT_H
#define CLI_WAIT_H

/* Waiting for a request to end, with progress lines. */

#include "cli/session.h"
#include "db/request.h"

/*
 * Waits until the request has ended; fails when it failed or was cancelled, or when the person
 * interrupted the wait (the request goes on; the error says how to look at it or cancel it).
 */
bool wait_for_request(struct session *session, int64_t id, struct request *out,
		      struct err *err) _must_check;
/* For --no-wait: prints the number of the queued request. */
void wait_print_queued(struct session *session, const char *kind, int64_t id);
#endif

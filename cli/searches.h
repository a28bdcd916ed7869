/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_SEARCHES_H
#define CLI_SEARCHES_H

/* Looking at bisections, those by hand and those that the detector began. */

#include "cli/session.h"

bool searches_list(struct session *session, struct err *err) _must_check;
/* Its state, hypotheses with their masses, and steps with their reasons. */
bool search_show(struct session *session, int64_t id, struct err *err) _must_check;
/* Through the request that it belongs to. */
bool search_cancel(struct session *session, int64_t id, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_SEARCHES_H
#define CLI_SEARCHES_H

/* Looking at bisections, those by hand and those that the detector began. */

#include "cli/session.h"

bool searches_list(struct session *session, struct err *err) _must_check;
/* Its state, hypotheses with their masses, and steps with their reasons. */
bool search_show(struct session *session, int64_t id, struct err *err) _must_check;
/* What the bisector is asked to do with it: `kind` is extend (by boots), resume or halt. Waits until
 * that is done. */
bool search_steer(struct session *session, const char *kind, int64_t id, int64_t boots,
		  struct err *err) _must_check;

#endif

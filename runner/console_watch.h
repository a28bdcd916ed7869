/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_CONSOLE_WATCH_H
#define RUNNER_CONSOLE_WATCH_H

/*
 * Reading along while a kernel boots or measures, for what makes further waiting useless. Only
 * what was heard without a gap counts: silence is no sign, and what comes after a lost connection may be
 * an earlier boot's, which serial servers send again.
 */

#include "base/str.h"

struct console_watch {
	const char *path;   /* borrowed; a file that is not there has said nothing yet */
	size_t at;	    /* what stands before was looked at, or is not this boot's */
	size_t banner_from; /* a kernel's first words behind this tell of a restart */
	bool gap;
	struct str line; /* the one that told the end; empty before */
	double look_at_s, ended_at_s;
};

void console_watch_init(struct console_watch *w, const char *path);
void console_watch_release(struct console_watch *w);
/* Begins anew behind that position of the file. */
void console_watch_from(struct console_watch *w, size_t at);
/* Our kernel has come up: its own first words are among what is in the file now. */
void console_watch_is_up(struct console_watch *w);
/* True some moments after the line that tells that this kernel will not go on (its trace is then in the
 * file too). Looks a few times a second, however often it is called. */
bool console_watch_ended(struct console_watch *w);

#endif

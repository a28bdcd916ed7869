/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_SERIAL_LINES_H
#define RUNNER_SERIAL_LINES_H

/*
 * The agent's lines out of a console (docs/protocol.md, "By the serial line"). Pieces are numbered and have a sum each: what
 * is lost or damaged on the way is noticed, and the boot is void.
 */

#include "base/str.h"

#include <stdint.h>

struct serial_lines {
	size_t at;     /* position in the console of what was not taken yet */
	uint64_t next; /* number of the next piece */
	struct str line;
};

void serial_lines_init(struct serial_lines *s, size_t at);
void serial_lines_release(struct serial_lines *s);

/* Takes whole lines of a console; out gets the agent's, each with a newline. ERR_FAILED: a piece is missing or
 * damaged. */
bool serial_lines_feed(struct serial_lines *s, const char *text, size_t n, struct str *out,
		       struct err *err) _must_check;
/* The same from the file of the console, appended to the file of the lines. No console yet is no error. */
bool serial_lines_pull(struct serial_lines *s, const char *console, const char *lines,
		       struct err *err) _must_check;

#endif

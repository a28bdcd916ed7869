/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

/* How far something has come, on stderr: one living line on a terminal, plain lines elsewhere. */

#include "base/str.h"

struct progress {
	bool terminal;
	bool quiet;
	bool open; /* a living line stands on the terminal */
	double started_s;
	double shown_s;
	char *last, *phase;
};

void progress_init(struct progress *progress, bool quiet);
/* Ends the living line. */
void progress_release(struct progress *progress);
/*
 * Shows text, with how long it will take yet (NAN = not known; at_most says that it is a bound).
 * Elsewhere than on a terminal: when the phase is a new one, else when the text has changed and
 * five seconds have gone.
 */
void progress_show(struct progress *progress, const char *phase, const char *text, double eta_s,
		   bool at_most);
/* A line that stays: ends the living one first. */
void progress_note(struct progress *progress, const char *fmt, ...) _printf_(2, 3);

#endif

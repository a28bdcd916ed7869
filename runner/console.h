/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_CONSOLE_H
#define RUNNER_CONSOLE_H

/* What a console tells about a kernel that did not come to its end. */

#include "base/str.h"

/*
 * Looks for the first line that says how the kernel died. *outcome becomes panic, oops or hang (a
 * string constant; untouched when nothing is found), line gets that line as plain text. Lines that
 * the recorder wrote are no evidence.
 */
bool console_diagnose(const char *text, size_t n, const char **outcome, struct str *line);

/* What a person can do about a kernel that ended so, in words; NULL when that is not known. A string constant. */
const char *console_advice(const char *reason);

/* Whether this line means that the kernel that said it will not go on: a panic, a halt, a user space that
 * waits for a person. banner: so do a kernel's first words, since ours has said them before. */
bool console_ends(const char *line, size_t n, bool banner);
/* The recorder says that it heard nothing for a while. */
bool console_is_gap(const char *line, size_t n);

/* What passed on the line. One banner more than there were starts of ours: the machine restarted by
 * itself. A jump without a banner: the kernel never came up. Gaps: silence proves nothing. */
struct console_facts {
	size_t banners; /* "Linux version ", each kernel's first words */
	size_t kexecs;	/* "Starting new kernel", the old one's last */
	size_t inits;	/* "Run ... as init process": the kernel itself came up */
	size_t gaps;	/* times that the connection was lost */
};
struct console_facts console_facts(const char *text, size_t n);
/* For a kernel that does not answer by ssh, in words; a string constant. */
const char *console_sight(const struct console_facts *facts);

/* The last line that is not blank, as plain text, cut to a readable length. */
void console_last_line(const char *text, size_t n, struct str *line);

/* For a person's terminal: control characters but line ends and tabs become blanks, in place. */
void console_plain(char *bytes, size_t n);

#endif

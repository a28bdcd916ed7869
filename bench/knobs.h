/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KNOBS_H
#define BENCH_KNOBS_H

/* Files of /proc and /sys that are set, read back, and put back to what they were, whatever happens
 * to us (bench/knob_journal.h). */

#include "base/str.h"

struct knobs {
	char **paths; /* of those that we changed */
	size_t n, cap;
};

#define KNOBS_INIT         \
	{                  \
		NULL, 0, 0 \
	}
#define AUTO_KNOBS CLEANUP(knobs_restore) struct knobs

/* The value of one knob without the newline; of "always [madvise] never" the chosen word. The
 * caller frees it. ERR_NOTFOUND when this kernel has no such knob. */
bool knob_read(const char *path, char **out, struct err *err) _must_check;
/* Writes the value found to the journal (once per path), sets, reads back; an error names what
 * stayed. Starts a process that restores should this one be killed. */
bool knob_set(struct knobs *knobs, const char *path, const char *value,
	      struct err *err) _must_check;
/* What knob_set() does before and, when the knob refuses, after: for knobs that are no files. Writes
 * before to the journal; takes the newest entry out again. */
bool knob_remember(struct knobs *knobs, const char *path, const char *before,
		   struct err *err) _must_check;
void knob_forget(struct knobs *knobs);
/* Puts everything back, last set first, and empties knobs; what cannot be put back is said on
 * stderr. */
void knobs_restore(struct knobs *knobs);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KNOB_JOURNAL_H
#define BENCH_KNOB_JOURNAL_H

/*
 * What knobs were before we set them, in a file, so that even kill -9 leaves none behind. Entries
 * are layers: a process that ends takes its own off, in whatever order they end. A layer under
 * another one hands its value to that; the topmost one is written to the knob.
 *
 * The file is /run/mmperf/knobs (MMPERF_KNOBS names another directory); an earlier boot's is
 * ignored.
 */

#include "base/str.h"

/* This process is about to change the knob at path, which says before. Takes off first what
 * processes left that are gone. */
bool knob_journal_add(const char *path, const char *before, struct err *err) _must_check;
/* Takes this process's newest layer of path off; the knob was not changed. */
bool knob_journal_drop(const char *path, struct err *err) _must_check;
/* Takes this process's newest layer of each path off, the last path first, and puts the knobs back. What cannot be put
 * back is said on stderr. */
bool knob_journal_put_back(char *const *paths, size_t n, struct err *err) _must_check;
/* Takes off what processes left that are gone; *n: how many knobs were put back. */
bool knob_journal_recover(size_t *n, struct err *err) _must_check;

/* A process that waits for the end of this one, however it ends, then recovers. Holds no other
 * descriptor, answers no signal but SIGKILL. Without pidfds (before 5.3) there is none; then the next
 * process that sets a knob recovers. */
void knob_journal_guard(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_SPANS_H
#define BISECTOR_SPANS_H

/*
 * "Nothing down to x" for every commit: what the comparisons that the detector makes between measured commits of a
 * branch's newest snapshot would have shown of whatever lies between them.
 */

#include "bisector/watch.h"

/* Stores them for one series, whose history is stored; part of the caller's transaction. */
bool spans_make(struct bisector *bisector, const struct series *series, int64_t branch,
		int64_t snapshot, const struct watch_history *history, struct err *err) _must_check;

#endif

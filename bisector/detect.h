/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_DETECT_H
#define BISECTOR_DETECT_H

/*
 * From routine boots to candidates: the head of each snapshot against the head before it (the
 * first: against its base), once, when all routine boots of both have ended. Only the first
 * `detect.boots` boots of an image are looked at, and noise as it was known before them, so that
 * looking again sees the same.
 */

#include "bisector/bisector.h"

bool detect_advance(struct bisector *bisector, struct err *err) _must_check;

#endif

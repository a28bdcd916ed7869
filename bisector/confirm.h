/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_CONFIRM_H
#define BISECTOR_CONFIRM_H

/*
 * Fresh boots of before and after decide whether a candidate is a change. Stages of
 * `detect.confirm-boots` boots a side, in random order; stats/detect.h says when it is enough. A
 * confirmed leader gets its bisection in the same transaction; a refuted one hands the lead on.
 */

#include "bisector/bisector.h"

bool confirm_advance(struct bisector *bisector, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_NIGHTLY_H
#define BISECTOR_NIGHTLY_H

/*
 * The whole history of each series over the heads of its branch, every `detect.history-every`:
 * exact segmentation (stats/segment.h) places the steps and stores them. What rose in steps too
 * small or too slow for the online detector becomes a candidate, candidates of one step become
 * one, and a regression whose numbers are good again is closed.
 */

#include "bisector/bisector.h"

bool nightly_advance(struct bisector *bisector, struct err *err) _must_check;

#endif

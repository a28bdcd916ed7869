/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_STEER_H
#define BISECTOR_STEER_H

/* Requests about a bisection that is there: more boots, again, no more. */

#include "bisector/bisector.h"
#include "db/request.h"

/* *mine: the request is of these kinds, and has been done. What cannot be is ERR_USAGE. */
bool steer_advance(struct bisector *bisector, const struct request *request, bool *mine,
		   struct err *err) _must_check;

#endif

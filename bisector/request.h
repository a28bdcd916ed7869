/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_REQUEST_H
#define BISECTOR_REQUEST_H

/*
 * Requests by hand, each moved on as far as it can be. What a person got wrong ends the request as
 * failed, with one line; other errors leave it for the next time. docs/requests.md has the forms.
 */

#include "bisector/bisector.h"

bool request_advance(struct bisector *bisector, struct err *err) _must_check;

#endif

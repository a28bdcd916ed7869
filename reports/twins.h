/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_TWINS_H
#define REPORTS_TWINS_H

/* The false-alarm rate that the standing A/A measured. */

#include "base/js.h"
#include "base/str.h"

/* Adds to "twins" of status_alarms() the shares of suspected and confirmed twins with Wilson's 95 % limits:
 * {suspected,confirmed}_{share,lo,hi}; null while no twin was judged. */
void twins_add_rates(json_t *twins);
/* "standing A/A: of 40 heads fed in again with another layout 3 (7.5 % [2.6, 19.9]) were suspected and 0 (0 % [0.0,
 * 8.8]) confirmed: ..." of what twins_add_rates() made; plain text. */
void twins_say(struct str *out, const json_t *twins);

#endif

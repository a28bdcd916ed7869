/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

/* Clocks and time as text. */

#include "base/str.h"

#include <stdint.h>

/* CLOCK_MONOTONIC in seconds; for intervals. */
double clock_mono_s(void);
uint64_t clock_mono_ns(void);
/* CLOCK_REALTIME in whole seconds. */
int64_t clock_wall_s(void);
void clock_sleep_s(double seconds);
/* "2026-10-01 12:34:56" in UTC. */
void clock_add_utc(struct str *out, int64_t wall_s);
/* RFC 5322 date, UTC: "Thu, 01 Oct 2026 12:34:56 +0000". */
void clock_add_rfc5322(struct str *out, int64_t wall_s);
/* "45 s", "3 min 20 s", "2 h 5 min": two units at most. */
void clock_add_span(struct str *out, double seconds);

#endif

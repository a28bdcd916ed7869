/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_NUMBER_H
#define REPORTS_NUMBER_H

/* Numbers as people read them: four digits, a unit that fits, "-" for what is not known. */

#include "base/str.h"

/* unit as in metrics.unit; ns become us, ms or s, bytes KiB .. TiB: "412.3 ns", "1.204 ms". */
void number_add(struct str *out, double value, const char *unit);
/* "+12.3 %", "-0.04 %", "x 25" from +900 % on; "-" when not finite. */
void number_add_pct(struct str *out, double pct);
/* "+10.1 .. +14.6 %" */
void number_add_interval(struct str *out, double lo_pct, double hi_pct);
/* "0.9971", and never 1 for less than 1. */
void number_add_probability(struct str *out, double p);
/* "0.42 %" of a share in 0..1. */
void number_add_share(struct str *out, double share);

/* A text of a number for printf's %s in tables: a short-lived value. */
struct number_text {
	char s[48];
};
struct number_text number_value(double value, const char *unit);
struct number_text number_pct(double pct);
struct number_text number_interval(double lo_pct, double hi_pct);
struct number_text number_share(double share);

#endif

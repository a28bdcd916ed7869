/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_RATIO_H
#define STATS_RATIO_H

/* One effect as a share of another. */

#include "stats/estimate.h"

struct ratio {
	double value;
	double lo, hi; /* -inf, inf: the divisor cannot be told from 0, so nothing is excluded */
};

/*
 * part.diff / whole.diff for two independent differences, with the interval of Fieller (1954): the
 * r with (part - r whole)^2 <= t^2 (se_part^2 + r^2 se_whole^2), t of the smaller df, at 95 %.
 */
struct ratio ratio_fieller(const struct interval *part, const struct interval *whole);

#endif

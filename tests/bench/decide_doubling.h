/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BENCH_DECIDE_DOUBLING_H
#define TESTS_BENCH_DECIDE_DOUBLING_H

/* A baseline: how a service that compares neighbours by a rank test would search. */

#include "stats/rng.h"

/* Mean boots, the ends' included, for n commits and a change of d. */
double doubling_boots(size_t n, double d, size_t trials, struct rng *rng);

#endif

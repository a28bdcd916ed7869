/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_MULTIPLE_H
#define STATS_MULTIPLE_H

/* Many tests at once. */

#include <stddef.h>

/*
 * Replaces n p-values by Holm's adjusted ones: calling those below alpha significant is wrong
 * about any of them with probability alpha at most, however they depend on each other (Holm 1979).
 */
void multiple_holm(double *p, size_t n);

#endif

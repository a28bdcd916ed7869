/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_OFFSETS_H
#define STATS_OFFSETS_H

/*
 * Machines of one class have offsets of their own, N(0, machine_sd). They are integrated out by
 * importance sampling on a fixed quasi-random set: points that cover the offsets' posterior, each
 * with its weight. When one machine saw only good ends and another only bad ones, the points are
 * as wide as the prior, and the posterior says as little as it should.
 */

#include <stddef.h>

enum {
	OFFSETS_POINTS = 64,
	OFFSETS_MACHINES_MAX = 40
};

struct offsets_boots {
	size_t n;
	const double *y;
	const double *after;   /* chance that the boot's node has the culprit */
	const size_t *machine; /* 0 .. machines - 1 */
	size_t machines;       /* <= OFFSETS_MACHINES_MAX */
	double sigma;	       /* about */
	double machine_sd;     /* > 0 */
};

/*
 * Fills point[k * machines + m], the offset of machine m in point k, and log_weight[k], the log of
 * prior density over sampling density. The sampling density is the posterior of the linear model
 * y = level + after * shift + offset + noise, 1.3 times as wide.
 */
void offsets_points(const struct offsets_boots *boots, double *point, double *log_weight);

#endif

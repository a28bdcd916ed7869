/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_TAPE_H
#define STATS_TAPE_H

/*
 * Recorded noise: what boots of one kernel lay off its mean, to be replayed in simulations. Shape, outliers and what
 * neighbouring boots share stay as they were; what differs from kernel to kernel, their layouts above all, is not in it.
 */

#include <stddef.h>
#include <stdint.h>

#include "stats/rng.h"

struct tape {
	double *z; /* in the order of the boots; deviation 1 */
	size_t n;
	size_t images; /* kernels that the boots were of */
	double sd;     /* of one boot, as it was */
	double df;     /* n - images */
};

/*
 * y[n], logs, of these images, in the order of the boots. Images with one boot are left out; what lies off a mean of k
 * boots is too near to it and is stretched by sqrt(k / (k - 1)). n, df and sd are 0 when nothing is left or all agree.
 */
void tape_record(struct tape *tape, const int64_t *image, const double *y, size_t n);
void tape_release(struct tape *tape);

/* A place on a tape, which has no end. */
struct tape_head {
	const struct tape *tape; /* not empty */
	size_t at;
};

/* Anywhere. */
struct tape_head tape_start(const struct tape *tape, struct rng *rng);
double tape_next(struct tape_head *head);

#endif

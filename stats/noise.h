/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_NOISE_H
#define STATS_NOISE_H

/* The density of one boot's number about its level: a normal with a broad second component. */

/* A number this many broad deviations out is a broken boot: further out tells no more, else one such
 * number would make all the others look alike. */
#define NOISE_FAR_OUT 4.0

struct noise {
	double outlier;	      /* weight of the broad component, 0 <= outlier < 1 */
	double outlier_scale; /* its deviation in units of sigma */
	double *table;	      /* noise_log_exact() at z = -1/STEPS, 0, 1/STEPS, ... */
};

void noise_init(struct noise *noise, double outlier, double outlier_scale);
void noise_release(struct noise *noise);
/* Log of the density at z sigma, without the terms -log(sigma) - log(2 pi) / 2. With outliers
 * allowed it is level beyond 4 broad deviations. */
double noise_log_exact(const struct noise *noise, double z);
/* The same from the table, to 1e-7. */
double noise_log(const struct noise *noise, double z);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Noise with outliers. */
#include "stats/noise.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

enum {
	STEPS = 32, /* per sigma */
	SIGMAS = 10,
};

double noise_log_exact(const struct noise *noise, double z)
{
	double outlier = noise->outlier, outlier_scale = noise->outlier_scale;
	double zz = 0.5 * z * z;
	double broad, share, end = NOISE_FAR_OUT * outlier_scale;

	if (outlier <= 0.0)
		return -zz;
	if (fabs(z) > end)
		zz = 0.5 * end * end;
	broad = zz / (outlier_scale * outlier_scale);
	share = outlier / outlier_scale;
	if (zz - broad > 40.0)
		return log(share) - broad;
	return log(share + (1.0 - outlier) * exp(broad - zz)) - broad;
}

/* Four-point interpolation between tabulated values: off by less than 1e-7, and several times as
 * fast as an exponential and a logarithm. */
double noise_log(const struct noise *noise, double z)
{
	double x = fabs(z) * STEPS, t;
	const double *v;
	size_t i;

	if (x >= STEPS * SIGMAS)
		return noise_log_exact(noise, z);
	i = (size_t)x;
	t = x - (double)i;
	v = noise->table + i; /* of the points i - 1 .. i + 2 */
	return (t - 1.0) * (t - 2.0) * (0.5 * (t + 1.0) * v[1] - t * v[0] / 6.0) +
	       (t + 1.0) * t * ((t - 1.0) * v[3] / 6.0 - 0.5 * (t - 2.0) * v[2]);
}

void noise_init(struct noise *noise, double outlier, double outlier_scale)
{
	size_t n = STEPS * SIGMAS + 3;

	*noise = (struct noise){.outlier = outlier, .outlier_scale = outlier_scale};
	noise->table = xcalloc(n, sizeof(*noise->table));
	for (size_t i = 0; i < n; i++)
		noise->table[i] = noise_log_exact(noise, ((double)i - 1.0) / STEPS);
}

void noise_release(struct noise *noise)
{
	free(noise->table);
	*noise = (struct noise){0};
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The noise that other boots show. */
#include "stats/aside.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/estimate.h"

/* Half width of the window of levels, and spacing of its points, in deviations of the level: as in
 * stats/levels.c, 24 nats. */
static const double window_sds = 6.9;
static const double step_sds = 0.7;
/* So few may be an outlier each: the window holds them all. */
static const size_t few = 3;

static void drop(struct aside *a)
{
	for (size_t k = 0; k < a->sigmas; k++)
		lattice_release(&a->at[k]);
	a->sigmas = 0;
}

void aside_release(struct aside *a)
{
	drop(a);
	free(a->at);
	free(a->y);
	*a = (struct aside){0};
}

/* Numbers are taken from the first one on: levels are small beside their spread then. */
void aside_add(struct aside *a, const struct noise *noise, double y)
{
	*array_push(a->y, a->n, a->cap) = a->n ? y - a->y[0] : y;
	for (size_t k = 0; k < a->sigmas; k++)
		lattice_add(&a->at[k], noise, 0, a->n > 1 ? a->y[a->n - 1] : 0.0);
}

static void lay_one(struct lattice *l, const struct noise *noise, const double *y, size_t n,
		    double sigma)
{
	double sd = sigma / sqrt((double)n), middle = estimate_median(y, n);
	struct lattice_range r = {middle - window_sds * sd, middle + window_sds * sd,
				  step_sds * sd};
	const struct shift_prior none = shift_prior_known(r.h);

	for (size_t i = 0; n <= few && i < n; i++) {
		if (fabs(y[i] - middle) > 60.0 * sigma)
			continue;
		r.lo = fmin(r.lo, y[i] - window_sds * sigma);
		r.hi = fmax(r.hi, y[i] + window_sds * sigma);
	}
	lattice_init(l, sigma, &r, &none, 0.0, 0.0);
	for (size_t i = 0; i < n; i++)
		lattice_add(l, noise, 0, y[i]);
}

void aside_lay(struct aside *a, const struct noise *noise, const double *log_sigma, size_t sigmas)
{
	double origin = a->n ? a->y[0] : 0.0;

	drop(a);
	if (!a->n)
		return;
	a->y[0] = 0.0;
	a->at = xreallocarray(a->at, sigmas, sizeof(*a->at));
	memset(a->at, 0, sigmas * sizeof(*a->at));
	for (size_t k = 0; k < sigmas; k++)
		lay_one(&a->at[k], noise, a->y, a->n, exp(log_sigma[k]));
	a->sigmas = sigmas;
	a->y[0] = origin;
}

double aside_log(const struct aside *a, size_t k)
{
	const struct lattice *l;
	double sum = 0.0;

	if (k >= a->sigmas)
		return 0.0;
	l = &a->at[k];
	for (size_t i = 0; i < l->points; i++)
		sum += l->row[i];
	return log(sum * l->h) + l->log_scale[0] - (double)a->n * log(l->sigma);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Sums over sigmas. */
#include "stats/mixture.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* By how much later numbers may be larger before sums are scaled anew, nats. */
static const double scale_most = 300.0;

void mixture_init(struct mixture *m)
{
	*m = (struct mixture){.log_scale = -INFINITY, .rest = -INFINITY};
}

static void add(struct mixture *m, const struct sums *sum, double log_scale, double s, double ss)
{
	double w;

	if (log_scale - m->log_scale > scale_most) /* what there was is nothing beside it */
		*m = (struct mixture){.log_scale = log_scale, .rest = m->rest};
	w = exp(log_scale - m->log_scale);
	m->sum.z += w * sum->z;
	m->sum.x0 += w * sum->x0;
	m->sum.xx0 += w * sum->xx0;
	m->sum.x1 += w * sum->x1;
	m->sum.xx1 += w * sum->xx1;
	m->sum.d += w * sum->d;
	m->sum.dd += w * sum->dd;
	m->s += w * sum->z * s;
	m->ss += w * sum->z * ss;
}

void mixture_add(struct mixture *m, const struct sums *sum, double log_scale, double sigma)
{
	add(m, sum, log_scale, sigma, sigma * sigma);
}

void mixture_add_rest(struct mixture *m, double log_z)
{
	double top = m->rest > log_z ? m->rest : log_z;

	if (!isinf(log_z))
		m->rest = top + log(exp(m->rest - top) + exp(log_z - top));
}

static struct moment moment_of(double z, double x, double xx)
{
	double mean = x / z, var = xx / z - mean * mean;

	return (struct moment){.mean = mean, .var = var > 0.0 ? var : 0.0};
}

struct levels_fit mixture_fit(const struct mixture *m)
{
	const struct sums *s = &m->sum;

	if (!(s->z > 0.0))
		return (struct levels_fit){.log_evidence = -INFINITY};
	return (struct levels_fit){
		.log_evidence = m->log_scale + log(s->z),
		.level0 = moment_of(s->z, s->x0, s->xx0),
		.level1 = moment_of(s->z, s->x1, s->xx1),
		.shift = moment_of(s->z, s->d, s->dd),
		.sigma = moment_of(s->z, m->s, m->ss),
	};
}

/* Newton's form of the log ratio to the leader, in u = (sigma of the first sample / sigma)^2. */
struct ratio {
	double first, slope, bend, second_at;
};

void mixture_grid_lay(struct mixture_grid *grid)
{
	grid->sigma = xcalloc(2 * grid->sigmas, sizeof(*grid->sigma));
	grid->u = grid->sigma + grid->sigmas;
	for (size_t k = 0; k < grid->sigmas; k++) {
		grid->sigma[k] = exp(grid->log_sigma[k]);
		grid->u[k] = exp(2.0 * (grid->log_sigma[grid->at[0]] - grid->log_sigma[k]));
	}
}

void mixture_grid_release(struct mixture_grid *grid)
{
	free(grid->sigma);
	grid->sigma = grid->u = NULL;
}

static double ratio_at(const struct ratio *r, double u)
{
	return r->first + (u - 1.0) * (r->slope + (u - r->second_at) * r->bend);
}

/* Through the samples that there are; one alone is a sum of squares. */
static struct ratio ratio_of(const struct mixture_grid *grid,
			     const struct sample samples[MIXTURE_SAMPLES])
{
	struct ratio r = {.first = samples[0].log_z - grid->log_z[0], .second_at = 1.0};
	size_t n = 0;

	for (int j = 1; j < MIXTURE_SAMPLES; j++) {
		double u = grid->u[grid->at[j]], y = samples[j].log_z - grid->log_z[j];
		double slope = (y - r.first) / (u - 1.0);

		if (isinf(samples[j].log_z) || isinf(grid->log_z[j]))
			continue;
		if (n++ == 0) {
			r.slope = slope;
			r.second_at = u;
		} else {
			r.bend = (slope - r.slope) / (u - r.second_at);
		}
	}
	if (!n)
		r.slope = r.first;
	return r;
}

static int nearest(const struct mixture_grid *grid, const struct sample samples[MIXTURE_SAMPLES],
		   size_t k)
{
	int best = 0;

	for (int j = 1; j < MIXTURE_SAMPLES; j++) {
		double far = fabs((double)k - (double)grid->at[j]);

		if (!isinf(samples[j].log_z) && far < fabs((double)k - (double)grid->at[best]))
			best = j;
	}
	return best;
}

/* Each sample stands for the sigmas that are nearest to it. */
void mixture_interpolate(struct mixture *m, const struct mixture_grid *grid,
			 const struct sample samples[MIXTURE_SAMPLES])
{
	struct ratio ratio = ratio_of(grid, samples);
	struct {
		double z, s, ss;
	} part[MIXTURE_SAMPLES] = {0};

	for (size_t k = 0; k < grid->sigmas; k++) {
		int j = nearest(grid, samples, k);
		double sigma = grid->sigma[k];
		double z = exp(grid->leader[k] + ratio_at(&ratio, grid->u[k]) - samples[j].log_z);

		part[j].z += z;
		part[j].s += z * sigma;
		part[j].ss += z * sigma * sigma;
	}
	for (int j = 0; j < MIXTURE_SAMPLES; j++) {
		const struct sample *of = &samples[j];

		if (!(part[j].z > 0.0))
			continue;
		if (of->levels)
			add(m, &of->sum, of->log_scale + log(part[j].z), part[j].s / part[j].z,
			    part[j].ss / part[j].z);
		else
			mixture_add_rest(m, of->log_z + log(part[j].z));
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Integrals over levels. */
#include "stats/lattice.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Half width of a window in posterior deviations of its level: leaves out 1e-10. */
static const double window_sds = 6.5;
/* Spacing of level points in posterior deviations of the level; the unit test against brute force
 * holds the result within 1e-3 with it. */
static const double level_step_sds = 0.4;
/* History of the good level never counts for more than so many boots. */
static const double level_boots_max = 400.0;

static const long lattice_max = 1L << 16;

static bool has_history(const struct fitter *f)
{
	return f->prior->level_sd > 0.0;
}

static double history_sd(const struct fitter *f, double sigma)
{
	return fmax(f->prior->level_sd, sigma / sqrt(level_boots_max));
}

void lattice_order(const struct fitter *f, const struct split *split, double level[2])
{
	double n0 = (double)split->side[BEFORE].n, n1 = (double)split->side[AFTER].n;
	double pooled;

	if (n0 <= 0.0 || n1 <= 0.0 || level[AFTER] - level[BEFORE] >= f->shift.lo)
		return;
	pooled = (n0 * level[BEFORE] + n1 * level[AFTER]) / (n0 + n1);
	level[BEFORE] = pooled - f->shift.lo * n1 / (n0 + n1);
	level[AFTER] = level[BEFORE] + f->shift.lo;
}

struct range {
	double lo, hi;
};

static void range_cover(struct range *r, double centre, double half)
{
	r->lo = fmin(r->lo, centre - half);
	r->hi = fmax(r->hi, centre + half);
}

/* Mean of what lies near the median: the mode of a likelihood with a broad component. */
static double trimmed_mean(const struct side *side, double sigma, size_t *used)
{
	double sum = 0.0;
	size_t n = 0;

	for (size_t i = 0; i < side->n; i++)
		if (fabs(side->y[i] - side->median) <= 4.0 * sigma) {
			sum += side->y[i];
			n++;
		}
	*used = n;
	return n ? sum / (double)n : side->median;
}

/* Posterior deviation of the level of a side with n boots. */
static double level_sd(const struct fitter *f, int s, size_t n)
{
	double precision = (double)n / (f->sigma * f->sigma);

	if (s == BEFORE && has_history(f))
		precision += 1.0 / pow(history_sd(f, f->sigma), 2.0);
	return 1.0 / sqrt(precision);
}

static void cover_history(const struct fitter *f, const struct side *side, double centre,
			  struct range *r)
{
	double hsd = history_sd(f, f->sigma), mean = f->prior->level;

	if (side->n) {
		double w = (double)side->n * hsd * hsd / (f->sigma * f->sigma);
		double half = window_sds * level_sd(f, BEFORE, side->n);

		range_cover(r, (f->prior->level + w * centre) / (1.0 + w), half);
		if (fabs(centre - mean) > 6.0 * f->sigma)
			range_cover(r, mean, half);
		return;
	}
	range_cover(r, mean, window_sds * hsd);
}

/* Where the level of side s may lie; a few boots far apart may be an outlier each. */
static struct range side_range(const struct fitter *f, const struct split *split, int s,
			       const double ordered[2])
{
	const struct side *side = &split->side[s];
	struct range r = {INFINITY, -INFINITY};
	size_t used = 0;
	double centre = NAN, half;

	if (side->n) {
		centre = trimmed_mean(side, f->sigma, &used);
		half = window_sds * f->sigma / sqrt(used ? (double)used : 1.0);
		range_cover(&r, centre, half);
		range_cover(&r, ordered[s], half);
		if (side->n <= 3 && side->y[side->n - 1] - side->y[0] < 60.0 * f->sigma) {
			range_cover(&r, side->y[0], window_sds * f->sigma);
			range_cover(&r, side->y[side->n - 1], window_sds * f->sigma);
		}
	}
	if (s == BEFORE && has_history(f))
		cover_history(f, side, centre, &r);
	return r;
}

static struct window side_window(const struct fitter *f, const struct split *split, int s)
{
	double level[2] = {split->side[BEFORE].median, split->side[AFTER].median};
	struct range r;
	struct window w = {.stride = 1};
	double wanted = level_step_sds * level_sd(f, s, split->side[s].n);
	long to;

	lattice_order(f, split, level);
	r = side_range(f, split, s, level);
	while (w.stride < STRIDE_MAX && 2.0 * (double)w.stride * f->h <= wanted)
		w.stride *= 2;
	w.from = (long)floor(r.lo / f->h / (double)w.stride) * w.stride;
	to = (long)ceil(r.hi / f->h / (double)w.stride) * w.stride;
	w.points = (size_t)((to - w.from) / w.stride) + 1;
	return w;
}

static bool side_used(const struct fitter *f, const struct split *split, int s)
{
	return split->side[s].n || (s == BEFORE && has_history(f));
}

static void choose_spacing(struct fitter *f, const bool *counts)
{
	double finest = INFINITY;

	for (size_t i = 0; i < f->n_splits; i++)
		for (int s = 0; counts[i] && s < 2; s++)
			if (side_used(f, &f->splits[i], s))
				finest = fmin(finest, level_sd(f, s, f->splits[i].side[s].n));
	f->h = level_step_sds * finest;
}

static void hull(struct fitter *f, const bool *counts)
{
	f->first = INT64_MAX;
	f->last = INT64_MIN;
	for (size_t i = 0; i < f->n_splits; i++)
		for (int s = 0; counts[i] && s < 2; s++) {
			struct window w;

			if (!side_used(f, &f->splits[i], s))
				continue;
			w = side_window(f, &f->splits[i], s);
			if (w.from < f->first)
				f->first = w.from;
			if (w.from + (long)(w.points - 1) * w.stride > f->last)
				f->last = w.from + (long)(w.points - 1) * w.stride;
		}
}

static void drop_hats(struct fitter *f)
{
	for (size_t i = 0; i < STRIDE_LOGS; i++) {
		free(f->hat[i]);
		f->hat[i] = NULL;
	}
}

void lattice_lay(struct fitter *f, double log_sigma, const bool *counts)
{
	size_t points;

	f->sigma = exp(log_sigma);
	choose_spacing(f, counts);
	hull(f, counts);
	while (f->last - f->first > lattice_max) {
		f->h *= 2.0;
		hull(f, counts);
	}
	points = (size_t)(f->last - f->first) + 1;
	f->table = xreallocarray(f->table, f->boots->groups * points, sizeof(*f->table));
	for (size_t i = 0; i < f->boots->groups * points; i++)
		f->table[i] = NAN;
	f->ramp = xreallocarray(f->ramp, points + RAMP_BEFORE + STRIDE_MAX, sizeof(*f->ramp));
	for (size_t m = 0; m < points + RAMP_BEFORE + STRIDE_MAX; m++)
		f->ramp[m] = shift_ramp(&f->shift, ((double)m - RAMP_BEFORE) * f->h);
	drop_hats(f);
	for (int s = 0; s < 2; s++)
		f->e[s] = xreallocarray(f->e[s], points, sizeof(**f->e));
}

static double log_group(const struct fitter *f, size_t group, double level)
{
	double sum = 0.0;

	for (size_t i = group ? f->group_end[group - 1] : 0; i < f->group_end[group]; i++)
		sum += noise_log(&f->density, (f->by_group[i] - level) / f->sigma);
	return sum;
}

static void fill_row(const struct fitter *f, double *row, size_t group, const struct window *w)
{
	for (size_t i = 0; i < w->points; i++) {
		long at = w->from + (long)i * w->stride;

		if (isnan(row[at - f->first]))
			row[at - f->first] = log_group(f, group, (double)at * f->h);
	}
}

/* e[i] = exp(log likelihood of the side at window point i - the largest); returns the largest. */
static double side_likelihood(struct fitter *f, const struct split *split, int s,
			      const struct window *w)
{
	size_t width = (size_t)(f->last - f->first) + 1;
	double max = -INFINITY;
	double *e = f->e[s];

	memset(e, 0, w->points * sizeof(*e));
	for (size_t g = 0; g < f->boots->groups; g++) {
		double *row = f->table + g * width;

		if (split->after[g] != (s == AFTER))
			continue;
		fill_row(f, row, g, w);
		for (size_t i = 0; i < w->points; i++)
			e[i] += row[w->from - f->first + (long)i * w->stride];
	}
	for (size_t i = 0; s == BEFORE && has_history(f) && i < w->points; i++) {
		double sd = history_sd(f, f->sigma);
		double x = (double)(w->from + (long)i * w->stride) * f->h;

		e[i] -= 0.5 * pow((x - f->prior->level) / sd, 2.0) + log(sd * sqrt(2.0 * M_PI));
	}
	for (size_t i = 0; i < w->points; i++)
		max = fmax(max, e[i]);
	for (size_t i = 0; i < w->points; i++)
		e[i] = exp(e[i] - max);
	return max;
}

static void sum_one_side(const struct fitter *f, int s, const struct window *w, struct sums *sum)
{
	double shift = shift_mean(&f->shift), shift_sq = shift_mean_sq(&f->shift);
	double other = s == BEFORE ? shift : -shift;
	double step = (double)w->stride * f->h, x1 = 0.0, x2 = 0.0, z = 0.0;

	for (size_t i = 0; i < w->points; i++) {
		double x = (double)(w->from + (long)i * w->stride) * f->h;
		double p = f->e[s][i] * step;

		z += p;
		x1 += p * x;
		x2 += p * x * x;
	}
	*sum = (struct sums){.z = z, .d = z * shift, .dd = z * shift_sq};
	*(s == BEFORE ? &sum->x0 : &sum->x1) = x1;
	*(s == BEFORE ? &sum->xx0 : &sum->xx1) = x2;
	*(s == BEFORE ? &sum->x1 : &sum->x0) = x1 + z * other;
	*(s == BEFORE ? &sum->xx1 : &sum->xx0) = x2 + 2.0 * x1 * other + z * shift_sq;
}

/* hat[m]: prior of the upper level lying around m lattice points above the lower one. */
static const double *hat_of_stride(struct fitter *f, long stride)
{
	size_t n = (size_t)(f->last - f->first) + 1 + STRIDE_MAX;
	int i = __builtin_ctzl((unsigned long)stride);

	if (!f->hat[i]) {
		f->hat[i] = xcalloc(n, sizeof(**f->hat));
		for (size_t m = 0; m < n; m++) {
			const double *r = f->ramp + STRIDE_MAX + m;

			f->hat[i][m] = r[stride] - 2.0 * r[0] + r[-stride];
		}
	}
	return f->hat[i] + STRIDE_MAX;
}

/* Both sides have boots or history: every pair of levels, weighted by the prior of their
 * difference integrated against the hat around the upper one. */
static void sum_two_sides(struct fitter *f, const struct window *w0, const struct window *w1,
			  struct sums *sum)
{
	const double *hat = hat_of_stride(f, w1->stride);
	double step = (double)w0->stride / (double)w1->stride, h1 = (double)w1->stride * f->h;

	*sum = (struct sums){0};
	for (size_t i = 0; i < w0->points; i++) {
		long a = w0->from + (long)i * w0->stride, m = w1->from - a;
		double xa = (double)a * f->h, z = 0.0, zj = 0.0, zjj = 0.0, zb, zbb, p;
		size_t j = 0;

		p = f->e[BEFORE][i] * step;
		if (p < 1e-12)
			continue;
		if (m <= -w1->stride)
			j = (size_t)(-m / w1->stride);
		for (; j < w1->points; j++) {
			double q = f->e[AFTER][j] * hat[m + (long)j * w1->stride], x = (double)j;

			z += q;
			zj += q * x;
			zjj += q * x * x;
		}
		/* moments of the difference from those of j */
		zb = (double)m * f->h * z + h1 * zj;
		zbb = pow((double)m * f->h, 2.0) * z + 2.0 * (double)m * f->h * h1 * zj +
		      h1 * h1 * zjj;
		sum->z += p * z;
		sum->x0 += p * z * xa;
		sum->xx0 += p * z * xa * xa;
		sum->x1 += p * (z * xa + zb);
		sum->xx1 += p * (z * xa * xa + 2.0 * xa * zb + zbb);
		sum->d += p * zb;
		sum->dd += p * zbb;
	}
}

double lattice_integrate(struct fitter *f, const struct split *split, struct sums *sum)
{
	bool used[2] = {side_used(f, split, BEFORE), split->side[AFTER].n > 0};
	struct window w[2] = {{0}, {0}};
	double max = 0.0;

	for (int s = 0; s < 2; s++)
		if (used[s]) {
			w[s] = side_window(f, split, s);
			max += side_likelihood(f, split, s, &w[s]);
		}
	if (used[BEFORE] && used[AFTER])
		sum_two_sides(f, &w[BEFORE], &w[AFTER], sum);
	else
		sum_one_side(f, used[BEFORE] ? BEFORE : AFTER, &w[used[BEFORE] ? BEFORE : AFTER],
			     sum);
	return sum->z > 0.0 ? max : -INFINITY;
}

void lattice_release(struct fitter *f)
{
	free(f->table);
	free(f->ramp);
	drop_hats(f);
	free(f->e[0]);
	free(f->e[1]);
}

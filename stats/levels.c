// SPDX-License-Identifier: GPL-2.0-or-later
/* Levels, shift and noise integrated out. */
#include "stats/levels.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/posterior.h"
#include "stats/shift.h"

/* Log likelihood behind the best at which a split or a sigma no longer counts. */
static const double far_behind = 22.0;
/* A number this many broad deviations out is a broken boot: further out tells no more, else one
 * such number would make all the others look alike. */
static const double far_out = 4.0;
/* Half width of a window in posterior deviations of its level: leaves out 1e-10. */
static const double window_sds = 6.5;
/* Spacing of level points in posterior deviations of the level; the unit test against brute force
 * holds the result within 1e-3 with it. */
static const double level_step_sds = 0.4;
/* Spacing of log sigma in its posterior deviations: the trapezoid rule's error is below 1e-6. */
static const double sigma_step_sds = 1.1;
/* History of the good level never counts for more than so many boots. */
static const double level_boots_max = 400.0;

enum side_index {
	BEFORE,
	AFTER,
};

enum {
	STRIDE_LOGS = 5,
	STRIDE_MAX = 1 << (STRIDE_LOGS - 1),
	RAMP_BEFORE = 2 * STRIDE_MAX,
	COARSE = 32,
	NOISE_STEPS = 32, /* per sigma */
	NOISE_SIGMAS = 10,
};

/* One side of one split: its numbers, sorted. */
struct side {
	double *y;
	size_t n;
	double median;
};

struct split {
	struct side side[2];
	const bool *after; /* per group */
	double *profile;   /* per coarse sigma */
	double best;	   /* of profile */
};

/* A run of lattice points: index from, from + stride, ...; points in all. */
struct window {
	long from;
	long stride;
	size_t points;
};

struct fitter {
	const struct levels_boots *boots;
	const struct posterior_prior *prior;
	struct shift_prior shift;
	struct sd_prior noise;
	struct split *splits;
	size_t n_splits;
	double *values;	     /* behind the sides */
	double *by_group;    /* the boots' numbers, group by group */
	size_t *group_end;   /* [groups]: where each ends in by_group */
	double *noise_table; /* levels_log_noise() for z = 0, 1/NOISE_STEPS, ... */
	double *profiles;
	double best;
	double log_lo, log_hi; /* of sigma: where anything counts */
	double log_step;

	/* for the sigma at hand */
	double sigma;
	double h;		  /* lattice spacing */
	long first, last;	  /* lattice points in use */
	double *table;		  /* [groups][last - first + 1], NAN = not computed yet */
	double *ramp;		  /* shift_ramp(m h) from m = -RAMP_BEFORE on */
	double *hat[STRIDE_LOGS]; /* its second differences by log2 of the stride, or NULL */
	double *e[2];		  /* scratch: exp(log likelihood) on a window */
};

static const long lattice_max = 1L << 16;

void moment_mix(struct moment *into, double a, const struct moment *from, double b)
{
	double apart = into->mean - from->mean;

	if (!(b > 0.0))
		return;
	if (!(a > 0.0)) {
		*into = *from;
		return;
	}
	into->mean = a * into->mean + b * from->mean;
	into->var = a * into->var + b * from->var + a * b * apart * apart;
}

double levels_log_noise(double z, double outlier, double outlier_scale)
{
	double zz = 0.5 * z * z;
	double broad, share, end = far_out * outlier_scale;

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
static double log_noise(const struct fitter *f, double z)
{
	double x = fabs(z) * NOISE_STEPS, t;
	const double *v;
	size_t i;

	if (x >= NOISE_STEPS * NOISE_SIGMAS)
		return levels_log_noise(z, f->prior->outlier, f->prior->outlier_scale);
	i = (size_t)x;
	t = x - (double)i;
	v = f->noise_table + i; /* of the points i - 1 .. i + 2 */
	return (t - 1.0) * (t - 2.0) * (0.5 * (t + 1.0) * v[1] - t * v[0] / 6.0) +
	       (t + 1.0) * t * ((t - 1.0) * v[3] / 6.0 - 0.5 * (t - 2.0) * v[2]);
}

static void tabulate_noise(struct fitter *f)
{
	size_t n = NOISE_STEPS * NOISE_SIGMAS + 3;

	f->noise_table = xcalloc(n, sizeof(*f->noise_table));
	for (size_t i = 0; i < n; i++)
		f->noise_table[i] = levels_log_noise(((double)i - 1.0) / NOISE_STEPS,
						     f->prior->outlier, f->prior->outlier_scale);
}

/* Density in log sigma, up to a constant. */
static double log_sigma_prior(const struct fitter *f, double log_sigma)
{
	double r = f->noise.sd / exp(log_sigma);

	return -f->noise.df * (log_sigma + 0.5 * r * r);
}

static bool has_history(const struct fitter *f)
{
	return f->prior->level_sd > 0.0;
}

static double history_sd(const struct fitter *f, double sigma)
{
	return fmax(f->prior->level_sd, sigma / sqrt(level_boots_max));
}

/* Splits ---------------------------------------------------------------------------------------- */

static double median_of_sorted(const double *y, size_t n)
{
	if (n == 0)
		return NAN;
	return n % 2 ? y[n / 2] : 0.5 * (y[n / 2 - 1] + y[n / 2]);
}

struct ranked {
	double y;
	size_t group;
};

static int by_y(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->y > y->y) - (x->y < y->y);
}

static struct ranked *rank_boots(const struct levels_boots *boots)
{
	struct ranked *ranked = xcalloc(boots->n, sizeof(*ranked));

	for (size_t i = 0; i < boots->n; i++)
		ranked[i] = (struct ranked){boots->y[i], boots->group[i]};
	qsort(ranked, boots->n, sizeof(*ranked), by_y);
	return ranked;
}

static void split_sides(struct split *split, const struct ranked *ranked, size_t n, double *values)
{
	size_t n_after = 0, put[2] = {0, 0};

	for (size_t i = 0; i < n; i++)
		n_after += split->after[ranked[i].group];
	split->side[BEFORE] = (struct side){.y = values, .n = n - n_after};
	split->side[AFTER] = (struct side){.y = values + (n - n_after), .n = n_after};
	for (size_t i = 0; i < n; i++) {
		int s = split->after[ranked[i].group] ? AFTER : BEFORE;

		split->side[s].y[put[s]++] = ranked[i].y;
	}
	for (int s = 0; s < 2; s++)
		split->side[s].median = median_of_sorted(split->side[s].y, split->side[s].n);
}

/* Levels at which the split does about best, or, when the sides come in the wrong order, where
 * the smallest shift allowed does. */
static void ordered_levels(const struct fitter *f, const struct split *split, double level[2])
{
	double n0 = (double)split->side[BEFORE].n, n1 = (double)split->side[AFTER].n;
	double pooled;

	if (n0 <= 0.0 || n1 <= 0.0 || level[AFTER] - level[BEFORE] >= f->shift.lo)
		return;
	pooled = (n0 * level[BEFORE] + n1 * level[AFTER]) / (n0 + n1);
	level[BEFORE] = pooled - f->shift.lo * n1 / (n0 + n1);
	level[AFTER] = level[BEFORE] + f->shift.lo;
}

static double log_side(const struct fitter *f, const struct side *side, double level, double sigma)
{
	double sum = 0.0;

	for (size_t i = 0; i < side->n; i++)
		sum += log_noise(f, (side->y[i] - level) / sigma);
	return sum;
}

static double log_profile(const struct fitter *f, const struct split *split, double log_sigma)
{
	double level[2] = {split->side[BEFORE].median, split->side[AFTER].median};
	double sigma = exp(log_sigma), sum;

	ordered_levels(f, split, level);
	sum = log_side(f, &split->side[BEFORE], level[BEFORE], sigma) +
	      log_side(f, &split->side[AFTER], level[AFTER], sigma);
	return sum - (double)f->boots->n * log_sigma + log_sigma_prior(f, log_sigma);
}

static void sort_by_group(struct fitter *f)
{
	const struct levels_boots *boots = f->boots;
	size_t n = 0;

	f->by_group = xcalloc(boots->n, sizeof(*f->by_group));
	f->group_end = xcalloc(boots->groups, sizeof(*f->group_end));
	for (size_t g = 0; g < boots->groups; g++) {
		for (size_t i = 0; i < boots->n; i++)
			if (boots->group[i] == g)
				f->by_group[n++] = boots->y[i];
		f->group_end[g] = n;
	}
}

static void make_splits(struct fitter *f, const bool *after)
{
	size_t n = f->boots->n;
	AUTO_FREE struct ranked *ranked = rank_boots(f->boots);

	f->splits = xcalloc(f->n_splits, sizeof(*f->splits));
	f->values = xcalloc(f->n_splits * n, sizeof(*f->values));
	f->profiles = xcalloc(f->n_splits * COARSE, sizeof(*f->profiles));
	for (size_t i = 0; i < f->n_splits; i++) {
		f->splits[i].after = after + i * f->boots->groups;
		f->splits[i].profile = f->profiles + i * COARSE;
		split_sides(&f->splits[i], ranked, n, f->values + i * n);
	}
}

/* The range of sigma --------------------------------------------------------------------------- */

/* Everything between no spread at all (the prior alone then holds sigma up) and all boots being
 * one heap. */
static void coarse_range(const struct fitter *f, double *lo, double *hi)
{
	double n = (double)f->boots->n, sd = f->noise.sd;
	double min = f->boots->y[0], max = min, spread;

	for (size_t i = 1; i < f->boots->n; i++) {
		min = fmin(min, f->boots->y[i]);
		max = fmax(max, f->boots->y[i]);
	}
	spread = max - min + f->shift.lo;
	*lo = log(sd * sqrt(f->noise.df / (f->noise.df + n)) / 6.0);
	*hi = log(8.0 * fmax(sd, fmin(spread, sd * 1e4)));
}

static void profile_all(struct fitter *f, double lo, double step)
{
	f->best = -INFINITY;
	for (size_t i = 0; i < f->n_splits; i++) {
		struct split *split = &f->splits[i];

		split->best = -INFINITY;
		for (int j = 0; j < COARSE; j++) {
			split->profile[j] = log_profile(f, split, lo + j * step);
			split->best = fmax(split->best, split->profile[j]);
		}
		f->best = fmax(f->best, split->best);
	}
}

static bool counts_at(const struct fitter *f, int j)
{
	for (size_t i = 0; i < f->n_splits; i++)
		if (f->splits[i].profile[j] >= f->best - 15.0)
			return true;
	return false;
}

static void choose_sigmas(struct fitter *f)
{
	double lo, hi, step;
	int first = 0, last = COARSE - 1;

	coarse_range(f, &lo, &hi);
	step = (hi - lo) / (COARSE - 1);
	profile_all(f, lo, step);
	while (first < last && !counts_at(f, first))
		first++;
	while (last > first && !counts_at(f, last))
		last--;
	f->log_lo = lo + (first - 1) * step;
	f->log_hi = lo + (last + 1) * step;
	f->log_step = sigma_step_sds / sqrt(2.0 * ((double)f->boots->n + f->noise.df));
}

static bool split_counts(const struct fitter *f, const struct split *split, double log_sigma)
{
	return log_profile(f, split, log_sigma) >= f->best - far_behind;
}

/* Windows on the lattice of levels -------------------------------------------------------------- */

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

	ordered_levels(f, split, level);
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

/* Lattice, table of likelihoods and ramp of the shift for one sigma; false: nothing counts. */
static bool lay_lattice(struct fitter *f, double log_sigma, bool *counts)
{
	bool any = false;
	size_t points;

	f->sigma = exp(log_sigma);
	for (size_t i = 0; i < f->n_splits; i++)
		any |= counts[i] = split_counts(f, &f->splits[i], log_sigma);
	if (!any)
		return false;
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
	return true;
}

/* Integrals ------------------------------------------------------------------------------------- */

static double log_group(const struct fitter *f, size_t group, double level)
{
	double sum = 0.0;

	for (size_t i = group ? f->group_end[group - 1] : 0; i < f->group_end[group]; i++)
		sum += log_noise(f, (f->by_group[i] - level) / f->sigma);
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

/* Sums over the grid: total and raw moments. */
struct sums {
	double z, x0, xx0, x1, xx1, d, dd;
};

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

/* Log of the integral over both levels for the sigma at hand. */
static double integrate_split(struct fitter *f, const struct split *split, struct sums *sum)
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

static struct moment moment_of(double z, double x, double xx)
{
	double mean = x / z;

	return (struct moment){.mean = mean, .var = fmax(xx / z - mean * mean, 0.0)};
}

/* Mixes exp(log_weight) x sums into the fit. */
static void accumulate(struct levels_fit *fit, const struct sums *sum, double log_weight,
		       double sigma)
{
	double log_z = log_weight + log(sum->z);
	double top = fmax(fit->log_evidence, log_z);
	double old = exp(fit->log_evidence - top), new = exp(log_z - top);
	double a = old / (old + new), b = new / (old + new);
	struct moment level0 = moment_of(sum->z, sum->x0, sum->xx0);
	struct moment level1 = moment_of(sum->z, sum->x1, sum->xx1);
	struct moment shift = moment_of(sum->z, sum->d, sum->dd);
	struct moment at = {.mean = sigma, .var = 0.0};

	moment_mix(&fit->level0, a, &level0, b);
	moment_mix(&fit->level1, a, &level1, b);
	moment_mix(&fit->shift, a, &shift, b);
	moment_mix(&fit->sigma, a, &at, b);
	fit->log_evidence = top + log(old + new);
}

static void integrate_sigma(struct fitter *f, double log_sigma, bool *counts,
			    struct levels_fit *fit)
{
	double weight =
		log_sigma_prior(f, log_sigma) - (double)f->boots->n * log_sigma + log(f->log_step);

	if (!lay_lattice(f, log_sigma, counts))
		return;
	for (size_t i = 0; i < f->n_splits; i++) {
		struct sums sum;
		double max;

		if (!counts[i])
			continue;
		max = integrate_split(f, &f->splits[i], &sum);
		if (isfinite(max))
			accumulate(&fit[i], &sum, weight + max, f->sigma);
	}
}

/* Splits that never counted: as far behind the best evidence as their profile is. */
static void fill_hopeless(const struct fitter *f, struct levels_fit *fit)
{
	const struct levels_fit *best = &fit[0];

	for (size_t i = 1; i < f->n_splits; i++)
		if (fit[i].log_evidence > best->log_evidence)
			best = &fit[i];
	for (size_t i = 0; i < f->n_splits; i++)
		if (fit[i].log_evidence == -INFINITY) {
			double behind = f->best - f->splits[i].best;

			fit[i] = *best;
			fit[i].log_evidence -= fmax(behind, far_behind);
		}
}

static void fitter_release(struct fitter *f)
{
	free(f->splits);
	free(f->values);
	free(f->by_group);
	free(f->group_end);
	free(f->noise_table);
	free(f->profiles);
	free(f->table);
	free(f->ramp);
	drop_hats(f);
	free(f->e[0]);
	free(f->e[1]);
}

/* No boots at all: what the priors say. */
static void fit_nothing(const struct fitter *f, struct levels_fit *fit)
{
	double mean = shift_mean(&f->shift), var = shift_mean_sq(&f->shift) - mean * mean;
	double level = f->prior->level;
	double level_var = has_history(f) ? f->prior->level_sd * f->prior->level_sd : INFINITY;

	*fit = (struct levels_fit){
		.level0 = {level, level_var},
		.level1 = {level + mean, level_var + var},
		.shift = {mean, var},
		.sigma = {f->noise.sd, f->noise.sd * f->noise.sd / (2.0 * f->noise.df)},
	};
}

void levels_fit(const struct levels_boots *boots, const bool *after, size_t n,
		const struct posterior_prior *prior, struct levels_fit *fit)
{
	CLEANUP(fitter_release)
	struct fitter f = {
		.boots = boots,
		.prior = prior,
		.shift = shift_prior_make(0.5 * prior->min_effect, prior->max_effect),
		.noise = prior->noise,
		.n_splits = n,
	};
	AUTO_FREE bool *counts = xcalloc(n, sizeof(*counts));

	if (!(f.noise.df > 0.0))
		f.noise = (struct sd_prior){.sd = 2.5 * prior->min_effect, .df = 1.0};
	for (size_t i = 0; i < n; i++) {
		fit[i] = (struct levels_fit){.log_evidence = -INFINITY};
		if (boots->n == 0)
			fit_nothing(&f, &fit[i]);
	}
	if (boots->n == 0)
		return;
	tabulate_noise(&f);
	sort_by_group(&f);
	make_splits(&f, after);
	choose_sigmas(&f);
	for (double s = f.log_lo; s <= f.log_hi + 0.5 * f.log_step; s += f.log_step)
		integrate_sigma(&f, s, counts, fit);
	fill_hopeless(&f, fit);
}

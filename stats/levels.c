// SPDX-License-Identifier: GPL-2.0-or-later
/* Levels, shift and noise integrated out. */
#include "stats/levels.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/lattice.h"
#include "stats/posterior.h"
#include "stats/shift.h"

/* Log likelihood behind the best at which a split or a sigma no longer counts. */
static const double far_behind = 22.0;
/* Spacing of log sigma in its posterior deviations: the trapezoid rule's error is below 1e-6. */
static const double sigma_step_sds = 1.1;

/* Sigmas of the first look. */
enum {
	COARSE = 32,
};

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

/* Density in log sigma, up to a constant. */
static double log_sigma_prior(const struct fitter *f, double log_sigma)
{
	double r = f->noise.sd / exp(log_sigma);

	return -f->noise.df * (log_sigma + 0.5 * r * r);
}

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

static double log_side(const struct fitter *f, const struct side *side, double level, double sigma)
{
	double sum = 0.0;

	for (size_t i = 0; i < side->n; i++)
		sum += noise_log(&f->density, (side->y[i] - level) / sigma);
	return sum;
}

static double log_profile(const struct fitter *f, const struct split *split, double log_sigma)
{
	double level[2] = {split->side[BEFORE].median, split->side[AFTER].median};
	double sigma = exp(log_sigma), sum;

	lattice_order(f, split, level);
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
	bool any = false;
	double weight =
		log_sigma_prior(f, log_sigma) - (double)f->boots->n * log_sigma + log(f->log_step);

	for (size_t i = 0; i < f->n_splits; i++)
		any |= counts[i] = split_counts(f, &f->splits[i], log_sigma);
	if (!any)
		return;
	lattice_lay(f, log_sigma, counts);
	for (size_t i = 0; i < f->n_splits; i++) {
		struct sums sum;
		double max;

		if (!counts[i])
			continue;
		max = lattice_integrate(f, &f->splits[i], &sum);
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
	noise_release(&f->density);
	free(f->profiles);
	lattice_release(f);
}

/* No boots at all: what the priors say. */
static void fit_nothing(const struct fitter *f, struct levels_fit *fit)
{
	double mean = shift_mean(&f->shift), var = shift_mean_sq(&f->shift) - mean * mean;
	double level = f->prior->level;
	double level_var =
		f->prior->level_sd > 0.0 ? f->prior->level_sd * f->prior->level_sd : INFINITY;

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
		.shift = prior->known_shift > 0.0
				 ? shift_prior_make(0.9 * prior->known_shift, 0.0)
				 : shift_prior_make(0.5 * prior->min_effect, prior->max_effect),
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
	noise_init(&f.density, prior->outlier, prior->outlier_scale);
	sort_by_group(&f);
	make_splits(&f, after);
	choose_sigmas(&f);
	for (double s = f.log_lo; s <= f.log_hi + 0.5 * f.log_step; s += f.log_step)
		integrate_sigma(&f, s, counts, fit);
	fill_hopeless(&f, fit);
}

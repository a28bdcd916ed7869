// SPDX-License-Identifier: GPL-2.0-or-later
/* Bits that a boot would bring. */
#include "stats/information.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	POINTS_MAX = 200
};
/* Classes lighter than this change no decision. */
static const double weightless = 1e-4;
/* Spacing and half width of the grid, in deviations of a prediction: off by less than 1e-3 bits. */
static const double step_sds = 0.6;
static const double half_sds = 4.0;

struct normal {
	double mean, sd;
};

static struct normal prediction(const struct levels_fit *fit, int side)
{
	const struct moment *level = side ? &fit->level1 : &fit->level0;
	double noise = fit->sigma.mean * fit->sigma.mean + fit->sigma.var;

	return (struct normal){level->mean, sqrt(level->var + noise)};
}

static void keep_classes(struct information *info)
{
	const struct posterior *post = info->post;

	info->of_class = xcalloc(post->classes, sizeof(*info->of_class));
	info->kept = xcalloc(post->classes, sizeof(*info->kept));
	for (size_t h = 0; h < post->hypotheses; h++)
		info->of_class[post->class_of[h]] += post->mass[h];
	for (size_t c = 0; c < post->classes; c++)
		if (info->of_class[c] >= weightless)
			info->kept[info->n++] = c;
}

/* Range and spacing of y that show the narrowest prediction; where that would want too many
 * points the narrow ones are taken as two grid steps wide, which tells them apart just as well. */
static void choose_grid(struct information *info, double *lo, double *sd_min)
{
	double narrow = INFINITY, hi = -INFINITY;

	*lo = INFINITY;
	for (size_t i = 0; i < 2 * info->n; i++) {
		struct normal p = prediction(&info->post->fit[info->kept[i / 2]], (int)(i % 2));

		narrow = fmin(narrow, p.sd);
		*lo = fmin(*lo, p.mean - half_sds * p.sd);
		hi = fmax(hi, p.mean + half_sds * p.sd);
	}
	info->dy = fmax(step_sds * narrow, (hi - *lo) / (POINTS_MAX - 1));
	info->points = (size_t)floor((hi - *lo) / info->dy) + 1;
	*sd_min = info->dy / step_sds;
}

static void fill_density(struct information *info, size_t i, double lo, double sd_min)
{
	struct normal p = prediction(&info->post->fit[info->kept[i / 2]], (int)(i % 2));
	double *row = info->density + i * info->points;
	double top;

	p.sd = fmax(p.sd, sd_min);
	top = 1.0 / (p.sd * sqrt(2.0 * M_PI));
	for (size_t k = 0; k < info->points; k++) {
		double z = (lo + (double)k * info->dy - p.mean) / p.sd;

		row[k] = fabs(z) < 6.0 ? top * exp(-0.5 * z * z) : 0.0;
	}
	info->entropy[i] = 0.5 * log2(2.0 * M_PI * M_E * p.sd * p.sd);
}

void information_init(struct information *info, const struct posterior *post)
{
	double lo, sd_min;

	*info = (struct information){.post = post};
	keep_classes(info);
	choose_grid(info, &lo, &sd_min);
	info->density = xcalloc(2 * info->n * info->points, sizeof(*info->density));
	info->entropy = xcalloc(2 * info->n, sizeof(*info->entropy));
	info->upper = xcalloc(post->classes, sizeof(*info->upper));
	info->mix = xcalloc(info->points, sizeof(*info->mix));
	for (size_t i = 0; i < 2 * info->n; i++)
		fill_density(info, i, lo, sd_min);
}

void information_release(struct information *info)
{
	free(info->of_class);
	free(info->kept);
	free(info->density);
	free(info->entropy);
	free(info->upper);
	free(info->mix);
	*info = (struct information){0};
}

static void mix_in(struct information *info, size_t i, double weight, double *known, double *total)
{
	const double *row = info->density + i * info->points;

	if (weight < weightless / 10.0)
		return;
	*known += weight * info->entropy[i];
	*total += weight;
	for (size_t k = 0; k < info->points; k++)
		info->mix[k] += weight * row[k];
}

double information_bits(struct information *info, size_t node)
{
	const struct posterior *post = info->post;
	const struct sides *sides = post->sides;
	double known = 0.0, total = 0.0, sum = 0.0;

	memset(info->upper, 0, post->classes * sizeof(*info->upper));
	memset(info->mix, 0, info->points * sizeof(*info->mix));
	for (size_t r = sides->first_run[node]; r < sides->first_run[node + 1]; r++)
		for (size_t h = sides->runs[r].from; h < sides->runs[r].to; h++)
			info->upper[post->class_of[h]] += post->mass[h];
	for (size_t i = 0; i < info->n; i++) {
		double upper = info->upper[info->kept[i]];

		mix_in(info, 2 * i, info->of_class[info->kept[i]] - upper, &known, &total);
		mix_in(info, 2 * i + 1, upper, &known, &total);
	}
	for (size_t k = 0; k < info->points; k++)
		if (info->mix[k] > 1e-30)
			sum -= info->mix[k] * log2(info->mix[k] / total);
	return fmax(sum * info->dy - known, 0.0);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Bits that a boot would bring. */
#include "stats/information.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	POINTS_MAX = 400
};
/* Classes lighter than this change no decision. */
static const double weightless = 1e-7;

struct normal {
	double mean, sd;
};

static struct normal prediction(const struct levels_fit *fit, int side)
{
	const struct moment *level = side ? &fit->level1 : &fit->level0;
	double noise = fit->sigma.mean * fit->sigma.mean + fit->sigma.var;

	return (struct normal){level->mean, sqrt(level->var + noise)};
}

static void class_masses(const struct posterior *post, const double *mass, double *of_class)
{
	memset(of_class, 0, post->classes * sizeof(*of_class));
	for (size_t h = 0; h < post->hypotheses; h++)
		of_class[post->class_of[h]] += mass[h];
}

/* Range and spacing of y that show the narrowest prediction; where that would want too many
 * points the narrow ones are taken as a grid step wide, which tells them apart just as well. */
static void choose_grid(struct information *info, const double *of_class, double *lo,
			double *sd_min)
{
	double narrow = INFINITY, hi = -INFINITY;

	*lo = INFINITY;
	for (size_t i = 0; i < 2 * info->post->classes; i++) {
		struct normal p;

		if (of_class[i / 2] < weightless)
			continue;
		p = prediction(&info->post->fit[i / 2], (int)(i % 2));
		narrow = fmin(narrow, p.sd);
		*lo = fmin(*lo, p.mean - 5.0 * p.sd);
		hi = fmax(hi, p.mean + 5.0 * p.sd);
	}
	info->dy = fmax(0.5 * narrow, (hi - *lo) / (POINTS_MAX - 1));
	info->points = (size_t)floor((hi - *lo) / info->dy) + 1;
	*sd_min = 2.0 * info->dy;
}

static void fill_density(struct information *info, size_t i, double lo, double sd_min)
{
	struct normal p = prediction(&info->post->fit[i / 2], (int)(i % 2));
	double *row = info->density + i * info->points;

	p.sd = fmax(p.sd, sd_min);
	for (size_t k = 0; k < info->points; k++) {
		double z = (lo + (double)k * info->dy - p.mean) / p.sd;

		row[k] = exp(-0.5 * z * z) / (p.sd * sqrt(2.0 * M_PI));
	}
	info->entropy[i] = 0.5 * log2(2.0 * M_PI * M_E * p.sd * p.sd);
}

void information_init(struct information *info, const struct posterior *post)
{
	AUTO_FREE double *of_class = xcalloc(post->classes, sizeof(*of_class));
	double lo, sd_min;

	*info = (struct information){.post = post};
	class_masses(post, post->mass, of_class);
	choose_grid(info, of_class, &lo, &sd_min);
	info->density = xcalloc(2 * post->classes * info->points, sizeof(*info->density));
	info->entropy = xcalloc(2 * post->classes, sizeof(*info->entropy));
	for (size_t i = 0; i < 2 * post->classes; i++)
		if (of_class[i / 2] >= weightless)
			fill_density(info, i, lo, sd_min);
}

void information_release(struct information *info)
{
	free(info->density);
	free(info->entropy);
	*info = (struct information){0};
}

/* upper[c * nodes + n] = mass of the hypotheses of class c under which node n is after. */
static double *upper_masses(const struct posterior *post, const double *mass)
{
	const struct sides *sides = post->sides;
	double *upper = xcalloc(post->classes * post->nodes, sizeof(*upper));

	for (size_t h = 0; h < post->hypotheses; h++) {
		double *row = upper + post->class_of[h] * post->nodes;

		if (!(mass[h] > 0.0))
			continue;
		for (size_t w = 0; w < sides->words; w++)
			for (uint64_t b = sides->bits[h * sides->words + w]; b; b &= b - 1)
				row[w * 64 + (size_t)__builtin_ctzll(b)] += mass[h];
	}
	return upper;
}

/* weight[2 c + side] of the predictions of node n -> bits. */
static double mixture_bits(const struct information *info, const double *weight, double *mix)
{
	double known = 0.0, sum = 0.0;

	memset(mix, 0, info->points * sizeof(*mix));
	for (size_t i = 0; i < 2 * info->post->classes; i++) {
		const double *row = info->density + i * info->points;

		if (weight[i] < weightless)
			continue;
		known += weight[i] * info->entropy[i];
		for (size_t k = 0; k < info->points; k++)
			mix[k] += weight[i] * row[k];
	}
	for (size_t k = 0; k < info->points; k++)
		if (mix[k] > 1e-300)
			sum -= mix[k] * log2(mix[k]);
	return fmax(sum * info->dy - known, 0.0);
}

void information_bits(const struct information *info, const double *mass, double *bits,
		      double *after)
{
	const struct posterior *post = info->post;
	AUTO_FREE double *upper = upper_masses(post, mass);
	AUTO_FREE double *of_class = xcalloc(post->classes, sizeof(*of_class));
	AUTO_FREE double *weight = xcalloc(2 * post->classes, sizeof(*weight));
	AUTO_FREE double *mix = xcalloc(info->points, sizeof(*mix));

	class_masses(post, mass, of_class);
	for (size_t n = 0; n < post->nodes; n++) {
		after[n] = 0.0;
		for (size_t c = 0; c < post->classes; c++) {
			double u = upper[c * post->nodes + n];

			after[n] += u;
			weight[2 * c + 1] = u;
			weight[2 * c] = fmax(of_class[c] - u, 0.0);
		}
		bits[n] = mixture_bits(info, weight, mix);
	}
}

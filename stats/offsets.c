// SPDX-License-Identifier: GPL-2.0-or-later
/* Offsets of machines. */
#include "stats/offsets.h"

#include <math.h>
#include <stdlib.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_qrng.h>

#include "base/mem.h"

static const double wider = 1.3;

static void free_matrix(gsl_matrix **m)
{
	if (*m)
		gsl_matrix_free(*m);
}

static void free_vector(gsl_vector **v)
{
	if (*v)
		gsl_vector_free(*v);
}

static void free_qrng(gsl_qrng **q)
{
	if (*q)
		gsl_qrng_free(*q);
}

static void add_to(gsl_matrix *m, size_t i, size_t j, double x)
{
	gsl_matrix_set(m, i, j, gsl_matrix_get(m, i, j) + x);
}

/* Normal equations of offsets 0 .. machines - 1, then level, then shift; the last two with a
 * prior a thousand and ten times as wide as all noise. */
static void normal_equations(const struct offsets_boots *b, gsl_matrix *precision, gsl_vector *rhs)
{
	size_t level = b->machines, shift = b->machines + 1;
	double w = 1.0 / (b->sigma * b->sigma), noise = hypot(b->sigma, b->machine_sd);

	gsl_matrix_set_zero(precision);
	gsl_vector_set_zero(rhs);
	for (size_t m = 0; m < b->machines; m++)
		gsl_matrix_set(precision, m, m, 1.0 / (b->machine_sd * b->machine_sd));
	gsl_matrix_set(precision, level, level, 1e-6 / (noise * noise));
	gsl_matrix_set(precision, shift, shift, 1e-2 / (noise * noise));
	for (size_t i = 0; i < b->n; i++) {
		const size_t at[3] = {b->machine[i], level, shift};
		const double x[3] = {1.0, 1.0, b->after[i]};

		for (size_t r = 0; r < 3; r++) {
			for (size_t c = 0; c < 3; c++)
				add_to(precision, at[r], at[c], w * x[r] * x[c]);
			gsl_vector_set(rhs, at[r], gsl_vector_get(rhs, at[r]) + w * x[r] * b->y[i]);
		}
	}
}

/* Mean and lower Cholesky factor of the covariance of the offsets alone. */
static void posterior_of_offsets(const struct offsets_boots *b, gsl_vector *mean,
				 gsl_matrix *factor)
{
	size_t n = b->machines + 2;
	CLEANUP(free_matrix) gsl_matrix *all = gsl_matrix_alloc(n, n);
	CLEANUP(free_vector) gsl_vector *rhs = gsl_vector_alloc(n);
	CLEANUP(free_vector) gsl_vector *x = gsl_vector_alloc(n);

	normal_equations(b, all, rhs);
	gsl_linalg_cholesky_decomp1(all);
	gsl_linalg_cholesky_solve(all, rhs, x);
	gsl_linalg_cholesky_invert(all);
	for (size_t i = 0; i < b->machines; i++) {
		gsl_vector_set(mean, i, gsl_vector_get(x, i));
		for (size_t j = 0; j < b->machines; j++)
			gsl_matrix_set(factor, i, j, gsl_matrix_get(all, i, j));
	}
	gsl_linalg_cholesky_decomp1(factor);
	gsl_matrix_scale(factor, wider);
}

/* One point and its weight from one point of the unit cube. */
static void place(const struct offsets_boots *b, const gsl_vector *mean, const gsl_matrix *factor,
		  const double *unit, double *point, double *log_weight)
{
	double z[OFFSETS_MACHINES_MAX], log_ratio = 0.0;

	for (size_t m = 0; m < b->machines; m++) {
		double scale = gsl_matrix_get(factor, m, m) / b->machine_sd, own;

		z[m] = gsl_cdf_ugaussian_Pinv(unit[m]);
		point[m] = gsl_vector_get(mean, m);
		for (size_t k = 0; k <= m; k++)
			point[m] += gsl_matrix_get(factor, m, k) * z[k];
		own = point[m] / b->machine_sd;
		log_ratio += 0.5 * z[m] * z[m] - 0.5 * own * own + log(scale);
	}
	*log_weight = log_ratio - log((double)OFFSETS_POINTS);
}

void offsets_points(const struct offsets_boots *b, double *point, double *log_weight)
{
	CLEANUP(free_vector) gsl_vector *mean = gsl_vector_alloc(b->machines);
	CLEANUP(free_matrix) gsl_matrix *factor = gsl_matrix_alloc(b->machines, b->machines);
	CLEANUP(free_qrng)
	gsl_qrng *qrng = gsl_qrng_alloc(gsl_qrng_sobol, (unsigned int)b->machines);
	double unit[OFFSETS_MACHINES_MAX];

	posterior_of_offsets(b, mean, factor);
	for (size_t k = 0; k < OFFSETS_POINTS; k++) {
		gsl_qrng_get(qrng, unit);
		place(b, mean, factor, unit, point + k * b->machines, &log_weight[k]);
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Splits over all sigmas, from all of them and from three. */
#include "stats/mixture.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"

enum {
	SIGMAS = 11,
	START = 5,
};

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.9g, not %.9g", got, want);
}

static double log_sigma_of(size_t k)
{
	return -3.0 + 0.1 * (double)k;
}

/* A log evidence, less its sigma prior, of n boots whose squares sum up to rss. */
static double evidence(double n, double rss, size_t k)
{
	double s = exp(log_sigma_of(k));

	return -n * log_sigma_of(k) - 0.5 * rss / (s * s);
}

/* Levels as they follow from sigma: a mean of 2, a deviation that is a fifth of sigma. */
static struct sample sample_of(double log_z, size_t k)
{
	double sigma = exp(log_sigma_of(k)), var = 0.04 * sigma * sigma;

	return (struct sample){
		.log_z = log_z,
		.levels = true,
		.log_scale = log_z,
		.sum = {.z = 1,
			.x0 = 2,
			.xx0 = 4 + var,
			.x1 = 3,
			.xx1 = 9 + var,
			.d = 1,
			.dd = 1 + var},
	};
}

/* Of normal noise three sigmas tell all: another sum of squares is a line in 1 / sigma^2. */
static void test_three_tell_all(void **state)
{
	double n = 80, leader = n * exp(2 * log_sigma_of(START)), worse = leader * 1.1;
	double log_sigma[SIGMAS], best[SIGMAS];
	struct mixture all, three;
	struct sample samples[MIXTURE_SAMPLES];
	struct mixture_grid grid = {.log_sigma = log_sigma,
				    .sigmas = SIGMAS,
				    .at = {START, START + 2, START - 2},
				    .leader = best};
	struct levels_fit a, b;

	(void)state;
	mixture_init(&all);
	mixture_init(&three);
	for (size_t k = 0; k < SIGMAS; k++) {
		struct sample s = sample_of(evidence(n, worse, k), k);

		log_sigma[k] = log_sigma_of(k);
		best[k] = evidence(n, leader, k);
		mixture_add(&all, &s.sum, s.log_scale, exp(log_sigma[k]));
	}
	for (int j = 0; j < MIXTURE_SAMPLES; j++) {
		grid.log_z[j] = best[grid.at[j]];
		samples[j] = sample_of(evidence(n, worse, grid.at[j]), grid.at[j]);
	}
	mixture_grid_lay(&grid);
	mixture_interpolate(&three, &grid, samples);
	a = mixture_fit(&all);
	b = mixture_fit(&three);
	near(b.log_evidence, a.log_evidence, 1e-9);
	near(b.sigma.mean, a.sigma.mean, 1e-9);
	near(b.sigma.var, a.sigma.var, 1e-9);
	near(b.level0.mean, 2, 1e-9);
	/* each stands for its neighbours, whose levels are a fifth less or better known */
	near(sqrt(b.level1.var), sqrt(a.level1.var), 0.05 * sqrt(a.level1.var));

	/* One of them alone is taken for a sum of squares, which this is but for the boots' number. */
	mixture_init(&three);
	samples[1].log_z = samples[2].log_z = -INFINITY;
	mixture_interpolate(&three, &grid, samples);
	near(mixture_fit(&three).log_evidence, a.log_evidence, 1e-9);
	mixture_grid_release(&grid);
}

/* Sums keep their scale whatever comes first, and what is out of all proportion is left out. */
static void test_scales(void **state)
{
	struct sample s = sample_of(-4000, START);
	struct mixture m;

	(void)state;
	mixture_init(&m);
	assert_true(isinf(mixture_fit(&m).log_evidence));
	mixture_add(&m, &s.sum, -4000, 0.1);
	mixture_add(&m, &s.sum, -4000 + log(3), 0.2);
	near(mixture_fit(&m).log_evidence, -4000 + log(4), 1e-9);
	near(mixture_fit(&m).sigma.mean, 0.175, 1e-12);
	mixture_add(&m, &s.sum, -1000, 0.3);
	near(mixture_fit(&m).log_evidence, -1000, 1e-9);
	near(mixture_fit(&m).sigma.mean, 0.3, 1e-12);
	mixture_add_rest(&m, -INFINITY);
	assert_true(isinf(m.rest));
	mixture_add_rest(&m, -7);
	mixture_add_rest(&m, -7);
	near(m.rest, -7 + log(2), 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_three_tell_all),
		cmocka_unit_test(test_scales),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Variance components, by hand and by simulation of a known truth. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/components.h"
#include "stats/estimate.h"
#include "stats/rng.h"

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9g is not within %g of %.9g", a, tolerance, b);
}

/* Two layouts, two boots each, two iterations each: all sums fit on a page. */
static void by_hand(void **state)
{
	static const double y[4][2] = {{1, 3}, {5, 7}, {11, 13}, {15, 17}};
	struct components_boot boots[4];
	struct components c;

	(void)state;
	for (size_t i = 0; i < 4; i++)
		boots[i] = (struct components_boot){i / 2, y[i][0] + 1, y[i], 2};
	components_find(boots, 4, &c);
	assert_int_equal(c.layouts, 2);
	assert_int_equal(c.boots, 4);
	near(c.iterations, 2, 1e-12);
	near(c.iteration, 2, 1e-12); /* (4 * 2) / 4 */
	near(c.sd, sqrt(8), 1e-12);  /* boots 2, 6 and 12, 16: (8 + 8) / 2 */
	near(c.df, 2, 0);
	near(c.boot, 7, 1e-12);			/* 8 - 2 / 2 */
	near(c.layout, (100 - 8) / 2.0, 1e-12); /* means 4, 14 about 9: 2 * 25 * 2 / 1 = 100 */
}

static void what_cannot_be_told(void **state)
{
	static const double y[2] = {1, 2};
	const struct components_boot one[] = {{0, 1, y, 1}, {0, 2, y + 1, 1}};
	const struct components_boot lone[] = {{0, 1.5, y, 2}};
	struct components c;

	(void)state;
	components_find(one, 2, &c);
	assert_true(isnan(c.iteration) && isnan(c.layout));
	near(c.boot, 0.5, 1e-12);
	assert_int_equal(components_iterations(&c, 10, 1, 100), 0);
	assert_true(isfinite(components_detectable(&c, 2, 1)));
	components_find(lone, 1, &c);
	assert_true(isnan(c.boot) && isnan(c.sd));
	assert_true(isinf(components_detectable(&c, 8, 1)));
}

/* The truth comes back: many layouts, since three tell their variance only roughly. */
static void by_simulation(void **state)
{
	enum {
		LAYOUTS = 60,
		BOOTS = 12,
		ITERATIONS = 5
	};
	AUTO_FREE double *y = xcalloc(LAYOUTS * BOOTS * ITERATIONS, sizeof(*y));
	AUTO_FREE struct components_boot *boots = xcalloc(LAYOUTS * BOOTS, sizeof(*boots));
	struct components c;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (size_t l = 0, b = 0; l < LAYOUTS; l++) {
		double layout = 0.03 * rng_normal(&rng);

		for (size_t k = 0; k < BOOTS; k++, b++) {
			double boot = layout + 0.02 * rng_normal(&rng);
			double *own = y + b * ITERATIONS;

			for (size_t i = 0; i < ITERATIONS; i++)
				own[i] = boot + 0.05 * rng_normal(&rng);
			boots[b] = (struct components_boot){l, estimate_mean(own, ITERATIONS), own,
							    ITERATIONS};
		}
	}
	components_find(boots, LAYOUTS * BOOTS, &c);
	near(sqrt(c.iteration), 0.05, 0.002);
	near(sqrt(c.boot), 0.02, 0.003);
	near(sqrt(c.layout), 0.03, 0.009);
	near(c.sd, sqrt(0.02 * 0.02 + 0.05 * 0.05 / ITERATIONS), 0.002);
}

/* Kalibera and Jones: a boot of 100 s, iterations of 1 s that scatter twice as much: sqrt(100) * 2. */
static void best_iterations(void **state)
{
	struct components c = {.iteration = 4, .boot = 1, .layout = NAN, .sd = 1, .df = 9};

	(void)state;
	assert_int_equal(components_iterations(&c, 100, 1, 1000), 20);
	assert_int_equal(components_iterations(&c, 100, 1, 15), 15);
	c.boot = 0;
	assert_int_equal(components_iterations(&c, 100, 1, 50), 50);
	c.iteration = 0;
	assert_int_equal(components_iterations(&c, 100, 1, 50), 1);
	assert_int_equal(components_iterations(&c, NAN, 1, 50), 0);
}

/* More boots see less, down to what layouts add. */
static void detectable(void **state)
{
	struct components c = {.iteration = 0, .boot = 1e-4, .layout = 1e-6, .sd = 0.01, .df = 33};
	double t = estimate_t_quantile(0.975, 35) + estimate_t_quantile(0.9, 35);

	(void)state;
	near(components_detectable(&c, 2, 0), t * 0.01, 1e-12);
	near(components_detectable(&c, 2, 1), t * sqrt(1e-4 + 2e-6), 1e-12);
	assert_true(components_detectable(&c, 4, 1) < components_detectable(&c, 2, 1));
	assert_true(components_detectable(&c, 100000, 1) > 1.4 * 1e-3 * 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),	 cmocka_unit_test(what_cannot_be_told),
		cmocka_unit_test(by_simulation), cmocka_unit_test(best_iterations),
		cmocka_unit_test(detectable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

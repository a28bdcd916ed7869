// SPDX-License-Identifier: GPL-2.0-or-later
/* Drift of a machine from its own history. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bisector/health.h"
#include "stats/rng.h"

#define TRIALS 20000

static void test_too_little_history(void **state _unused)
{
	const double values[] = {200, 100, 101, 99, 100};
	struct drift d;

	assert_false(health_drift(values, ARRAY_SIZE(values), 0, &d));
	assert_false(health_drift(values, 0, 0, &d));
}

static void test_values_without_a_log(void **state _unused)
{
	const double history[] = {100, 0, -1, 101, 99, 100, 0, 100};
	const double fresh[] = {0, 100, 101, 99, 100, 101, 99};
	struct drift d;

	assert_true(health_drift(history, ARRAY_SIZE(history), 0, &d) == false);
	assert_true(health_drift(history, ARRAY_SIZE(history), 2, &d));
	assert_int_equal(d.n, 7);
	assert_false(health_drift(fresh, ARRAY_SIZE(fresh), 0, &d));
}

static void test_a_step_in_either_direction(void **state _unused)
{
	double values[] = {130, 100, 101, 99, 100, 102, 98};
	struct drift d;

	assert_true(health_drift(values, ARRAY_SIZE(values), 0, &d));
	assert_int_equal(d.n, 6);
	assert_float_equal(d.percent, 30, 0.1);
	assert_true(d.p < 1e-4);
	values[0] = 77;
	assert_true(health_drift(values, ARRAY_SIZE(values), 0, &d));
	assert_float_equal(d.percent, -23, 0.1);
	assert_true(d.p < 1e-4);
}

/* Constant numbers have no noise that could be estimated; the last digits are no news. */
static void test_constant_history(void **state _unused)
{
	double values[] = {100.001, 100, 100, 100, 100, 100};
	struct drift d;

	assert_true(health_drift(values, ARRAY_SIZE(values), 0, &d));
	assert_true(d.p > 0.5);
}

/* p is what it says: of unchanged machines as many are below alpha, with a short history or a long one. */
static void test_false_alarms(void **state _unused)
{
	struct rng rng;

	rng_seed(&rng, 11);
	for (size_t n = HEALTH_HISTORY + 1; n <= 31; n += 5) {
		int below = 0;

		for (int t = 0; t < TRIALS; t++) {
			double values[31];
			struct drift d;

			for (size_t i = 0; i < n; i++)
				values[i] = 1000 * exp(0.03 * rng_normal(&rng));
			assert_true(health_drift(values, n, 0, &d));
			below += d.p < 0.01;
		}
		/* 200 are expected, with a standard deviation of 14 */
		assert_in_range(below, 150, 250);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_too_little_history),
		cmocka_unit_test(test_values_without_a_log),
		cmocka_unit_test(test_a_step_in_either_direction),
		cmocka_unit_test(test_constant_history),
		cmocka_unit_test(test_false_alarms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Standardised changes. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/multiple.h"
#include "stats/rng.h"
#include "stats/standardise.h"

static void known_numbers(void **state)
{
	/* log(x + 1) is 1, 2, 3 and 4, 5, 6: the pooled deviation is 1, far above counting noise. */
	const double before[] = {expm1(11), expm1(12), expm1(13)};
	const double after[] = {expm1(14), expm1(15), expm1(16)};
	struct standardised s;

	(void)state;
	assert_true(standardise(before, 3, after, 3, &s));
	assert_float_equal(s.effect, 3, 1e-9);
	assert_float_equal(s.change, 3, 1e-9);
	/* t = 3 / sqrt(2 / 3) = 3.674 with 4 degrees of freedom */
	assert_float_equal(s.p, 0.0213, 0.0002);
}

static void constants_are_not_infinitely_sure(void **state)
{
	const double zeros[] = {0, 0, 0}, ones[] = {1, 1, 1}, many[] = {40000, 40000, 40000},
		     more[] = {41000, 41000, 41000};
	struct standardised s;

	(void)state;
	assert_true(standardise(zeros, 3, ones, 3, &s));
	assert_true(s.p > 0.2);
	assert_true(standardise(many, 3, more, 3, &s));
	assert_true(s.p < 0.01);
	assert_true(standardise(zeros, 3, zeros, 3, &s));
	assert_float_equal(s.change, 0, 0);
	assert_float_equal(s.p, 1, 1e-9);
}

static void what_cannot_be_compared(void **state)
{
	const double one[] = {1}, two[] = {1, 2}, negative[] = {1, -2};
	struct standardised s;

	(void)state;
	assert_false(standardise(one, 1, two, 2, &s));
	assert_false(standardise(two, 2, negative, 2, &s));
}

/* Of 100 counters that are alike, hardly a table should show one. */
static void false_alarms(void **state)
{
	struct rng rng;
	int tables = 0;

	(void)state;
	rng_seed(&rng, 20261130);
	for (int table = 0; table < 200; table++) {
		double p[100];

		for (int i = 0; i < 100; i++) {
			double a[6], b[6];
			struct standardised s;

			for (int k = 0; k < 6; k++) {
				a[k] = exp(8 + 0.2 * rng_normal(&rng));
				b[k] = exp(8 + 0.2 * rng_normal(&rng));
			}
			assert_true(standardise(a, 6, b, 6, &s));
			p[i] = s.p;
		}
		multiple_holm(p, 100);
		for (int i = 0; i < 100; i++) {
			if (p[i] < 0.05) {
				tables++;
				break;
			}
		}
	}
	/* 10 of 200 are expected at most; 20 would be three standard deviations more. */
	assert_true(tables <= 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_numbers),
		cmocka_unit_test(constants_are_not_infinitely_sure),
		cmocka_unit_test(what_cannot_be_compared),
		cmocka_unit_test(false_alarms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

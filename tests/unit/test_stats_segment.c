// SPDX-License-Identifier: GPL-2.0-or-later
/* Exact segmentation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/rng.h"
#include "stats/segment.h"

enum {
	LONG = 200
};

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9g is not within %g of %.9g", a, tolerance, b);
}

/* Cost of a division by the definition; bit i of cuts: a segment starts at point i + 1. */
static double cost_of(const double *y, size_t n, unsigned int cuts, double long_run, double penalty)
{
	double cost = 0;
	size_t from = 0;

	for (size_t i = 1; i <= n; i++) {
		double mean = 0;

		if (i < n && !(cuts >> (i - 1) & 1))
			continue;
		for (size_t k = from; k < i; k++)
			mean += y[k] / (double)(i - from);
		for (size_t k = from; k < i; k++)
			cost += (y[k] - mean) * (y[k] - mean) / long_run;
		cost += from ? penalty : 0;
		from = i;
	}
	return cost;
}

static bool allowed(unsigned int cuts, size_t n, size_t least)
{
	size_t from = 0;

	for (size_t i = 1; i <= n; i++)
		if (i == n || cuts >> (i - 1) & 1) {
			if (i - from < least)
				return false;
			from = i;
		}
	return true;
}

static void test_exact(void **state)
{
	enum {
		N = 13
	};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 9);
	for (int run = 0; run < 60; run++) {
		const struct segment_rule rule = {.penalty = 0.2 + 0.4 * (run % 3),
						  .least = 1 + (size_t)run % 3};
		CLEANUP(segmentation_release) struct segmentation s = {0};
		double y[N], least = INFINITY, penalty = rule.penalty * log(N), got;
		unsigned int cuts = 0;

		for (int i = 0; i < N; i++)
			y[i] = rng_uniform(&rng) + (i / 4) % 2;
		segment_series(y, N, &rule, &s);
		for (size_t k = 1; k < s.n; k++)
			cuts |= 1u << (s.starts[k] - 1);
		assert_true(allowed(cuts, N, rule.least));
		got = cost_of(y, N, cuts, s.noise.long_run, penalty);
		for (unsigned int c = 0; c < 1u << (N - 1); c++)
			if (allowed(c, N, rule.least))
				least = fmin(least, cost_of(y, N, c, s.noise.long_run, penalty));
		near(got, least, 1e-9 * (1 + fabs(least)));
	}
}

/* y with steps of the given height at 1/4 and 1/2 of it. */
static void stairs(struct rng *rng, double *y, double rho, double height)
{
	double e = rng_normal(rng);

	for (size_t i = 0; i < LONG; i++) {
		y[i] = e + height * (double)(i / (LONG / 4) % 3);
		e = rho * e + sqrt(1 - rho * rho) * rng_normal(rng);
	}
}

static void test_noise(void **state)
{
	static const double rhos[] = {0.0, 0.3, 0.6};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 11);
	for (size_t r = 0; r < ARRAY_SIZE(rhos); r++) {
		double sd = 0, rho = 0, y[LONG];

		for (int run = 0; run < 500; run++) {
			struct segment_noise noise;

			stairs(&rng, y, rhos[r], 1);
			noise = segment_noise(y, LONG, &segment_rule_default);
			sd += noise.sd / 500;
			rho += noise.rho / 500;
			near(noise.long_run,
			     noise.sd * noise.sd * (1 + noise.rho) / (1 - noise.rho), 1e-9);
		}
		/* cut off at 0 it is biased upwards where there is none */
		near(rho, rhos[r], rhos[r] > 0 ? 0.10 : 0.15);
		near(sd, 1, 0.25); /* upwards too: the steps are in it */
	}
}

/* Forty heads with three steps of four deviations: the correlation that so few points feign must not
 * hide them, and what is no step is not made one. */
static void test_short_history(void **state)
{
	enum {
		HEADS = 40
	};
	int missed = 0, made_up = 0;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 14);
	for (int run = 0; run < 200; run++) {
		CLEANUP(segmentation_release) struct segmentation s = {0}, flat = {0};
		double y[HEADS], z[HEADS];

		for (size_t i = 0; i < HEADS; i++) {
			z[i] = rng_normal(&rng);
			y[i] = z[i] + 4.0 * (double)(i / 10);
		}
		segment_series(y, HEADS, &segment_rule_history, &s);
		segment_series(z, HEADS, &segment_rule_history, &flat);
		missed += s.n < 4;
		made_up += flat.n > 1;
	}
	assert_true(missed <= 10);
	assert_true(made_up <= 6);
}

static void test_invariant(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 12);
	for (int run = 0; run < 50; run++) {
		CLEANUP(segmentation_release) struct segmentation s = {0}, other = {0}, back = {0};
		double y[LONG], z[LONG], r[LONG];

		stairs(&rng, y, 0.2, 3);
		for (size_t i = 0; i < LONG; i++) {
			z[i] = 7.0 - 0.01 * y[i];
			r[i] = y[LONG - 1 - i];
		}
		segment_series(y, LONG, &segment_rule_default, &s);
		segment_series(z, LONG, &segment_rule_default, &other);
		segment_series(r, LONG, &segment_rule_default, &back);
		assert_int_equal(s.n, other.n);
		assert_memory_equal(s.starts, other.starts, s.n * sizeof(*s.starts));
		assert_int_equal(s.n, back.n);
		for (size_t k = 1; k < s.n; k++)
			assert_int_equal(s.starts[k], LONG - back.starts[s.n - k]);
	}
}

static void test_dearer_is_fewer(void **state)
{
	struct rng rng;
	double y[LONG];

	(void)state;
	rng_seed(&rng, 13);
	for (int run = 0; run < 50; run++) {
		size_t last = LONG;

		stairs(&rng, y, 0, 1);
		for (double penalty = 0.1; penalty < 10; penalty *= 1.7) {
			const struct segment_rule rule = {.penalty = penalty, .least = 1};
			CLEANUP(segmentation_release) struct segmentation s = {0};

			segment_series(y, LONG, &rule, &s);
			assert_true(s.n <= last);
			last = s.n;
		}
		assert_int_equal(last > 0, true);
	}
}

/* Mean number of changes found where there is none. */
static double false_changes(struct rng *rng, double rho, double outlier)
{
	size_t found = 0;
	double y[LONG];

	for (int run = 0; run < 400; run++) {
		CLEANUP(segmentation_release) struct segmentation s = {0};

		stairs(rng, y, rho, 0);
		for (size_t i = 0; i < LONG; i++)
			y[i] += rng_uniform(rng) < outlier ? 8 : 0;
		segment_series(y, LONG, &segment_rule_default, &s);
		found += s.n - 1;
	}
	return (double)found / 400;
}

static void test_quiet(void **state)
{
	struct rng rng;

	(void)state;
	rng_seed(&rng, 14);
	assert_true(false_changes(&rng, 0, 0) <= 0.01);
	assert_true(false_changes(&rng, 0.6, 0) <= 0.2);
	assert_true(false_changes(&rng, 0, 0.01) <= 0.06);
}

static void test_finds(void **state)
{
	struct rng rng;
	double y[LONG];
	int both = 0;

	(void)state;
	rng_seed(&rng, 15);
	for (int run = 0; run < 400; run++) {
		CLEANUP(segmentation_release) struct segmentation s = {0};
		int hits = 0;

		stairs(&rng, y, 0, 2);
		segment_series(y, LONG, &segment_rule_default, &s);
		for (size_t k = 1; k < s.n; k++)
			hits += fabs((double)s.starts[k] - LONG / 4) <= 3 ||
				fabs((double)s.starts[k] - LONG / 2) <= 3;
		both += hits == 2;
	}
	print_message("two steps of 2 sd: both within 3 points in %d of 400\n", both);
	assert_true(both >= 345);
}

static void test_edges(void **state)
{
	static const double flat[] = {5, 5, 5, 5, 5, 5}, jump[] = {5, 5, 5, 5, 9, 9, 9, 9};
	CLEANUP(segmentation_release)
	struct segmentation none = {0}, one = {0}, few = {0}, same = {0}, two = {0};

	(void)state;
	segment_series(NULL, 0, &segment_rule_default, &none);
	assert_int_equal(none.n, 0);
	segment_series(flat, 1, &segment_rule_default, &one);
	assert_int_equal(one.n, 1);
	segment_series(jump + 3, 2, &segment_rule_default, &few);
	assert_int_equal(few.n, 1);
	segment_series(flat, 6, &segment_rule_default, &same);
	assert_int_equal(same.n, 1);
	assert_int_equal(same.starts[0], 0);
	segment_series(jump, 8, &segment_rule_default, &two);
	assert_int_equal(two.n, 2);
	assert_int_equal(two.starts[1], 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact),		cmocka_unit_test(test_noise),
		cmocka_unit_test(test_short_history),	cmocka_unit_test(test_invariant),
		cmocka_unit_test(test_dearer_is_fewer), cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_finds),		cmocka_unit_test(test_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

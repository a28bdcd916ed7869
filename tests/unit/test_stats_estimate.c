// SPDX-License-Identifier: GPL-2.0-or-later
/* Estimates, comparison, detector, histograms. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/compare.h"
#include "stats/detect.h"
#include "stats/estimate.h"
#include "stats/hist.h"
#include "stats/multiple.h"
#include "stats/ratio.h"
#include "stats/rng.h"

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9g is not within %g of %.9g", a, tolerance, b);
}

static void test_location(void **state)
{
	static const double x[] = {4.0, 1.0, 3.0, 2.0, 10.0};

	(void)state;
	near(estimate_mean(x, 5), 4.0, 1e-12);
	near(estimate_median(x, 5), 3.0, 0.0);
	near(estimate_median(x, 4), 2.5, 0.0);
	near(estimate_sd(x, 5), sqrt(12.5), 1e-12);
	near(estimate_sd(x, 1), 0.0, 0.0);
}

static void test_logs(void **state)
{
	static const double x[] = {1.0, 100.0}, zero[] = {0.0, 8.0};
	struct err err;
	double out;

	(void)state;
	assert_true(estimate_geomean(x, 2, 0.0, &out, &err));
	near(out, 10.0, 1e-12);
	assert_true(estimate_geomean(zero, 2, 1.0, &out, &err));
	near(out, 2.0, 1e-12);
	assert_false(estimate_geomean(zero, 2, 0.0, &out, &err));
	assert_false(estimate_log(NAN, 1.0, &out, &err));
	near(out, 2.0, 1e-12);
}

/* Student's t and normal quantiles as in any printed table. */
static void test_quantiles(void **state)
{
	(void)state;
	near(estimate_t_quantile(0.975, 1), 12.706, 1e-3);
	near(estimate_t_quantile(0.975, 10), 2.228, 1e-3);
	near(estimate_t_quantile(0.995, 30), 2.750, 1e-3);
	near(estimate_t_quantile(0.975, INFINITY), 1.960, 1e-3);
	near(estimate_normal_quantile(0.99), 2.326, 1e-3);
	near(estimate_t_upper(2.228139, 10), 0.025, 1e-6);
	near(estimate_t_to_z(2.228139, 10), 1.959964, 1e-5);
	near(estimate_t_to_z(-2.228139, 10), -1.959964, 1e-5);
	assert_true(isfinite(estimate_t_to_z(1e9, 50)));
}

/* By hand: means 2 and 5, variances 1 and 4, n 3 and 3: se^2 = 5/3, df = 50/17. */
static void test_welch(void **state)
{
	static const double a[] = {1.0, 2.0, 3.0}, b[] = {3.0, 5.0, 7.0};
	struct interval iv = estimate_welch(a, 3, b, 3, 0.95);

	(void)state;
	near(iv.diff, 3.0, 1e-12);
	near(iv.se, sqrt(5.0 / 3.0), 1e-12);
	near(iv.df, 50.0 / 17.0, 1e-9);
	near(iv.hi - iv.diff, iv.se * estimate_t_quantile(0.975, 50.0 / 17.0), 1e-9);
	iv = estimate_welch(a, 1, b, 3, 0.95);
	assert_true(isinf(iv.lo) && isinf(iv.hi) && iv.p == 1.0);
	iv = estimate_pooled(a, 3, b, 3, NULL, 0.95);
	near(iv.df, 4.0, 0.0);
	near(iv.se, sqrt(2.5 * 2.0 / 3.0), 1e-12);
}

static void test_welch_covers(void **state)
{
	enum {
		RUNS = 20000
	};
	struct rng rng;
	int covered = 0;

	(void)state;
	rng_seed(&rng, 20240229);
	for (int i = 0; i < RUNS; i++) {
		double a[5], b[8];
		struct interval iv;

		for (int k = 0; k < 5; k++)
			a[k] = rng_normal(&rng);
		for (int k = 0; k < 8; k++)
			b[k] = 1.0 + 2.0 * rng_normal(&rng);
		iv = estimate_welch(a, 5, b, 8, 0.95);
		covered += iv.lo <= 1.0 && iv.hi >= 1.0;
	}
	near((double)covered / RUNS, 0.95, 0.006);
}

static void test_pool(void **state)
{
	static const double sse[] = {2.0, 0.0, 6.0};
	static const size_t n[] = {3, 1, 3};
	struct sd_prior prior = estimate_pool(sse, n, 3);

	(void)state;
	near(prior.df, 4.0, 0.0);
	near(prior.sd, sqrt(2.0), 1e-12);
	near(estimate_pool(sse, n, 0).df, 0.0, 0.0);
}

static void test_compare(void **state)
{
	static const double a[] = {100.0, 101.0, 99.0, 100.5}, b[] = {110.0, 111.0, 109.0, 110.5};
	struct comparison lower, higher;
	struct err err;

	(void)state;
	assert_true(compare_boots(a, 4, b, 4, 0.0, better_parse("lower"), &lower, &err));
	assert_true(lower.significant);
	near(compare_relative(lower.effect), 0.0999, 1e-3);
	assert_true(lower.lo > 0.0 && lower.lo < lower.effect && lower.effect < lower.hi);
	assert_true(lower.mde > 0.0 && lower.mde < 0.05);
	assert_true(compare_boots(a, 4, b, 4, 0.0, better_parse("higher"), &higher, &err));
	near(higher.effect, -lower.effect, 1e-12);
	near(higher.lo, -lower.hi, 1e-12);
	assert_true(compare_boots(a, 1, b, 1, 0.0, BETTER_NONE, &lower, &err));
	assert_false(lower.significant);
	assert_true(isinf(lower.mde));
	assert_false(compare_boots(a, 0, b, 1, 0.0, BETTER_NONE, &lower, &err));
}

static void test_fieller(void **state)
{
	const struct interval part = {.diff = 0.9, .se = 0.05, .df = 10},
			      whole = {.diff = 1.0, .se = 0.05, .df = 30},
			      nothing = {.diff = 0.05, .se = 0.05, .df = 30};
	double t = estimate_t_quantile(0.975, 10);
	struct ratio r = ratio_fieller(&part, &whole);

	(void)state;
	near(r.value, 0.9, 1e-12);
	assert_true(r.lo < 0.9 && r.hi > 0.9);
	for (int side = 0; side < 2; side++) { /* the bounds are where the test is just passed */
		double x = side ? r.hi : r.lo;

		near(fabs(0.9 - x), t * sqrt(0.0025 + x * x * 0.0025), 1e-9);
	}
	r = ratio_fieller(&part, &nothing);
	assert_true(isinf(r.lo) && isinf(r.hi));
}

static void test_holm(void **state)
{
	double p[] = {0.01, 0.04, 0.03, 0.005}, one[] = {0.6, 0.9};

	(void)state;
	multiple_holm(p, 4);
	near(p[0], 0.03, 1e-12);
	near(p[1], 0.06, 1e-12);
	near(p[2], 0.06, 1e-12);
	near(p[3], 0.02, 1e-12);
	multiple_holm(one, 2);
	near(one[0], 1.0, 1e-12);
	near(one[1], 1.0, 1e-12);
	multiple_holm(NULL, 0);
}

static void test_mde(void **state)
{
	enum {
		RUNS = 5000,
		BOOTS = 6
	};
	struct rng rng;
	struct err err;
	int found = 0;

	(void)state;
	rng_seed(&rng, 3);
	/* a shift of the size that six boots a side at sd 0.1 find in 90 of 100 cases */
	double shift = 0.1 * sqrt(2.0 / BOOTS) *
		       (estimate_t_quantile(0.975, 10) + estimate_t_quantile(0.9, 10));

	for (int i = 0; i < RUNS; i++) {
		double a[BOOTS], b[BOOTS];
		struct comparison c;

		for (int k = 0; k < BOOTS; k++) {
			a[k] = exp(0.1 * rng_normal(&rng));
			b[k] = exp(shift + 0.1 * rng_normal(&rng));
		}
		assert_true(compare_boots(a, BOOTS, b, BOOTS, 0.0, BETTER_LOWER, &c, &err));
		found += c.significant;
	}
	near((double)found / RUNS, 0.90, 0.02);
}

static void test_detect(void **state)
{
	static const double a[] = {1.0, 1.1}, b[] = {2.0, 2.1}, one[] = {2.0};
	static const struct sd_prior prior = {0.1, 20.0};
	struct detection d = detect_shift(a, 2, b, 2, &prior);

	(void)state;
	near(d.effect, 1.0, 1e-12);
	assert_true(d.z > 5.0);
	assert_true(detect_shift(b, 2, a, 2, &prior).z < -5.0);
	near(detect_shift(a, 1, one, 1, NULL).z, 0.0, 0.0);
	assert_true(detect_shift(a, 1, one, 1, &prior).z > 4.0);
	/* without history two boots a side say less than they seem to */
	assert_true(detect_shift(a, 2, b, 2, NULL).z < d.z);
}

/* What is said to be seen 9 times in 10 is, by noise of which the boots themselves tell the most or nearly nothing. */
static void test_detect_detectable(void **state)
{
	enum {
		RUNS = 4000
	};
	static const struct sd_prior priors[] = {{1.0, 3.0}, {1.0, 30.0}};

	(void)state;
	for (size_t k = 0; k < ARRAY_SIZE(priors); k++) {
		double shift = detect_detectable(&priors[k], 3, 2, 3.5, 0.9);
		size_t seen = 0;
		struct rng rng;

		rng_seed(&rng, 9);
		for (int i = 0; i < RUNS; i++) {
			double b[3], a[2], chi = 0;
			struct sd_prior prior = priors[k];

			for (int j = 0; j < (int)prior.df; j++) {
				double y = rng_normal(&rng);

				chi += y * y;
			}
			prior.sd = sqrt(chi / prior.df);
			for (int j = 0; j < 3; j++)
				b[j] = rng_normal(&rng);
			for (int j = 0; j < 2; j++)
				a[j] = shift + rng_normal(&rng);
			seen += detect_shift(b, 3, a, 2, &prior).z >= 3.5;
		}
		near((double)seen / RUNS, 0.9, 0.05);
	}
	assert_true(isinf(detect_detectable(&(struct sd_prior){0.0, 0.0}, 3, 3, 3.5, 0.9)));
	near(detect_detectable(&(struct sd_prior){2.0, 30.0}, 3, 3, 3.5, 0.9) /
		     detect_detectable(&(struct sd_prior){1.0, 30.0}, 3, 3, 3.5, 0.9),
	     2.0, 1e-12);
}

static void test_hist(void **state)
{
	int64_t h[8] = {0, 0, 0, 100, 0, 0, 0, 0}, more[4] = {0, 300, 0, 0};

	(void)state;
	near(hist_quantile(h, 8, 0.5), exp2(3.5), 1e-9);
	hist_add(h, more, 4);
	assert_int_equal(hist_count(h, 8), 400);
	near(hist_quantile(h, 8, 0.75), 4.0, 1e-9);
	near(hist_quantile(h, 8, 1.0), 16.0, 1e-9);
	near(hist_quantile(h, 8, 0.0), 2.0, 1e-9);
	memset(h, 0, sizeof(h));
	assert_true(isnan(hist_quantile(h, 8, 0.5)));
}

static void test_rng(void **state)
{
	enum {
		DRAWS = 200000
	};
	struct rng a, b;
	double sum = 0.0, squares = 0.0;
	int seen[7] = {0}, order[7] = {0, 1, 2, 3, 4, 5, 6};

	(void)state;
	rng_seed(&a, 5);
	rng_seed(&b, 5);
	for (int i = 0; i < DRAWS; i++) {
		double x = rng_normal(&a);

		assert_true(x == rng_normal(&b));
		sum += x;
		squares += x * x;
	}
	near(sum / DRAWS, 0.0, 0.01);
	near(squares / DRAWS, 1.0, 0.015);
	for (int i = 0; i < 7000; i++)
		seen[rng_below(&a, 7)]++;
	for (int i = 0; i < 7; i++)
		assert_true(seen[i] > 850 && seen[i] < 1150);
	rng_shuffle(&a, order, 7, sizeof(*order));
	for (int i = 0; i < 7; i++)
		seen[order[i]] = -1;
	for (int i = 0; i < 7; i++)
		assert_int_equal(seen[i], -1);
}

static void test_one_outlier_a_side_does_not_decide(void **state)
{
	const double before[] = {100, 104, 97, 101, 99, 103, 98, 5000};
	const double after[] = {150, 156, 144, 152, 149, 155, 147, 1};
	struct interval welch, yuen;
	struct comparison c;
	struct err err;

	(void)state;
	assert_true(compare_boots(before, 8, after, 8, 0.0, BETTER_LOWER, &c, &err));
	assert_true(c.significant && c.lo > 0.3 && c.hi < 0.5);
	assert_true(fabs(c.before_mean - 101) < 2 && fabs(c.after_mean - 149) < 2);
	/* fewer than 5 numbers: nothing is cut off */
	welch = estimate_welch(before, 4, after, 4, 0.95);
	yuen = estimate_yuen(before, 4, after, 4, 0.95);
	assert_true(fabs(welch.lo - yuen.lo) < 1e-9 && fabs(welch.hi - yuen.hi) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_outlier_a_side_does_not_decide),
		cmocka_unit_test(test_location),
		cmocka_unit_test(test_logs),
		cmocka_unit_test(test_quantiles),
		cmocka_unit_test(test_welch),
		cmocka_unit_test(test_welch_covers),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_fieller),
		cmocka_unit_test(test_holm),
		cmocka_unit_test(test_mde),
		cmocka_unit_test(test_detect),
		cmocka_unit_test(test_detect_detectable),
		cmocka_unit_test(test_hist),
		cmocka_unit_test(test_rng),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

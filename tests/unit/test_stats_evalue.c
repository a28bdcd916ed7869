// SPDX-License-Identifier: GPL-2.0-or-later
/* Evidence that may be looked at at any time, and confirmations by it. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/detect.h"
#include "stats/evalue.h"
#include "stats/rng.h"

enum {
	PAIRS = 60
};

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9g is not within %g of %.9g", a, tolerance, b);
}

/* An e-value's mean over all signs is 1, whatever the sizes are: every sign pattern is counted. */
static void test_mean_is_one(void **state)
{
	static const double sizes[] = {0.3, 8.0, 1.0, 0.0, 2.5, 1.0, 0.7, 40.0, 0.2, 1.1};
	double sum = 0, diffs[ARRAY_SIZE(sizes)];
	unsigned int patterns = 1u << ARRAY_SIZE(sizes);

	(void)state;
	for (unsigned int p = 0; p < patterns; p++) {
		for (size_t i = 0; i < ARRAY_SIZE(sizes); i++)
			diffs[i] = p >> i & 1 ? sizes[i] : -sizes[i];
		sum += exp(evalue_pairs(diffs, ARRAY_SIZE(sizes), NULL)) / patterns;
	}
	near(sum, 1, 1e-12);
}

static void test_pairs_properties(void **state)
{
	static const double x[] = {1.0, 2.0, -0.5, 3.0, 1.5};
	double scaled[5], best, last = 0, all[PAIRS];

	(void)state;
	for (size_t i = 0; i < 5; i++)
		scaled[i] = 1e-6 * x[i];
	near(evalue_pairs(x, 5, NULL), evalue_pairs(scaled, 5, NULL), 1e-12);
	near(evalue_pairs(x, 0, &best), 0, 0);
	near(best, 0, 0);
	/* a sign that turns to the worse adds evidence */
	for (size_t i = 0; i < 5; i++)
		scaled[i] = fabs(x[i]);
	assert_true(evalue_pairs(scaled, 5, NULL) > evalue_pairs(x, 5, NULL));
	for (size_t i = 0; i < PAIRS; i++) {
		all[i] = 1;
		evalue_pairs(all, i + 1, &best);
		assert_true(best > last && best <= (double)(i + 1) * M_LN2);
		last = best;
	}
}

/* Noise of one boot after another, with mean 0 or not: what the coin has to defeat. */
static double boot(struct rng *rng, int kind, double *e)
{
	switch (kind) {
	case 0:
		return rng_normal(rng);
	case 1:
		*e = 0.9 * *e + rng_normal(rng);
		return *e;
	case 2:
		return exp(rng_normal(rng));
	default:
		return rng_normal(rng) + (rng_uniform(rng) < 0.05 ? 30 : 0);
	}
}

static void test_peeking(void **state)
{
	enum {
		RUNS = 8000,
		KINDS = 4
	};
	static const double alpha = 0.02;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 17);
	for (int kind = 0; kind < KINDS; kind++) {
		int crossed = 0;

		for (int run = 0; run < RUNS; run++) {
			double diffs[PAIRS], best, e = 0;

			for (size_t i = 0; i < PAIRS; i++) {
				double first = boot(&rng, kind, &e);
				double second = boot(&rng, kind, &e);

				diffs[i] = rng_next(&rng) & 1 ? first - second : second - first;
			}
			evalue_pairs(diffs, PAIRS, &best);
			crossed += best >= -log(alpha);
		}
		print_message("noise %d, 60 looks: confirmed %.2f %% at alpha 2 %%\n", kind,
			      100.0 * crossed / RUNS);
		assert_true(crossed <= alpha * RUNS + 3 * sqrt(alpha * RUNS));
	}
}

static void test_bh(void **state)
{
	double e[] = {log(100), log(5), log(45), log(1), log(60)}, least;

	(void)state;
	/* of 5 at 10 %: k-th largest against 50 / k: 100 >= 50, 60 >= 25, 45 >= 16.7, 5 < 12.5 */
	assert_int_equal(evalue_bh(e, 5, 0.1, &least), 3);
	near(least, log(45), 0);
	assert_int_equal(evalue_bh(e, 5, 0.001, &least), 0);
	assert_true(isinf(least));
	assert_int_equal(evalue_bh(e, 0, 0.1, &least), 0);
	/* one alone is Ville's bound */
	assert_int_equal(evalue_bh(e, 1, 0.0101, &least), 1);
	assert_int_equal(evalue_bh(e, 1, 0.0099, &least), 0);
}

static enum confirm_verdict confirm_run(struct rng *rng, double shift, const struct sd_prior *prior,
					const struct confirm_rule *rule, size_t *boots)
{
	double a[PAIRS], b[PAIRS];

	for (size_t n = 0;;) {
		struct confirmation c;

		for (size_t i = 0; i < 4; i++, n++) {
			a[n] = rng_normal(rng);
			b[n] = shift + rng_normal(rng);
		}
		c = confirm_pairs(a, b, n, prior, rule);
		*boots += 8;
		if (c.verdict != CONFIRM_MORE)
			return c.verdict;
		assert_true(n < rule->pairs);
	}
}

static void test_confirm_unchanged(void **state)
{
	enum {
		RUNS = 10000
	};
	static const struct confirm_rule rule = {.pairs = PAIRS, .min_effect = 0.3, .alpha = 0.01};
	static const struct sd_prior prior = {1.0, 30.0};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 77);
	for (int known = 0; known < 2; known++) {
		size_t boots = 0;
		int confirmed = 0;

		for (int i = 0; i < RUNS; i++)
			confirmed += confirm_run(&rng, 0.0, known ? &prior : NULL, &rule, &boots) ==
				     CONFIRM_CONFIRMED;
		print_message("no shift, sd %s: confirmed %.2f %%, %.1f boots\n",
			      known ? "known" : "unknown", 100.0 * confirmed / RUNS,
			      (double)boots / RUNS);
		assert_true(confirmed <= RUNS / 100);
		assert_true((double)boots / RUNS < 40); /* 120 without giving up early */
	}
}

static void test_confirm_shifted(void **state)
{
	enum {
		RUNS = 2000
	};
	static const struct confirm_rule rule = {.pairs = PAIRS, .min_effect = 0.3, .alpha = 0.001};
	static const struct sd_prior prior = {1.0, 30.0};
	static const struct {
		double d, least, boots;
	} rows[] = {{3.0, 0.99, 28}, {2.0, 0.99, 38}, {1.0, 0.80, 86}};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 78);
	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		size_t boots = 0;
		int confirmed = 0;

		for (int i = 0; i < RUNS; i++)
			confirmed += confirm_run(&rng, rows[r].d, &prior, &rule, &boots) ==
				     CONFIRM_CONFIRMED;
		print_message("shift %.0f sd: confirmed %.2f %%, %.1f boots\n", rows[r].d,
			      100.0 * confirmed / RUNS, (double)boots / RUNS);
		assert_true((double)confirmed / RUNS >= rows[r].least);
		assert_true((double)boots / RUNS <= rows[r].boots);
	}
}

/* What is said to be found in 90 of 100 cases is, with few pairs and with many. */
static void test_confirm_detectable(void **state)
{
	enum {
		RUNS = 2000
	};
	static const struct confirm_rule rules[] = {
		{16, 0.01, 0.01}, {24, 0.01, 0.001}, {PAIRS, 0.01, 0.001}};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 79);
	for (size_t r = 0; r < ARRAY_SIZE(rules); r++) {
		double shift = confirm_detectable(1, &rules[r], 0.9);
		size_t boots = 0;
		int found = 0;

		for (int i = 0; i < RUNS; i++)
			found += confirm_run(&rng, shift, NULL, &rules[r], &boots) ==
				 CONFIRM_CONFIRMED;
		print_message("%zu pairs: %.2f sd are found by %.1f %%\n", rules[r].pairs, shift,
			      100.0 * found / RUNS);
		assert_true(found >= 0.87 * RUNS && found <= 0.97 * RUNS);
		near(confirm_detectable(0.1, &rules[r], 0.9), 0.1 * shift, 1e-9);
		assert_true(confirm_detectable(1, &rules[r], 0.99) > shift);
	}
	assert_true(isinf(confirm_detectable(1, &(struct confirm_rule){8, 0.01, 0.001}, 0.9)));
}

static void test_confirm_edges(void **state)
{
	double a[12], b[12];
	const struct confirm_rule rule = {.pairs = 12, .min_effect = 0.1, .alpha = 0.01},
				  small = {.pairs = 12, .min_effect = 2.0, .alpha = 0.01},
				  two = {.pairs = 2, .min_effect = 0.1, .alpha = 0.3};
	struct confirmation c;
	double last = 1;

	(void)state;
	for (size_t i = 0; i < 12; i++) {
		a[i] = 1;
		b[i] = 2;
	}
	assert_int_equal(confirm_pairs(a, b, 1, NULL, &rule).verdict, CONFIRM_MORE);
	assert_int_equal(confirm_pairs(a, b, 1, NULL, &(struct confirm_rule){1, 0.1, 0.01}).verdict,
			 CONFIRM_REFUTED);
	for (size_t n = 2; n <= 12; n++) {
		c = confirm_pairs(a, b, n, NULL, &rule);
		assert_true(c.p < last);
		last = c.p;
		near(c.effect, 1, 1e-12);
		assert_int_equal(c.verdict, c.p <= 0.01 ? CONFIRM_CONFIRMED : CONFIRM_MORE);
	}
	assert_int_equal(c.verdict, CONFIRM_CONFIRMED);
	assert_int_equal(confirm_pairs(b, a, 3, NULL, &rule).verdict, CONFIRM_REFUTED);
	assert_int_equal(confirm_pairs(a, b, 12, NULL, &small).verdict, CONFIRM_REFUTED);
	/* nobody can agree enough in two */
	b[1] = 0.5;
	assert_int_equal(confirm_pairs(a, b, 2, NULL, &two).verdict, CONFIRM_REFUTED);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mean_is_one),
		cmocka_unit_test(test_pairs_properties),
		cmocka_unit_test(test_peeking),
		cmocka_unit_test(test_bh),
		cmocka_unit_test(test_confirm_unchanged),
		cmocka_unit_test(test_confirm_shifted),
		cmocka_unit_test(test_confirm_detectable),
		cmocka_unit_test(test_confirm_edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

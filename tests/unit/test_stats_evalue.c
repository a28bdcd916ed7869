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
	BLOCKS = 15,
	EACH = 4
};

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9g is not within %g of %.9g", a, tolerance, b);
}

static struct evalue_block block_of(const double *before, size_t n0, const double *after, size_t n1)
{
	return (struct evalue_block){before, after, n0, n1};
}

static double evalue_of_one(const double *before, size_t n0, const double *after, size_t n1)
{
	struct evalue_block block = block_of(before, n0, after, n1);
	struct evalue e = {0};

	evalue_add(&e, &block);
	return e.now;
}

/* An e-value's mean over all labels is 1, whatever the numbers are: every arrangement is counted. */
static void test_mean_is_one(void **state)
{
	static const double x[] = {0.3, 8.0, 1.0, 0.0, 2.5, 1.0, 0.7, 40.0};
	static const size_t sizes[] = {1, 3, 4, 7};

	(void)state;
	for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
		double sum = 0, count = 0;

		for (unsigned int bits = 0; bits < 256; bits++) {
			double sides[2][8];
			size_t n[2] = {0};

			for (size_t i = 0; i < 8; i++)
				sides[bits >> i & 1][n[bits >> i & 1]++] = x[i];
			if (n[1] != sizes[s] || n[0] > EVALUE_SIDE_MAX || n[1] > EVALUE_SIDE_MAX)
				continue;
			sum += exp(evalue_of_one(sides[0], n[0], sides[1], n[1]));
			count++;
		}
		if (count > 0)
			near(sum / count, 1, 1e-9);
	}
}

static void test_block_properties(void **state)
{
	static const double low[] = {1.0, 2.0, -0.5, 3.0}, high[] = {11.0, 12.0, 10.5, 13.0},
			    mixed[] = {3.5, 4.5, 2.5, 6.0};
	double scaled[4], turned[] = {3.0, 1.0, -0.5, 2.0};
	struct evalue_block block = block_of(low, 4, high, 4);
	struct evalue e = {0};

	(void)state;
	/* neither scale nor order matter */
	for (size_t i = 0; i < 4; i++)
		scaled[i] = 1e-6 * mixed[i];
	near(evalue_of_one(turned, 4, mixed, 4), evalue_of_one(low, 4, mixed, 4), 1e-12);
	for (size_t i = 0; i < 4; i++)
		turned[i] = 1e-6 * low[i];
	near(evalue_of_one(turned, 4, scaled, 4), evalue_of_one(low, 4, mixed, 4), 1e-9);
	/* the further apart the more, up to the number of arrangements */
	assert_true(evalue_of_one(low, 4, high, 4) > evalue_of_one(low, 4, mixed, 4));
	assert_true(evalue_of_one(low, 4, mixed, 4) > 0 && evalue_of_one(mixed, 4, low, 4) < 0);
	near(evalue_most(4), log(70), 1e-9);
	near(evalue_most(1), M_LN2, 1e-9);
	for (size_t n = 1; n <= 10; n++) {
		double last = e.best;

		evalue_add(&e, &block);
		assert_true(e.best > last && e.best <= (double)n * log(70));
	}
	/* the best stays, what speaks against it counts */
	block = block_of(high, 4, low, 4);
	evalue_add(&e, &block);
	assert_true(e.now < e.best);
}

static void test_block_silent(void **state)
{
	static const double same[] = {2, 2, 2}, other[] = {1, 2, 3};

	(void)state;
	near(evalue_of_one(same, 3, same, 3), 0, 0);
	near(evalue_of_one(other, 3, NULL, 0), 0, 0);
	near(evalue_of_one(NULL, 0, other, 3), 0, 0);
	assert_true(evalue_of_one(same, 3, other, 3) < 0.1); /* as much above as below */
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
		RUNS = 4000,
		KINDS = 4
	};
	static const double alpha = 0.02;
	struct rng rng;

	(void)state;
	rng_seed(&rng, 17);
	for (int kind = 0; kind < KINDS; kind++) {
		int crossed = 0;

		for (int run = 0; run < RUNS; run++) {
			struct evalue e = {0};
			double state_of_noise = 0;

			for (size_t k = 0; k < BLOCKS; k++) {
				size_t order[2 * EACH], n[2] = {0};
				double y[2][EACH];
				struct evalue_block block = block_of(y[0], EACH, y[1], EACH);

				for (size_t i = 0; i < 2 * EACH; i++)
					order[i] = i % 2;
				rng_shuffle(&rng, order, 2 * EACH, sizeof(*order));
				for (size_t i = 0; i < 2 * EACH; i++)
					y[order[i]][n[order[i]]++] =
						boot(&rng, kind, &state_of_noise);
				evalue_add(&e, &block);
			}
			crossed += e.best >= -log(alpha);
		}
		print_message("noise %d, %d looks: confirmed %.2f %% at alpha 2 %%\n", kind, BLOCKS,
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

/* What one more needs: with it the set is what e-BH gives, with a hair less it is not. */
static void test_bh_bar(void **state)
{
	double e[] = {log(100), log(5), log(45), log(1), 0}, bar, least;

	(void)state;
	near(evalue_bh_bar(e, 0, 0.1), log(10), 1e-12);
	/* of 5 at 10 %, with 100 and 45: 50 / 3 */
	bar = evalue_bh_bar(e, 4, 0.1);
	near(bar, log(50.0 / 3.0), 1e-12);
	e[4] = bar + 1e-9;
	assert_int_equal(evalue_bh(e, 5, 0.1, &least), 3);
	near(least, e[4], 0);
	e[4] = bar - 1e-9;
	assert_int_equal(evalue_bh(e, 5, 0.1, &least), 2);
}

/* However many tests there are, their errors sum up to no more than the budget. */
static void test_spending(void **state)
{
	double spent = 0;

	(void)state;
	near(evalue_spend(0.001, 1, 0), 0.001, 0);
	near(evalue_spend(0.001, 1, 0.99), 0.0002, 1e-15);
	assert_true(evalue_spend(0.001, 1, 2) > 0);
	for (int i = 0; i < 950; i++)
		spent += evalue_spend(0.001, 1, spent);
	near(spent, 0.95, 1e-9);
	for (int i = 0; i < 100000; i++)
		spent += evalue_spend(0.001, 1, spent);
	assert_true(spent <= 1 + 1e-6);
}

static enum confirm_verdict confirm_run(struct rng *rng, double shift, const struct sd_prior *prior,
					const struct confirm_rule *rule, size_t *boots)
{
	double before[BLOCKS][EVALUE_SIDE_MAX], after[BLOCKS][EVALUE_SIDE_MAX];
	struct evalue_block blocks[BLOCKS];

	for (size_t n = 0;;) {
		struct confirmation c;

		for (size_t i = 0; i < rule->each; i++) {
			before[n][i] = rng_normal(rng);
			after[n][i] = shift + rng_normal(rng);
		}
		blocks[n] = block_of(before[n], rule->each, after[n], rule->each);
		c = confirm_blocks(blocks, ++n, prior, rule);
		*boots += 2 * rule->each;
		if (c.verdict != CONFIRM_MORE)
			return c.verdict;
		assert_true(n < rule->blocks);
	}
}

static void test_confirm_unchanged(void **state)
{
	enum {
		RUNS = 10000
	};
	static const struct confirm_rule rule = {
		.blocks = BLOCKS, .each = EACH, .min_effect = 0.3, .alpha = 0.01};
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
	static const struct confirm_rule rule = {
		.blocks = BLOCKS, .each = EACH, .min_effect = 0.3, .alpha = 0.001};
	static const struct sd_prior prior = {1.0, 30.0};
	static const struct {
		double d, least, boots;
	} rows[] = {{3.0, 0.99, 20}, {2.0, 0.99, 30}, {1.0, 0.80, 80}};
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

/* What is said to be found in 90 of 100 cases is, with few blocks and with many. */
static void test_confirm_detectable(void **state)
{
	enum {
		RUNS = 2000
	};
	static const struct confirm_rule rules[] = {{3, 6, 0.01, 0.01},
						    {4, 4, 0.01, 0.01},
						    {6, 4, 0.01, 0.001},
						    {BLOCKS, EACH, 0.01, 0.001}};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 79);
	for (size_t r = 0; r < ARRAY_SIZE(rules); r++) {
		double shift = confirm_detectable(&rules[r], 0.9);
		size_t boots = 0;
		int found = 0;

		for (int i = 0; i < RUNS; i++)
			found += confirm_run(&rng, shift, NULL, &rules[r], &boots) ==
				 CONFIRM_CONFIRMED;
		print_message("%zu blocks of %zu: %.2f sd are found by %.1f %%\n", rules[r].blocks,
			      2 * rules[r].each, shift, 100.0 * found / RUNS);
		assert_true(found >= 0.87 * RUNS && found <= 0.97 * RUNS);
		assert_true(confirm_detectable(&rules[r], 0.99) > shift);
	}
	assert_true(isinf(confirm_detectable(&(struct confirm_rule){1, 4, 0.01, 0.001}, 0.9)));
}

static void test_confirm_edges(void **state)
{
	static const double low[] = {1, 1, 1, 1}, high[] = {2, 2, 2, 2};
	const struct confirm_rule rule = {4, EACH, 0.1, 0.01}, small = {4, EACH, 2.0, 0.01},
				  last = {1, EACH, 0.1, 0.3}, never = {3, 1, 0.1, 0.1};
	struct evalue_block up[4], down[4], lost = block_of(NULL, 0, high, 4);
	struct confirmation c;
	double before = 1;

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		up[i] = block_of(low, 4, high, 4);
		down[i] = block_of(high, 4, low, 4);
	}
	/* what says nothing asks for more, as long as more may come */
	c = confirm_blocks(&lost, 1, NULL, &rule);
	assert_int_equal(c.verdict, CONFIRM_MORE);
	assert_true(isnan(c.effect));
	assert_int_equal(confirm_blocks(&lost, 1, NULL, &last).verdict, CONFIRM_REFUTED);
	assert_int_equal(confirm_blocks(NULL, 0, NULL, &rule).verdict, CONFIRM_MORE);
	for (size_t n = 1; n <= 4; n++) {
		c = confirm_blocks(up, n, NULL, &rule);
		assert_true(c.p < before);
		before = c.p;
		near(c.effect, 1, 1e-12);
		assert_int_equal(c.verdict, c.p <= 0.01 ? CONFIRM_CONFIRMED : CONFIRM_MORE);
	}
	assert_int_equal(c.verdict, CONFIRM_CONFIRMED);
	assert_int_equal(confirm_blocks(down, 1, NULL, &rule).verdict, CONFIRM_REFUTED);
	assert_int_equal(confirm_blocks(up, 4, NULL, &small).verdict, CONFIRM_REFUTED);
	/* nobody can agree enough in one pair more */
	up[0].n0 = up[0].n1 = up[1].n0 = up[1].n1 = 1;
	assert_int_equal(confirm_blocks(up, 2, NULL, &never).verdict, CONFIRM_REFUTED);
}

/* Blocks that lost boots: the estimate is that of least squares with a level for each block. */
static void test_confirm_uneven(void **state)
{
	static const double b1[] = {1, 2}, a1[] = {4, 5, 6}, b2[] = {11, 13}, a2[] = {15};
	const struct evalue_block blocks[] = {block_of(b1, 2, a1, 3), block_of(b2, 2, a2, 1)};
	const struct confirm_rule rule = {8, 3, 0.1, 0.01};
	struct confirmation c = confirm_blocks(blocks, 2, NULL, &rule);
	/* weights 6/5 and 2/3 on the differences 3.5 and 3 */
	double w = 6.0 / 5 + 2.0 / 3, effect = (6.0 / 5 * 3.5 + 2.0 / 3 * 3) / w;
	/* within the sides 0.5 + 2 + 2, and how far the two differences are apart; 8 - 3 left */
	double squares = 4.5 + 6.0 / 5 * 3.5 * 3.5 + 2.0 / 3 * 9 - w * effect * effect;
	double half = estimate_t_quantile(0.975, 5) * sqrt(squares / 5 / w);

	(void)state;
	near(c.effect, effect, 1e-12);
	near(c.lo, effect - half, 1e-9);
	near(c.hi, effect + half, 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mean_is_one),
		cmocka_unit_test(test_block_properties),
		cmocka_unit_test(test_block_silent),
		cmocka_unit_test(test_peeking),
		cmocka_unit_test(test_bh),
		cmocka_unit_test(test_bh_bar),
		cmocka_unit_test(test_spending),
		cmocka_unit_test(test_confirm_unchanged),
		cmocka_unit_test(test_confirm_shifted),
		cmocka_unit_test(test_confirm_detectable),
		cmocka_unit_test(test_confirm_edges),
		cmocka_unit_test(test_confirm_uneven),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

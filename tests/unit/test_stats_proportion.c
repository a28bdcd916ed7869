// SPDX-License-Identifier: GPL-2.0-or-later
/* Shares of events and their tails. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/proportion.h"
#include "stats/rng.h"

enum {
	BOOTS = 8,
	BUCKETS = 24
};

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9g is not within %g of %.9g", a, tolerance, b);
}

/* Newcombe 1998, "Interval estimation for the difference between independent proportions", Table II,
 * method 10: 56/70 against 48/80 and 9/10 against 3/10. */
static void test_newcombe(void **state)
{
	const struct counted a = {56, 70}, b = {48, 80}, c = {9, 10}, d = {3, 10};
	struct interval iv = proportion_compare(&b, 1, &a, 1, 0.95);

	(void)state;
	near(iv.diff, 0.2, 1e-12);
	near(iv.lo, 0.0524, 5e-5);
	near(iv.hi, 0.3339, 5e-5);
	iv = proportion_compare(&d, 1, &c, 1, 0.95);
	near(iv.lo, 0.1705, 5e-5);
	near(iv.hi, 0.8090, 5e-5);
	assert_true(iv.p < 0.01);
}

/* Wilson 1927 as in Newcombe's companion paper, Table I: 81/263 gives 0.2553 to 0.3662. */
static void test_wilson(void **state)
{
	const struct counted x = {81, 263}, none = {0, 20};
	struct share s = proportion_share(&x, 1);
	double lo, hi;

	(void)state;
	proportion_wilson(&s, 1.959964, &lo, &hi);
	near(lo, 0.2553, 5e-5);
	near(hi, 0.3662, 5e-5);
	s = proportion_share(&none, 1);
	proportion_wilson(&s, 1.959964, &lo, &hi);
	near(lo, 0, 1e-12);
	near(hi, 0.1611, 5e-5);
}

/* By hand: 3 boots of 100 with 40, 50, 60: squares 200, 3/2 * 200 / 300 / 0.25 = 4. */
static void test_design_effect(void **state)
{
	static const struct counted x[] = {{40, 100}, {50, 100}, {60, 100}},
				    y[] = {{50, 100}, {50, 100}};
	struct share s = proportion_share(x, 3);

	(void)state;
	near(s.p, 0.5, 1e-12);
	near(s.effect, 4, 1e-12);
	near(s.n, 75, 1e-12);
	near(proportion_share(y, 2).effect, 1, 0);
}

/* Boots whose own share varies: without the design effect a third of all would be called changed. */
static void test_share_covers(void **state)
{
	enum {
		RUNS = 3000
	};
	struct rng rng;
	int covered = 0;

	(void)state;
	rng_seed(&rng, 21);
	for (int run = 0; run < RUNS; run++) {
		struct counted x[2][BOOTS];
		struct interval iv;

		for (int k = 0; k < 2 * BOOTS; k++) {
			double p = 0.7 + 0.1 * (k / BOOTS) + 0.05 * rng_normal(&rng);
			struct counted *c = &x[k / BOOTS][k % BOOTS];

			*c = (struct counted){0, 300};
			for (int i = 0; i < 300; i++)
				c->hits += rng_uniform(&rng) < p;
		}
		iv = proportion_compare(x[0], BOOTS, x[1], BOOTS, 0.95);
		covered += iv.lo <= 0.1 && iv.hi >= 0.1;
	}
	print_message("share: covered %.1f %%\n", 100.0 * covered / RUNS);
	assert_true(covered >= 0.90 * RUNS && covered <= 0.98 * RUNS);
}

/* Log-uniform events: the histogram's own interpolation is exact, and so is the quantile. */
static void draw(struct rng *rng, int64_t *h, double shift)
{
	double own = 0.05 * rng_normal(rng);

	for (int i = 0; i < BUCKETS; i++)
		h[i] = 0;
	for (int i = 0; i < 2000; i++)
		h[(int)(2 + own + shift + 16 * rng_uniform(rng))]++;
}

static void test_tail_covers(void **state)
{
	enum {
		RUNS = 600
	};
	struct rng rng;
	int covered = 0, called = 0;

	(void)state;
	rng_seed(&rng, 22);
	for (int run = 0; run < RUNS; run++) {
		int64_t h[2][BOOTS][BUCKETS];
		const int64_t *p[2][BOOTS];
		struct interval iv;

		for (int k = 0; k < 2 * BOOTS; k++) {
			draw(&rng, h[k / BOOTS][k % BOOTS], k / BOOTS * 0.5);
			p[k / BOOTS][k % BOOTS] = h[k / BOOTS][k % BOOTS];
		}
		iv = proportion_tail(&(struct tails){p[0], BOOTS, BUCKETS},
				     &(struct tails){p[1], BOOTS, BUCKETS}, 0.9, 0.95);
		covered += iv.lo <= 0.5 * M_LN2 && iv.hi >= 0.5 * M_LN2;
		called += iv.lo > 0;
		assert_true((iv.lo > 0) == (iv.diff > 0 && iv.p < 0.05));
	}
	print_message("tail: covered %.1f %%, found %.1f %%\n", 100.0 * covered / RUNS,
		      100.0 * called / RUNS);
	assert_true(covered >= 0.90 * RUNS);
	assert_true(called >= 0.95 * RUNS);
}

static void test_tail_same(void **state)
{
	static const int64_t h[BUCKETS] = {[3] = 500, [4] = 300, [9] = 40};
	const int64_t *p[] = {h};
	const struct tails t = {p, 1, BUCKETS};
	struct interval iv = proportion_tail(&t, &t, 0.99, 0.95);

	(void)state;
	near(iv.diff, 0, 0);
	assert_true(iv.lo < 0 && iv.hi > 0);
	near(iv.p, 1, 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newcombe),      cmocka_unit_test(test_wilson),
		cmocka_unit_test(test_design_effect), cmocka_unit_test(test_share_covers),
		cmocka_unit_test(test_tail_covers),   cmocka_unit_test(test_tail_same),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Shares of events and their tails. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/compare.h"
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

/* By hand from Wilson's limits of 56/70 and 48/80, each dealt to two boots that agree: t of 2 degrees of freedom. */
static void test_by_hand(void **state)
{
	static const struct counted a[] = {{28, 35}, {28, 35}}, b[] = {{24, 40}, {24, 40}};
	struct interval iv = proportion_compare(b, 2, a, 2, 0.01, 0.95);
	struct share sa = proportion_share(a, 2), sb = proportion_share(b, 2);
	double t = estimate_t_quantile(0.975, 2), la, ha, lb, hb;

	(void)state;
	near(t, 4.302653, 1e-6);
	proportion_wilson(&sa, t, &la, &ha);
	proportion_wilson(&sb, t, &lb, &hb);
	near(iv.diff, log(0.81 / 0.61), 1e-12);
	near(iv.df, 2, 0);
	near(iv.lo, iv.diff - hypot(log(0.81 / (la + 0.01)), log((hb + 0.01) / 0.61)), 1e-12);
	near(iv.hi, iv.diff + hypot(log((ha + 0.01) / 0.81), log(0.61 / (lb + 0.01))), 1e-12);
	assert_true((iv.p < 0.05) == (iv.lo > 0));
}

/* One boot a side knows nothing of what boots differ by. */
static void test_one_boot(void **state)
{
	static const struct counted a = {900, 1000}, b = {100, 1000};
	struct interval iv = proportion_compare(&b, 1, &a, 1, 0, 0.95);

	(void)state;
	near(iv.df, 0, 0);
	near(iv.p, 1, 0);
	assert_true(isinf(iv.lo) && isinf(iv.hi));
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
		iv = proportion_compare(x[0], BOOTS, x[1], BOOTS, 0.01, 0.95);
		covered += iv.lo <= log(0.81 / 0.71) && iv.hi >= log(0.81 / 0.71);
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
	const int64_t *p[] = {h, h};
	const struct tails t = {p, 2, BUCKETS};
	struct interval iv = proportion_tail(&t, &t, 0.99, 0.95);

	(void)state;
	near(iv.diff, 0, 0);
	assert_true(iv.lo < 0 && iv.hi > 0);
	near(iv.p, 1, 1e-12);
}

/* Boots that all agree leave Welch's test no doubt at all; a handful of events is not that sure. */
static void test_agreeing_boots(void **state)
{
	static const double before[] = {1, 1, 1}, after[] = {0.95, 0.95, 0.95};
	static const int64_t all[] = {20, 20, 20}, most[] = {19, 19, 19};
	const struct compare_events b = {.n = 3, .hits = all, .of = all};
	const struct compare_events a = {.n = 3, .hits = most, .of = all}, none = {0};
	struct comparison c;
	struct err err;

	(void)state;
	assert_true(compare_boots(before, 3, after, 3, 0.01, BETTER_HIGHER, &c, &err));
	assert_true(c.significant && c.p < 1e-6);
	compare_events(&b, &none, 0.01, BETTER_HIGHER, &c);
	assert_string_equal(compare_test_name(c.test), "welch");
	compare_events(&b, &a, 0.01, BETTER_HIGHER, &c);
	assert_string_equal(compare_test_name(c.test), "share");
	assert_false(c.significant);
	near(c.before_mean, 1, 0);
	near(c.after_mean, 0.95, 1e-12);
	near(c.effect, log(1.01 / 0.96), 1e-12); /* fewer is worse */
	assert_true(c.lo < 0 && c.hi > c.effect);
}

/* The number that the agent told stays what is stated; the events widen what surrounds it, and never narrow it. */
static void test_tail_widens(void **state)
{
	static const double before[] = {1000, 1000, 1001}, after[] = {1100, 1101, 1100};
	static const double loose[] = {600, 1100, 2000};
	static const int64_t h[BUCKETS] = {[8] = 990, [9] = 8, [10] = 2};
	static const int64_t many[BUCKETS] = {[8] = 990000, [9] = 8000, [10] = 2000};
	const int64_t *few[] = {h, h, h}, *lots[] = {many, many, many};
	const struct compare_events b = {.n = 3, .histograms = few, .buckets = BUCKETS, .q = 0.999};
	const struct compare_events l = {
		.n = 3, .histograms = lots, .buckets = BUCKETS, .q = 0.999};
	struct comparison c, was;
	struct err err;

	(void)state;
	assert_true(compare_boots(before, 3, after, 3, 0, BETTER_LOWER, &c, &err));
	was = c;
	assert_true(c.significant);
	compare_events(&b, &b, 0, BETTER_LOWER, &c);
	assert_string_equal(compare_test_name(c.test), "tail");
	assert_false(c.significant);
	near(c.effect, was.effect, 0);
	assert_true(c.lo < was.lo && c.hi > was.hi && c.mde > was.mde);
	assert_true(compare_boots(before, 3, loose, 3, 0, BETTER_LOWER, &c, &err));
	was = c;
	compare_events(&l, &l, 0, BETTER_LOWER, &c);
	assert_true(c.lo <= was.lo && c.hi >= was.hi && c.p >= was.p && c.mde >= was.mde);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_hand),	     cmocka_unit_test(test_one_boot),
		cmocka_unit_test(test_wilson),	     cmocka_unit_test(test_design_effect),
		cmocka_unit_test(test_share_covers), cmocka_unit_test(test_tail_covers),
		cmocka_unit_test(test_tail_same),    cmocka_unit_test(test_agreeing_boots),
		cmocka_unit_test(test_tail_widens),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

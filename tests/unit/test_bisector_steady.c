// SPDX-License-Identifier: GPL-2.0-or-later
/* Drift, and what history knows of a level. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "bisector/past.h"
#include "bisector/steady.h"
#include "stats/rng.h"

enum {
	NODES = 8,
	BOOTS = 48
};

/* S = n (n - 1) / 2, variance 10 x 9 x 25 / 18 = 125: (45 - 1) / sqrt(125) = 3.9355. */
static void test_all_rise(void **state _unused)
{
	static const double y[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, down[] = {3, 2, 1};
	struct trend t;

	trend_find(y, 10, &t);
	assert_float_equal(t.z, 3.935480, 1e-6);
	assert_float_equal(t.move, 9, 1e-12);
	trend_find(down, 3, &t); /* variance 3 x 2 x 11 / 18 */
	assert_float_equal(t.z, -2 / sqrt(66.0 / 18.0), 1e-12);
	assert_float_equal(t.move, -2, 1e-12);
	trend_find(y, 2, &t);
	assert_float_equal(t.z, 0, 0);
}

/* Order is all that matters: a monotone transform leaves z, an outlier hardly moves it. */
static void test_only_order(void **state _unused)
{
	double y[20], x[20];
	struct trend a, b;
	struct rng rng;

	rng_seed(&rng, 5);
	for (int i = 0; i < 20; i++)
		x[i] = exp(y[i] = 0.1 * i + rng_normal(&rng));
	trend_find(y, 20, &a);
	trend_find(x, 20, &b);
	assert_float_equal(a.z, b.z, 0);
	y[10] += 1000;
	trend_find(y, 20, &b);
	assert_true(fabs(a.z - b.z) < 20.0 / sqrt(950.0));
	assert_true(fabs(a.move - b.move) < 1);
}

static void chain(struct sides *sides)
{
	sides_init(sides, NODES, NODES);
	for (size_t h = 1; h < NODES; h++)
		for (size_t k = h; k < NODES; k++)
			sides_set_after(sides, h, k);
	sides_index(sides);
}

/* Boots of both ends, or with two changes of all nodes, of two machines in turn; machine 1 moves by so many deviations in all. */
static struct steady searched(uint64_t seed, double move, bool two)
{
	CLEANUP(changes_release) struct changes c;
	CLEANUP(sides_release) struct sides sides = {0};
	double mass[NODES];
	struct posterior_obs obs[BOOTS];
	struct posterior_prior prior;
	struct steady out;
	struct rng rng;

	chain(&sides);
	rng_seed(&rng, seed);
	posterior_prior_init(&prior, 1.0);
	prior.noise = (struct sd_prior){1.0, 30.0};
	prior.second_odds = two ? 0.2 : 0;
	for (size_t h = 0; h < NODES; h++)
		mass[h] = 1.0 / NODES;
	for (size_t i = 0; i < BOOTS; i++) {
		size_t node = two ? i / 2 % NODES : i / 2 % 2 * (NODES - 1);
		double level = two ? 10.0 * (node >= 3) + 5.0 * (node >= 6) : 4.0 * (node > 0);

		obs[i] = (struct posterior_obs){
			.node = node, .machine = i % 2, .y = level + rng_normal(&rng)};
		obs[i].y += i % 2 ? move * (double)i / BOOTS : 0.0;
	}
	changes_start(&c, &sides, mass, &prior);
	changes_add(&c, obs, BOOTS);
	assert_int_equal(c.phase == CHANGES_TWO, two);
	steady_look(&c, &out);
	return out;
}

static void drifts(bool two)
{
	int found = 0, called = 0;

	for (uint64_t seed = 1; seed <= 40; seed++) {
		struct steady s = searched(seed, 6.0, two);

		found += s.drifts && s.machine == 1 && s.trend.move > 3 && s.trend.move < 9;
		called += searched(seed, 0.0, two).drifts;
	}
	print_message("drift found %d of 40, called without one %d\n", found, called);
	assert_true(found >= 36);
	assert_int_equal(called, 0);
}

static void test_one_machine_drifts(void **state _unused)
{
	drifts(false);
}

static void test_one_drifts_beside_two_changes(void **state _unused)
{
	drifts(true);
}

static void test_past_holds(void **state _unused)
{
	static const double y[] = {7.0, 7.2};
	const struct past near = {7.0, 0.01, 9}, far = {6.6, 0.01, 9};

	assert_true(past_holds(&near, y, 2, 0.1));
	assert_false(past_holds(&far, y, 2, 0.1));
	assert_true(past_holds(&far, y, 2, 0.3));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_rise),
		cmocka_unit_test(test_only_order),
		cmocka_unit_test(test_one_machine_drifts),
		cmocka_unit_test(test_one_drifts_beside_two_changes),
		cmocka_unit_test(test_past_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

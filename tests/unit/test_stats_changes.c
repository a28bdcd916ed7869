// SPDX-License-Identifier: GPL-2.0-or-later
/* One change or two. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/changes.h"
#include "stats/rng.h"

enum {
	N = 12,
	MAX_BOOTS = 400
};

static void chain(struct sides *sides, size_t n)
{
	sides_init(sides, n, n);
	for (size_t h = 1; h < n; h++)
		for (size_t k = h; k < n; k++)
			sides_set_after(sides, h, k);
	sides_index(sides);
}

static double density(const struct posterior_prior *prior, double y, double level, double sigma)
{
	double z = (y - level) / sigma, w = prior->outlier, k = prior->outlier_scale;

	return ((1.0 - w) * exp(-0.5 * z * z) + w / k * exp(-0.5 * z * z / k / k)) / sigma;
}

/* Plain midpoint sum over the one level of n boots. */
static double brute_aside(const struct posterior_prior *prior, const double *y, size_t n,
			  double sigma)
{
	enum {
		LEVELS = 400
	};
	double sum = 0.0;

	for (int j = 0; j < LEVELS; j++) {
		double level = -10.0 + (j + 0.5) * 20.0 / LEVELS, p = 1.0;

		for (size_t i = 0; i < n; i++)
			p *= density(prior, y[i], level, sigma);
		sum += p;
	}
	return sum;
}

/* Boots 0 .. before - 1 lie below the shift, the others above; shift false: all below. */
static double brute_split(const struct posterior_prior *prior, const double *y, size_t n,
			  size_t before, bool shift, double sigma)
{
	enum {
		LEVELS = 200,
		SHIFTS = 200
	};
	double lo = log(prior->min_effect / 2.0), hi = log(prior->max_effect), sum = 0.0;

	for (int j = 0; j < LEVELS; j++) {
		double level = -6.0 + (j + 0.5) * 14.0 / LEVELS, p = 1.0, q = 0.0;

		for (size_t i = 0; i < (shift ? before : n); i++)
			p *= density(prior, y[i], level, sigma);
		for (int k = 0; k < SHIFTS && shift; k++) {
			double d = exp(lo + (k + 0.5) * (hi - lo) / SHIFTS), r = 1.0;

			for (size_t i = before; i < n; i++)
				r *= density(prior, y[i], level + d, sigma);
			q += r / SHIFTS;
		}
		sum += p * (shift ? q : 1.0);
	}
	return sum;
}

/* Boots of another level tell the noise, as brute force has it, in whatever order they come. */
static void test_aside(void **state)
{
	static const double y[] = {0.3, -0.4, 0.1, 1.2, 0.7, 1.5};
	static const double other[] = {4.2, 4.9, 4.4, 3.9, 4.6, 4.1, 4.5};
	enum {
		SIGMAS = 60
	};
	double z[2] = {0.0}, mass[2] = {0.5, 0.5}, expected;
	struct posterior_prior prior;
	CLEANUP(sides_release) struct sides sides;

	(void)state;
	posterior_prior_init(&prior, 0.5);
	prior.max_effect = 10.0;
	for (int i = 0; i < SIGMAS; i++) {
		double ls = log(0.05) + (i + 0.5) * log(200.0) / SIGMAS, s = exp(ls);
		double r = 2.5 * prior.min_effect / s, p = exp(-(ls + 0.5 * r * r));

		p *= brute_aside(&prior, other, ARRAY_SIZE(other), s);
		z[0] += p * brute_split(&prior, y, ARRAY_SIZE(y), 3, false, s);
		z[1] += p * brute_split(&prior, y, ARRAY_SIZE(y), 3, true, s);
	}
	expected = z[1] / (z[0] + z[1]);
	chain(&sides, 2);
	for (int late = 0; late < 2; late++) {
		CLEANUP(posterior_release) struct posterior post;
		struct posterior_obs obs[ARRAY_SIZE(y) + ARRAY_SIZE(other)];
		size_t n = 0, first = late ? 1 : ARRAY_SIZE(other);

		for (size_t i = 0; i < first; i++)
			obs[n++] = (struct posterior_obs){.node = POSTERIOR_ASIDE, .y = other[i]};
		for (size_t i = 0; i < ARRAY_SIZE(y); i++)
			obs[n++] = (struct posterior_obs){.node = i >= 3, .y = y[i]};
		for (size_t i = first; i < ARRAY_SIZE(other); i++)
			obs[n++] = (struct posterior_obs){.node = POSTERIOR_ASIDE, .y = other[i]};
		posterior_start(&post, &sides, mass, &prior);
		for (size_t i = 0; i < n; i++)
			posterior_add(&post, &obs[i], 1);
		assert_true(fabs(post.mass[1] - expected) < 2e-3);
		assert_int_equal(post.boots, ARRAY_SIZE(y));
	}
}

/* A whole search over a chain, changes at nodes a and b (0: none) by da and db deviations. */
static struct changes_state search(struct changes *c, const struct sides *sides, size_t a,
				   double da, size_t b, double db, uint64_t seed, size_t *boots)
{
	double mass[N], cost[N];
	bool testable[N];
	size_t set[2][N];
	struct posterior_prior prior;
	struct changes_state s;
	struct rng rng;

	posterior_prior_init(&prior, 1.0);
	prior.max_effect = 20.0;
	prior.second_odds = 25.0;
	rng_seed(&rng, seed);
	for (size_t h = 0; h < N; h++) {
		mass[h] = h ? 0.85 / (N - 1) : 0.15;
		cost[h] = 1.0;
		testable[h] = true;
	}
	changes_start(c, sides, mass, &prior);
	for (*boots = 0;; ++*boots) {
		struct posterior_obs obs = {0};

		s = changes_verdict(c, testable, 0.99, *boots, MAX_BOOTS, set[0], set[1]);
		if (s.first.verdict != SEARCH_MORE)
			return s;
		obs.node = changes_next(c, testable, cost, NULL, 0.99).node;
		assert_true(obs.node < N);
		obs.y = rng_normal(&rng) + (obs.node >= a ? da : 0.0);
		obs.y += b && obs.node >= b ? db : 0.0;
		changes_add(c, &obs, 1);
	}
}

static void test_two(void **state)
{
	CLEANUP(sides_release) struct sides sides;
	int both = 0, made_up = 0;

	(void)state;
	chain(&sides, N);
	for (uint64_t seed = 1; seed <= 10; seed++) {
		CLEANUP(changes_release) struct changes two;
		CLEANUP(changes_release) struct changes one;
		struct changes_state s;
		size_t boots;

		s = search(&two, &sides, 3, seed % 2 ? 4.0 : 2.0, 8, seed % 2 ? 2.0 : 4.0, seed,
			   &boots);
		both += two.phase == CHANGES_TWO && s.first.verdict == SEARCH_CULPRIT &&
			s.second.verdict == SEARCH_CULPRIT && two.first + two.second == 11;
		assert_true(boots < MAX_BOOTS);
		s = search(&one, &sides, 5, 4.0, 0, 0.0, seed, &boots);
		assert_int_equal(s.first.verdict, SEARCH_CULPRIT);
		made_up += one.phase == CHANGES_TWO || s.second.verdict != SEARCH_NONE;
	}
	assert_true(both >= 9);
	assert_true(made_up <= 1);
}

/* What is decided follows from the boots, not from the steps in which they came. */
static void test_steps(void **state)
{
	CLEANUP(sides_release) struct sides sides;
	CLEANUP(changes_release) struct changes steps;
	CLEANUP(changes_release) struct changes whole;
	size_t boots;

	(void)state;
	chain(&sides, N);
	search(&steps, &sides, 3, 4.0, 8, 2.0, 7, &boots);
	changes_start(&whole, &sides, steps.prior_mass, &steps.prior);
	changes_add(&whole, steps.obs, steps.n);
	assert_int_equal(whole.phase, steps.phase);
	assert_int_equal(whole.first, steps.first);
	assert_int_equal(whole.second, steps.second);
	assert_true(fabs(changes_second(&whole) - changes_second(&steps)) < 1e-3);
	for (size_t h = 0; h < N; h++)
		assert_true(fabs(changes_mass(&whole)[h] - changes_mass(&steps)[h]) < 1e-3);
}

/* Asked not to look for a second one, it never does. */
static void test_switched_off(void **state)
{
	CLEANUP(sides_release) struct sides sides;
	CLEANUP(changes_release) struct changes c;
	double mass[N];
	struct posterior_prior prior;

	(void)state;
	chain(&sides, N);
	for (size_t h = 0; h < N; h++)
		mass[h] = 1.0 / N;
	posterior_prior_init(&prior, 0.5);
	prior.second_odds = 0.0;
	changes_start(&c, &sides, mass, &prior);
	for (size_t i = 0; i < 96; i++) {
		size_t node = i % N;
		struct posterior_obs obs = {node, node >= 8 ? 6.0 : node >= 4 ? 2.0 : 0.0, 0};

		obs.y += i % 5 * 0.3;
		changes_add(&c, &obs, 1);
		assert_int_equal(c.phase, CHANGES_ONE);
	}
	assert_int_equal(c.first, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_aside),
		cmocka_unit_test(test_two),
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_switched_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

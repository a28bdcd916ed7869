// SPDX-License-Identifier: GPL-2.0-or-later
/* Choosing boots, and whole searches over simulated noise. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/rng.h"
#include "stats/select.h"

struct bench {
	size_t n; /* suspects; nodes 0 .. n, node 0 is good */
	struct sides sides;
	double *mass;
	double *cost;
	bool *testable;
	size_t *set;
};

static void bench_init(struct bench *b, size_t n)
{
	*b = (struct bench){.n = n};
	sides_init(&b->sides, n + 1, n + 1);
	b->mass = xcalloc(n + 1, sizeof(*b->mass));
	b->cost = xcalloc(n + 1, sizeof(*b->cost));
	b->testable = xcalloc(n + 1, sizeof(*b->testable));
	b->set = xcalloc(n + 1, sizeof(*b->set));
	for (size_t h = 0; h <= n; h++) {
		for (size_t k = h; h > 0 && k <= n; k++)
			sides_set_after(&b->sides, h, k);
		b->mass[h] = h ? 0.8 / (double)n : 0.2;
		b->cost[h] = 1.0;
		b->testable[h] = true;
	}
	sides_index(&b->sides);
}

static void bench_release(struct bench *b)
{
	sides_release(&b->sides);
	mem_free_ptr(&b->mass);
	mem_free_ptr(&b->cost);
	mem_free_ptr(&b->testable);
	mem_free_ptr(&b->set);
}

enum {
	BOOTS_MAX = 256
};

struct truth {
	size_t culprit; /* 0 = none */
	double d;
	double outliers;
};

static double boot(struct rng *rng, const struct truth *truth, size_t node)
{
	double y = rng_normal(rng);

	if (rng_uniform(rng) < truth->outliers)
		return 8.0 + 2.0 * y;
	return y + (truth->culprit && node >= truth->culprit ? truth->d : 0.0);
}

/* One search to its end, with sigma 1; returns the boots it took. */
static size_t search(struct bench *b, struct rng *rng, const struct truth *truth,
		     const struct posterior_prior *prior, size_t budget, struct search_state *state)
{
	struct posterior_obs obs[BOOTS_MAX];

	assert_true(budget <= BOOTS_MAX);
	for (size_t n = 0;; n++) {
		CLEANUP(posterior_release) struct posterior post;
		struct select_choice choice;

		posterior_init(&post, &b->sides, b->mass, obs, n, prior);
		*state = select_verdict(&post, &b->sides, b->testable, 0.99, n, budget, b->set);
		if (state->verdict != SEARCH_MORE)
			return n;
		choice = select_next(&post, b->testable, b->cost, NULL);
		assert_true(choice.reason != SELECT_NOTHING && b->testable[choice.node]);
		obs[n] = (struct posterior_obs){.node = choice.node,
						.y = boot(rng, truth, choice.node)};
	}
}

static void test_capacity(void **state)
{
	static const struct {
		double d, bits;
	} rows[] = {{0.5, 0.0437}, {1.0, 0.1607}, {2.0, 0.4859}, {4.0, 0.9128}};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		assert_true(fabs(select_capacity(0.5, rows[i].d) - rows[i].bits) < 1e-4);
	assert_true(select_capacity(0.0, 2.0) == 0.0);
	assert_true(select_capacity(0.3, 50.0) > 0.88);
	assert_true(fabs(select_capacity(0.3, 1.0) - select_capacity(0.7, 1.0)) < 1e-6);
	assert_true(fabs(select_yardstick(64, 2.0) - 15.1) < 0.05);
}

static void blind(void **state, double d, int trials, double at_least)
{
	CLEANUP(bench_release) struct bench b;
	struct posterior_prior prior;
	struct rng rng;
	int right = 0, unfinished = 0;
	size_t boots = 0;

	(void)state;
	bench_init(&b, 64);
	posterior_prior_init(&prior, 0.5);
	rng_seed(&rng, 64);
	for (int i = 0; i < trials; i++) {
		struct truth truth = {.culprit = 1 + rng_below(&rng, b.n), .d = d};
		struct search_state end;

		boots += search(&b, &rng, &truth, &prior, 200, &end);
		right += end.verdict == SEARCH_CULPRIT && b.set[0] == truth.culprit;
		unfinished += end.budget_spent;
	}
	print_message("N = 64, d = %g, blind: right %.1f %%, unfinished %.1f %%, boots %.1f "
		      "(yardstick %.1f)\n",
		      d, 100.0 * right / trials, 100.0 * unfinished / trials,
		      (double)boots / trials, select_yardstick(64, d));
	assert_true(right >= at_least * trials);
	assert_true((double)boots / trials < 3.0 * select_yardstick(64, d));
}

static void test_blind_4(void **state)
{
	blind(state, 4.0, 100, 0.97);
}

static void test_blind_2(void **state)
{
	blind(state, 2.0, 40, 0.97);
}

static void test_null(void **state)
{
	enum {
		TRIALS = 30
	};
	CLEANUP(bench_release) struct bench b;
	struct posterior_prior prior;
	struct rng rng;
	int blamed = 0, none = 0;
	size_t boots = 0;

	(void)state;
	bench_init(&b, 64);
	posterior_prior_init(&prior, 2.0);
	prior.noise = (struct sd_prior){1.0, 20.0};
	rng_seed(&rng, 65);
	for (int i = 0; i < TRIALS; i++) {
		struct truth truth = {.culprit = 0};
		struct search_state end;

		boots += search(&b, &rng, &truth, &prior, 60, &end);
		blamed += end.verdict == SEARCH_CULPRIT;
		none += end.verdict == SEARCH_NONE;
	}
	print_message("N = 64, no shift: blamed %d, none %d of %d, boots %.1f\n", blamed, none,
		      TRIALS, (double)boots / TRIALS);
	assert_int_equal(blamed, 0);
	assert_true(none >= TRIALS * 7 / 10);
}

static void test_outliers(void **state)
{
	enum {
		TRIALS = 30
	};
	CLEANUP(bench_release) struct bench b;
	struct posterior_prior prior;
	struct rng rng;
	int right = 0;

	(void)state;
	bench_init(&b, 32);
	posterior_prior_init(&prior, 0.5);
	prior.noise = (struct sd_prior){1.0, 20.0};
	rng_seed(&rng, 66);
	for (int i = 0; i < TRIALS; i++) {
		struct truth truth = {
			.culprit = 1 + rng_below(&rng, b.n), .d = 4.0, .outliers = 0.03};
		struct search_state end;

		search(&b, &rng, &truth, &prior, 200, &end);
		right += end.verdict == SEARCH_CULPRIT && b.set[0] == truth.culprit;
	}
	assert_true(right >= TRIALS - 1);
}

/* Nodes 5 to 8 of 10 do not build: the answer is one of the commits that only they split. */
static void test_untestable(void **state)
{
	CLEANUP(bench_release) struct bench b;
	struct posterior_prior prior;
	struct truth truth = {.culprit = 7, .d = 6.0};
	struct search_state end;
	struct rng rng;
	bool holds = false;

	(void)state;
	bench_init(&b, 10);
	posterior_prior_init(&prior, 0.5);
	prior.noise = (struct sd_prior){1.0, 20.0};
	for (size_t k = 5; k <= 8; k++)
		b.testable[k] = false;
	rng_seed(&rng, 67);
	search(&b, &rng, &truth, &prior, 100, &end);
	assert_int_equal(end.verdict, SEARCH_NARROWED);
	assert_false(end.budget_spent);
	assert_true(end.n <= 5);
	for (size_t i = 0; i < end.n; i++) {
		holds |= b.set[i] == 7;
		assert_true(b.set[i] >= 5 && b.set[i] <= 9);
	}
	assert_true(holds);
}

static void test_one_suspect(void **state)
{
	CLEANUP(bench_release) struct bench b;
	struct posterior_prior prior;
	struct truth truth = {.culprit = 1, .d = 4.0};
	struct search_state end;
	struct rng rng;

	(void)state;
	bench_init(&b, 1);
	posterior_prior_init(&prior, 0.5);
	rng_seed(&rng, 68);
	assert_true(search(&b, &rng, &truth, &prior, 100, &end) >= 2);
	assert_int_equal(end.verdict, SEARCH_CULPRIT);
	assert_int_equal(b.set[0], 1);
}

/* The first boots go to the ends; then a built node beats a slightly better unbuilt one; a boot
 * that runs already is not asked for again. */
static void test_choice(void **state)
{
	static const struct posterior_obs obs[] = {{0, 0.0, 0},	 {16, 4.0, 0}, {0, 0.3, 0},
						   {16, 4.2, 0}, {0, -0.2, 0}, {16, 3.8, 0}};
	CLEANUP(bench_release) struct bench b;
	struct posterior_prior prior;
	struct select_choice choice;
	size_t pending[17] = {0};

	(void)state;
	bench_init(&b, 16);
	posterior_prior_init(&prior, 0.5);
	for (size_t n = 0; n <= ARRAY_SIZE(obs); n++) {
		CLEANUP(posterior_release) struct posterior post;

		posterior_init(&post, &b.sides, b.mass, obs, n, &prior);
		choice = select_next(&post, b.testable, b.cost, NULL);
		if (n < 4) {
			assert_int_equal(choice.node, obs[n].node);
			assert_int_equal(choice.reason,
					 n % 2 ? SELECT_LEVEL_AFTER : SELECT_LEVEL_BEFORE);
		}
		if (n < ARRAY_SIZE(obs))
			continue;
		assert_int_equal(choice.reason, SELECT_SPLIT);
		assert_true(choice.node >= 7 && choice.node <= 9);
		pending[choice.node] = 1;
		choice = select_next(&post, b.testable, b.cost, pending);
		assert_false(pending[choice.node]);
		for (size_t k = 1; k < 16; k++)
			b.cost[k] = k == 10 ? 1.0 : 3.0;
		choice = select_next(&post, b.testable, b.cost, NULL);
		assert_int_equal(choice.node, 10);
	}
	memset(b.testable, 0, 17 * sizeof(*b.testable));
	CLEANUP(posterior_release) struct posterior post;

	posterior_init(&post, &b.sides, b.mass, obs, ARRAY_SIZE(obs), &prior);
	choice = select_next(&post, b.testable, b.cost, NULL);
	assert_int_equal(choice.reason, SELECT_NOTHING);
}

/* Many machines and no number yet: the ends go on taking turns. */
static void test_all_running(void **state)
{
	CLEANUP(bench_release) struct bench b;
	CLEANUP(posterior_release) struct posterior post;
	struct posterior_prior prior;
	size_t pending[17] = {0};

	(void)state;
	bench_init(&b, 16);
	posterior_prior_init(&prior, 0.5);
	prior.noise = (struct sd_prior){1.0, 30.0};
	posterior_init(&post, &b.sides, b.mass, NULL, 0, &prior);
	for (int i = 0; i < 8; i++)
		pending[select_next(&post, b.testable, b.cost, pending).node]++;
	assert_int_equal(pending[0], 4);
	assert_int_equal(pending[16], 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_capacity),    cmocka_unit_test(test_choice),
		cmocka_unit_test(test_one_suspect), cmocka_unit_test(test_untestable),
		cmocka_unit_test(test_blind_4),	    cmocka_unit_test(test_blind_2),
		cmocka_unit_test(test_null),	    cmocka_unit_test(test_outliers),
		cmocka_unit_test(test_all_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

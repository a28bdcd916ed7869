// SPDX-License-Identifier: GPL-2.0-or-later
/* Broken commits and their neighbours. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/sim_search.h"
#include "stats/usable.h"

enum {
	NODES = 21
};

struct line {
	struct sides sides;
	enum usable_seen seen[NODES];
	double chance[NODES];
};

static void line_init(struct line *line)
{
	*line = (struct line){.seen = {USABLE_UNTRIED}};
	sides_init(&line->sides, NODES, NODES);
	for (size_t h = 1; h < NODES; h++)
		for (size_t n = h; n < NODES; n++)
			sides_set_after(&line->sides, h, n);
	sides_index(&line->sides);
}

static void line_release(struct line *line)
{
	sides_release(&line->sides);
}

static void test_none_broken(void **state)
{
	CLEANUP(line_release) struct line line;

	(void)state;
	line_init(&line);
	line.seen[0] = line.seen[20] = USABLE_SOUND;
	usable_chances(&line.sides, line.seen, line.chance);
	for (size_t n = 0; n < NODES; n++)
		assert_true(line.chance[n] == 1.0);
}

static void test_falls_towards_broken(void **state)
{
	CLEANUP(line_release) struct line line;

	(void)state;
	line_init(&line);
	line.seen[0] = line.seen[20] = USABLE_SOUND;
	line.seen[10] = USABLE_BROKEN;
	usable_chances(&line.sides, line.seen, line.chance);
	assert_true(line.chance[0] == 1.0 && line.chance[20] == 1.0);
	assert_true(line.chance[10] < 0.02);
	for (size_t n = 1; n < 10; n++) {
		assert_true(line.chance[n] > line.chance[n + 1]);
		assert_true(fabs(line.chance[n] - line.chance[20 - n]) < 1e-12);
	}
	assert_true(line.chance[9] < 0.35);
	assert_true(line.chance[1] > 0.95);
}

/* The same chain, summed over all ways it can have gone: 2^k paths between two tried nodes. */
static double brute(double share, double keep, int left, int right, int apart, int at)
{
	double total[2] = {0};

	for (unsigned path = 0; path < 1u << (apart - 1); path++) {
		double p = left ? share : 1.0 - share;
		int was = left;

		for (int i = 1; i <= apart; i++) {
			int is = i == apart ? right : (int)(path >> (i - 1) & 1);
			double broken = was ? share + (1.0 - share) * keep : share * (1.0 - keep);

			p *= is ? broken : 1.0 - broken;
			was = is;
		}
		total[path >> (at - 1) & 1] += p;
	}
	return total[0] / (total[0] + total[1]);
}

static void test_against_all_paths(void **state)
{
	/* 0.5 + 1 of 10 + 3 tried: the prior and what was seen */
	const double share = 1.5 / 13.0, keep = 1.0 - 0.25 / (1.0 - share);
	CLEANUP(line_release) struct line line;

	(void)state;
	line_init(&line);
	line.seen[0] = line.seen[20] = USABLE_SOUND;
	line.seen[8] = USABLE_BROKEN;
	usable_chances(&line.sides, line.seen, line.chance);
	for (int n = 1; n < 8; n++)
		assert_true(fabs(line.chance[n] - brute(share, keep, 0, 1, 8, n)) < 1e-9);
	for (int n = 9; n < 20; n++)
		assert_true(fabs(line.chance[n] - brute(share, keep, 1, 0, 12, n - 8)) < 1e-9);
}

/* Two branches from one root: what is broken on one says little about the other. */
static void test_branches(void **state)
{
	enum {
		ROOT,
		A1,
		A2,
		A3,
		B1,
		B2,
		B3,
		MERGE,
		ALL
	};
	enum usable_seen seen[ALL] = {[ROOT] = USABLE_SOUND, [A2] = USABLE_BROKEN};
	double chance[ALL];
	struct sides sides;

	(void)state;
	sides_init(&sides, ALL, ALL);
	for (size_t h = A1; h <= A3; h++)
		for (size_t n = h; n <= A3; n++)
			sides_set_after(&sides, h, n);
	for (size_t h = B1; h <= B3; h++)
		for (size_t n = h; n <= B3; n++)
			sides_set_after(&sides, h, n);
	for (size_t h = A1; h <= MERGE; h++)
		sides_set_after(&sides, h, MERGE);
	sides_index(&sides);
	usable_chances(&sides, seen, chance);
	assert_true(chance[A3] < 0.4 && chance[A1] < chance[B1]);
	assert_true(chance[B1] > 0.6);
	sides_release(&sides);
}

static struct sim_search_end sum_of(bool alone, double skips, int searches)
{
	CLEANUP(sim_world_release) struct sim_world world;
	struct sim_search_end sum = {0};
	struct sim_search spec;
	struct rng rng;

	sim_search_init(&spec);
	spec.shift = 4.0;
	spec.known = SIM_LEVELS;
	spec.skips = skips;
	spec.skips_alone = alone;
	rng_seed(&rng, 21);
	sim_world_init(&world, &spec, &rng);
	for (int i = 0; i < searches; i++) {
		struct sim_search_end end;

		sim_search_run(&world, &rng, &end);
		sum.boots += end.boots;
		sum.lost += end.lost;
		sum.right += end.right;
		assert_true(end.lost == 0 || skips > 0.0);
	}
	return sum;
}

/* Whole searches: fewer boots are lost in clusters, and none of them changes where there are none. */
static void test_saves_boots(void **state)
{
	struct sim_search_end steered = sum_of(false, 0.2, 300), alone = sum_of(true, 0.2, 300);

	(void)state;
	print_message("20 %% clustered skips: %zu boots lost, %zu when each is taken by itself\n",
		      steered.lost, alone.lost);
	assert_true((double)steered.lost < 0.85 * (double)alone.lost);
	assert_true(steered.boots + steered.lost < alone.boots + alone.lost);
	assert_int_equal(sum_of(false, 0.0, 30).boots, sum_of(true, 0.0, 30).boots);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none_broken),
		cmocka_unit_test(test_falls_towards_broken),
		cmocka_unit_test(test_against_all_paths),
		cmocka_unit_test(test_branches),
		cmocka_unit_test(test_saves_boots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

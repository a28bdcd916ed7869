// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of the bisector. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/sim_search.h"
#include "tests/bench/decide.h"

/* What many searches of one kind came to; shares of all trials. */
struct cell {
	double boots, rounds, right, none, blamed, holds, unfinished;
};

static struct cell measure(const struct sim_search *spec, size_t trials, uint64_t seed)
{
	CLEANUP(sim_world_release) struct sim_world world;
	struct cell c = {0};
	struct rng rng;

	rng_seed(&rng, seed);
	sim_world_init(&world, spec, &rng);
	for (size_t i = 0; i < trials; i++) {
		struct sim_search_end end;

		sim_search_run(&world, &rng, &end);
		c.boots += (double)end.boots / (double)trials;
		c.rounds += (double)end.rounds / (double)trials;
		c.right += 1.0 / (double)trials * end.right;
		c.holds += 1.0 / (double)trials * end.holds;
		c.none += 1.0 / (double)trials * (end.state.verdict == SEARCH_NONE);
		c.blamed += 1.0 / (double)trials * (end.state.verdict == SEARCH_CULPRIT);
		c.unfinished += 1.0 / (double)trials * end.state.budget_spent;
	}
	return c;
}

static const size_t sizes[] = {16, 64, 256, 1024};
static const double shifts[] = {0.5, 1.0, 2.0, 4.0};

static void row_of(const char *what, const struct sim_search *spec, const char *more,
		   const char *goal, double measured, const char *unit)
{
	AUTO_FREE char *condition =
		xasprintf("N = %zu, d = %g%s", spec->suspects, spec->shift, more);

	decide_row(what, condition, goal, measured, unit);
}

struct grid {
	const char *what, *more;
	size_t from;	      /* of sizes[] */
	const char *boots[4]; /* goals per shift, in yardsticks */
	const char *right;
	const char *unfinished; /* or NULL */
};

static void measure_grid(const struct decide *decide, const struct grid *g, struct sim_search spec)
{
	size_t trials = decide_trials(decide, 2000, 10000);

	for (size_t i = g->from; i < ARRAY_SIZE(sizes); i++)
		for (size_t k = 0; k < ARRAY_SIZE(shifts); k++) {
			struct cell c;

			spec.suspects = sizes[i];
			spec.shift = shifts[k];
			c = measure(&spec, trials, decide->seed * 1000 + i * 10 + k);
			row_of(g->what, &spec, g->more, g->boots[k],
			       c.boots / select_yardstick(spec.suspects, spec.shift), "R");
			row_of(g->what, &spec, g->more, g->right, 100.0 * c.right, "% right");
			if (g->unfinished)
				row_of(g->what, &spec, g->more, g->unfinished, 100.0 * c.unfinished,
				       "% unfinished");
		}
}

static void engine_bare(const struct decide *decide)
{
	static const struct grid grid = {"engine",  ", bare",
					 0,	    {"<= 1.05", "<= 1.05", "<= 1.05", "<= 1.05"},
					 ">= 98.7", NULL};
	struct sim_search spec;

	sim_search_init(&spec);
	spec.known = SIM_LEVELS;
	spec.none_prior = 0.0;
	spec.outlier_model = 0.0;
	measure_grid(decide, &grid, spec);
}

static void engine_full(const struct decide *decide)
{
	static const struct grid grid = {"engine",  ", null and broad component",
					 0,	    {"<= 1.15", "<= 1.15", "<= 1.15", "<= 1.15"},
					 ">= 98.7", NULL};
	struct sim_search spec;

	sim_search_init(&spec);
	spec.known = SIM_LEVELS;
	measure_grid(decide, &grid, spec);
}

static void history(const struct decide *decide)
{
	static const struct grid grid = {
		"history", "", 1, {"<= 1.65", "<= 1.5", "<= 1.5", "<= 1.5"}, ">= 98.5", NULL};
	struct sim_search spec;

	sim_search_init(&spec);
	spec.known = SIM_HISTORY;
	measure_grid(decide, &grid, spec);
}

static void blind(const struct decide *decide)
{
	static const struct grid grid = {
		"blind", "", 1, {"<= 2.5", "<= 2.5", "<= 2.5", "<= 2.5"}, ">= 98", "<= 0.5"};
	struct sim_search spec;

	sim_search_init(&spec);
	measure_grid(decide, &grid, spec);
}

const struct decide_part decide_search_parts[] = {
	{"engine-bare", engine_bare},
	{"engine-full", engine_full},
	{"history", history},
	{"blind", blind},
	{0},
};

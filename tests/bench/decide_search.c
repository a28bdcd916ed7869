// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of the bisector. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "stats/estimate.h"
#include "stats/sim_search.h"
#include "tests/bench/decide.h"
#include "tests/bench/decide_doubling.h"

/* What many searches of one kind came to; shares of all trials. */
struct cell {
	double boots, rounds, lost, right, none, blamed, holds, unfinished;
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
		c.lost += (double)end.lost / (double)trials;
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

/* What is worth reporting is the smaller of the change and one deviation; the model's shifts start
 * at half of that. */
static double floor_for(double shift)
{
	return 0.5 * fmin(shift > 0.0 ? shift : 1.0, 1.0);
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
			spec.floor = floor_for(shifts[k]);
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

static struct sim_search usual(size_t suspects, double shift, enum sim_knowledge known)
{
	struct sim_search spec;

	sim_search_init(&spec);
	spec.suspects = suspects;
	spec.shift = shift;
	spec.known = known;
	spec.floor = floor_for(shift);
	return spec;
}

static double fixed_boots(double shift, size_t steps)
{
	size_t k = 1;

	while (pow(1.0 - estimate_t_upper(sqrt((double)k) * shift / 2.0, INFINITY), (double)steps) <
	       0.99)
		k++;
	return (double)(k * steps);
}

/* git bisect with a Wald test at each step, both levels known; mean boots. */
static double sprt_boots(double shift, size_t steps, size_t trials, struct rng *rng)
{
	double a = 0.01 / (double)steps, bound = log((1.0 - a) / a), boots = 0.0;

	for (size_t i = 0; i < trials * steps; i++) {
		double llr = 0.0;

		for (; fabs(llr) < bound; boots += 1.0)
			llr += shift * (rng_normal(rng) - shift / 2.0);
	}
	return boots / (double)trials;
}

static void baselines(const struct decide *decide)
{
	size_t trials = decide_trials(decide, 2000, 10000);
	struct rng rng;

	rng_seed(&rng, decide->seed + 77);
	for (size_t k = 1; k <= 2; k++) {
		double d = shifts[k];
		struct sim_search spec = usual(256, d, SIM_LEVELS);
		double ours;

		spec.none_prior = spec.outlier_model = 0.0;
		ours = measure(&spec, trials, decide->seed * 1000 + 500 + k).boots;
		row_of("baselines", &spec, ", fixed boots a step for 99 % / engine", ">= 3",
		       fixed_boots(d, 8) / ours, "x");
		row_of("baselines", &spec, ", sequential test a step / engine", ">= 1.6",
		       sprt_boots(d, 8, trials, &rng) / ours, "x");
		spec = usual(256, d, SIM_NOTHING);
		ours = measure(&spec, trials / 4, decide->seed * 1000 + 510 + k).boots;
		row_of("baselines", &spec, ", Mann-Whitney doubling 10..160 / blind", ">= 2.5",
		       doubling_boots(256, d, trials / 8, &rng) / ours, "x");
	}
}

static void no_change(const struct decide *decide)
{
	static const struct {
		enum sim_knowledge known;
		const char *name, *boots;
	} ways[] = {{SIM_HISTORY, ", history", "<= 50"}, {SIM_NOTHING, ", blind", "<= 180"}};
	size_t trials = decide_trials(decide, 2000, 20000);

	for (size_t i = 0; i < ARRAY_SIZE(ways); i++) {
		struct sim_search spec = usual(256, 0.0, ways[i].known);
		struct cell c;

		spec.budget = 500;
		c = measure(&spec, trials, decide->seed * 1000 + 520 + i);
		row_of("null", &spec, ways[i].name, "<= 0.5", 100.0 * c.blamed, "% blamed");
		row_of("null", &spec, ways[i].name, ">= 95", 100.0 * c.none, "% none");
		row_of("null", &spec, ways[i].name, ways[i].boots, c.boots, "boots");
	}
}

/* What confirmed falsely is not among the search's boots, and so has no say. */
static void selection(const struct decide *decide)
{
	struct sim_search spec = usual(256, 0.0, SIM_NOTHING);
	struct cell c;

	spec.budget = 500;
	c = measure(&spec, decide_trials(decide, 2000, 20000), decide->seed * 1000 + 530);
	row_of("selection", &spec, ", after a false confirmation", "<= 0.5", 100.0 * c.blamed,
	       "% blamed");
}

static void outliers(const struct decide *decide)
{
	size_t trials = decide_trials(decide, 2000, 10000);

	for (size_t k = 0; k <= 2; k++) {
		struct sim_search spec = usual(256, shifts[k], SIM_HISTORY);
		double clean = measure(&spec, trials, decide->seed * 1000 + 540 + k).boots;
		struct cell c;

		spec.outliers = 0.01;
		c = measure(&spec, trials, decide->seed * 1000 + 545 + k);
		row_of("outliers", &spec, ", history, 1 % at +8", ">= 98.5", 100.0 * c.right,
		       "% right");
		row_of("outliers", &spec, ", history, 1 % at +8", "<= 1.10", c.boots / clean,
		       "x clean");
	}
}

static void layout(const struct decide *decide)
{
	struct sim_search spec = usual(256, 2.0, SIM_LEVELS);
	struct cell c;

	spec.layout = 0.5;
	spec.none_prior = spec.outlier_model = 0.0;
	c = measure(&spec, decide_trials(decide, 2000, 10000), decide->seed * 1000 + 550);
	row_of("layout", &spec, ", tau = 0.5, fresh layouts", ">= 98.5", 100.0 * c.right,
	       "% right");
	row_of("layout", &spec, ", tau = 0.5, fresh layouts", "<= 25", c.boots, "boots");
}

static void machines(const struct decide *decide)
{
	struct sim_search spec = usual(256, 2.0, SIM_LEVELS);
	struct cell c;

	spec.machines = 4;
	spec.none_prior = spec.outlier_model = 0.0;
	c = measure(&spec, decide_trials(decide, 2000, 10000), decide->seed * 1000 + 560);
	row_of("machines", &spec, ", M = 4, levels and offsets known", "<= 8", c.rounds, "rounds");
	row_of("machines", &spec, ", M = 4, levels and offsets known", "<= 32", c.boots, "boots");
	spec = usual(256, 2.0, SIM_NOTHING);
	spec.machines = 4;
	spec.machine_sd = 1.0;
	c = measure(&spec, decide_trials(decide, 200, 2000), decide->seed * 1000 + 561);
	row_of("machines", &spec, ", M = 4, offsets unknown, sd 1, a tenth of the trials", ">= 98",
	       100.0 * c.right, "% right");
	row_of("machines", &spec, ", M = 4, offsets unknown, sd 1, a tenth of the trials", "-",
	       c.boots, "boots");
}

struct bin {
	const char *name;
	double from;
	double stated, right, n;
};

static void calibrate(struct bin *bins, size_t n_bins, const struct sim_search *spec, size_t trials,
		      uint64_t seed)
{
	CLEANUP(sim_world_release) struct sim_world world;
	struct rng rng;

	rng_seed(&rng, seed);
	sim_world_init(&world, spec, &rng);
	for (size_t i = 0; i < trials; i++) {
		struct sim_search_end end;
		size_t b = n_bins;

		sim_search_run(&world, &rng, &end);
		while (b > 0 && end.mass < bins[b - 1].from)
			b--;
		if (b == 0)
			continue;
		bins[b - 1].n += 1.0;
		bins[b - 1].stated += end.mass;
		bins[b - 1].right += end.top;
	}
}

static void calibration(const struct decide *decide)
{
	struct bin bins[] = {{"0.5-0.6", 0.5, 0, 0, 0},	 {"0.6-0.7", 0.6, 0, 0, 0},
			     {"0.7-0.8", 0.7, 0, 0, 0},	 {"0.8-0.9", 0.8, 0, 0, 0},
			     {"0.9-0.99", 0.9, 0, 0, 0}, {"0.99-1", 0.99, 0, 0, 0}};
	size_t trials = decide_trials(decide, 2000, 20000), last = ARRAY_SIZE(bins) - 1;
	struct sim_search spec = usual(64, 2.0, SIM_NOTHING);
	double boots;

	spec.from_prior = true;
	spec.floor = 0.5;
	spec.ceiling = 4.0;
	boots = measure(&spec, trials / 10, decide->seed * 1000 + 570).boots;
	for (size_t quarter = 1; quarter <= 3; quarter++) {
		spec.budget = (size_t)(0.25 * (double)quarter * boots);
		calibrate(bins, last + 1, &spec, trials, decide->seed * 1000 + 570 + quarter);
	}
	for (size_t b = 0; b <= last; b++) {
		double n = fmax(bins[b].n, 1.0), stated = bins[b].stated / n;
		double right = bins[b].right / n, se = sqrt(stated * (1.0 - stated) / n);
		AUTO_FREE char *condition = xasprintf("stated %s: %.3f, right %.3f of %g",
						      bins[b].name, stated, right, bins[b].n);

		if (b == last)
			decide_row("calibration", condition, ">= 98.5", 100.0 * right, "% right");
		else
			decide_row("calibration", condition, "<= 1",
				   fabs(right - stated) / (3.0 * se + 0.02), "3 SE + 2 points");
	}
}

/* What it saves to keep away from the neighbours of what does not boot, in boots that give nothing. */
static void row_of_lost(struct sim_search spec, const struct cell *steered, size_t trials,
			uint64_t seed)
{
	struct cell alone;

	spec.skips_alone = true;
	alone = measure(&spec, trials, seed);
	row_of("shape", &spec, ", skips: boots that gave nothing", "-", steered->lost,
	       "boots lost");
	row_of("shape", &spec, ", skips: those / when a skip is no hint", "<= 0.8",
	       steered->lost / alone.lost, "x");
	row_of("shape", &spec, ", skips: all boots / when a skip is no hint", "<= 1",
	       (steered->boots + steered->lost) / (alone.boots + alone.lost), "x");
}

static void shape(const struct decide *decide)
{
	static const struct {
		const char *name, *goal;
		double branches, skips, drift, weight;
		bool holds;
	} rows[] = {
		{", 30 % side branches", ">= 98", 0.3, 0, 0, 1, false},
		{", 20 % clustered skips", ">= 99", 0, 0.2, 0, 1, true},
		{", drift of 1 over the run", ">= 97", 0, 0, 1, 1, false},
		{", culprit at 1/10 of its prior", ">= 97", 0, 0, 0, 0.1, false},
	};
	size_t trials = decide_trials(decide, 2000, 10000);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct sim_search spec = usual(256, 2.0, SIM_NOTHING);
		struct cell c;

		spec.branches = rows[i].branches;
		spec.skips = rows[i].skips;
		spec.drift = rows[i].drift;
		spec.drift_boots = 56; /* what a blind search takes with such a drift */
		spec.culprit_weight = rows[i].weight;
		c = measure(&spec, trials, decide->seed * 1000 + 580 + i);
		row_of("shape", &spec, rows[i].name, rows[i].goal,
		       100.0 * (rows[i].holds ? c.holds : c.right),
		       rows[i].holds ? "% held" : "% right");
		if (spec.skips > 0.0)
			row_of_lost(spec, &c, trials, decide->seed * 1000 + 580 + i);
	}
}

static void two_steps(const struct decide *decide)
{
	static const double pairs[][2] = {{2.0, 1.0}, {4.0, 2.0}};
	static const char *const boots_goal[] = {"<= 170", "<= 50"};
	/* a change of 2 beside one of 4 is seen in a few boots, one of 1 beside 2 is not */
	static const double odds[] = {30.0, 12.0};
	size_t trials = decide_trials(decide, 500, 2000);

	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++) {
		struct sim_search spec = usual(256, pairs[i][0], SIM_NOTHING);
		CLEANUP(sim_world_release) struct sim_world world;
		double both = 0, blamed = 0, noticed = 0, boots = 0, n = (double)trials;
		AUTO_FREE char *more = xasprintf(" and %g, odds %g, a quarter of the trials",
						 pairs[i][1], odds[i]);
		struct rng rng;

		spec.second = pairs[i][1];
		spec.second_odds = odds[i];
		rng_seed(&rng, decide->seed * 1000 + 590 + i);
		sim_world_init(&world, &spec, &rng);
		for (size_t t = 0; t < trials; t++) {
			struct sim_search_end end;

			sim_search_run(&world, &rng, &end);
			both += 100.0 / n * end.both;
			noticed += 100.0 / n * end.two;
			blamed += 100.0 / n * end.blamed;
			boots += (double)end.boots / n;
		}
		row_of("two steps", &spec, more, ">= 95", both, "% both exact");
		row_of("two steps", &spec, more, "-", noticed, "% noticed");
		row_of("two steps", &spec, more, "<= 1", blamed, "% innocent");
		row_of("two steps", &spec, more, boots_goal[i], boots, "boots");
	}
}

static double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Blind or with history, but always posterior_add() alone: what one more boot costs. */
static double update_s(const struct sim_world *world, const double *prior, struct rng *rng,
		       size_t *updates)
{
	size_t n = world->spec.suspects, culprit = 1 + rng_below(rng, n);
	AUTO_FREE bool *testable = xcalloc(n + 1, sizeof(*testable));
	AUTO_FREE double *cost = xcalloc(n + 1, sizeof(*cost));
	AUTO_FREE size_t *set = xcalloc(n + 1, sizeof(*set));
	CLEANUP(posterior_release) struct posterior post;
	double spent = 0.0;

	for (size_t i = 0; i <= n; i++) {
		testable[i] = true;
		cost[i] = 1.0;
	}
	posterior_start(&post, &world->sides, prior, &world->prior);
	while (select_verdict(&post, &world->sides, testable, 0.99, post.boots, 1000, set)
		       .verdict == SEARCH_MORE) {
		size_t node = select_next(&post, testable, cost, NULL).node;
		const struct posterior_obs obs = {
			.node = node,
			.y = rng_normal(rng) + (node >= culprit ? world->spec.shift : 0.0),
		};
		double start = cpu_s();

		posterior_add(&post, &obs, 1);
		spent += cpu_s() - start;
		++*updates;
	}
	return spent;
}

static void speed_of(const char *name, const struct sim_search *spec, size_t trials, uint64_t seed)
{
	CLEANUP(sim_world_release) struct sim_world world;
	AUTO_FREE double *prior = xcalloc(spec->suspects + 1, sizeof(*prior));
	double spent = 0.0;
	size_t updates = 0;
	struct rng rng;

	rng_seed(&rng, seed);
	sim_world_init(&world, spec, &rng);
	for (size_t h = 0; h <= spec->suspects; h++)
		prior[h] = h ? (1.0 - spec->none_prior) / (double)spec->suspects : spec->none_prior;
	for (size_t i = 0; i < trials; i++)
		spent += update_s(&world, prior, &rng, &updates);
	row_of("speed", spec, name, "<= 0.1", 1e3 * spent / (double)updates, "ms an update");
}

static void speed(const struct decide *decide)
{
	struct sim_search spec = usual(1024, 1.0, SIM_HISTORY);

	speed_of(", history", &spec, decide_trials(decide, 100, 100), decide->seed);
	spec = usual(1024, 1.0, SIM_NOTHING);
	speed_of(", blind", &spec, decide_trials(decide, 50, 50), decide->seed);
}

const struct decide_part decide_search_parts[] = {
	{"engine-bare", engine_bare},
	{"engine-full", engine_full},
	{"history", history},
	{"blind", blind},
	{"baselines", baselines},
	{"null", no_change},
	{"selection", selection},
	{"outliers", outliers},
	{"layout", layout},
	{"machines", machines},
	{"calibration", calibration},
	{"shape", shape},
	{"two-steps", two_steps},
	{"speed", speed},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Figures of the detector. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/mem.h"
#include "stats/evalue.h"
#include "stats/segment.h"
#include "stats/sim_detect.h"
#include "tests/bench/decide.h"

/* The order of enum sim_noise. */
static const struct {
	const char *candidates;
} quiet_goals[SIM_NOISES] = {
	[SIM_GAUSSIAN] = {"<= 0.5"}, [SIM_LOGNORMAL] = {"<= 1.5"}, [SIM_DRIFT] = {"<= 0.5"},
	[SIM_BIMODAL] = {"<= 0.5"},  [SIM_OUTLIERS] = {"<= 0.7"},  [SIM_LAYOUT] = {"<= 0.5"},
};

static void quiet_of(const struct decide *decide, enum sim_noise noise)
{
	size_t trials = decide_trials(decide, 20000, 20000);
	double candidates = 0, wasted = 0, confirmed = 0;
	struct sim_detect spec;
	struct rng rng;

	sim_detect_init(&spec);
	spec.noise = noise;
	rng_seed(&rng, decide->seed * 1000 + 200 + noise);
	for (size_t i = 0; i < trials; i++) {
		struct sim_detect_end end;

		sim_detect_run(&spec, &rng, &end);
		candidates += (double)end.candidates / (double)trials;
		wasted += (double)end.wasted / (double)trials;
		confirmed += end.false_alarm;
	}
	decide_row("quiet", sim_noise_names[noise], quiet_goals[noise].candidates, candidates,
		   "candidates");
	decide_row("quiet", sim_noise_names[noise], "<= 12", confirmed, "confirmed");
	decide_row("quiet", sim_noise_names[noise], "<= 5",
		   100 * wasted / (double)(spec.commits * spec.boots), "% wasted boots");
}

static void quiet_plain(const struct decide *decide)
{
	for (int noise = 0; noise < SIM_BIMODAL; noise++)
		quiet_of(decide, (enum sim_noise)noise);
}

static void quiet_odd(const struct decide *decide)
{
	for (int noise = SIM_BIMODAL; noise < SIM_NOISES; noise++)
		quiet_of(decide, (enum sim_noise)noise);
}

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

static void fast(const struct decide *decide)
{
	static const struct {
		double step;
		const char *median;
		size_t most;
	} rows[] = {{3, "<= 1", 3}, {2, "<= 2", 6}};
	size_t trials = decide_trials(decide, 5000, 20000);
	AUTO_FREE size_t *delays = xcalloc(trials, sizeof(*delays));

	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		AUTO_FREE char *what =
			xasprintf("step of %g sigma, 70 commits before", rows[r].step);
		AUTO_FREE char *within = xasprintf("%% within %zu", rows[r].most);
		struct sim_detect spec;
		double soon = 0;
		struct rng rng;

		sim_detect_init(&spec);
		spec.step = rows[r].step;
		spec.step_at = 70;
		spec.seen = 30;
		rng_seed(&rng, decide->seed * 1000 + 210 + r);
		for (size_t i = 0; i < trials; i++) {
			struct sim_detect_end end;

			sim_detect_run(&spec, &rng, &end);
			delays[i] = end.raised ? end.delay : SIZE_MAX;
			soon += delays[i] <= rows[r].most;
		}
		qsort(delays, trials, sizeof(*delays), by_size);
		decide_row("fast", what, rows[r].median, (double)delays[trials / 2],
			   "commits, median");
		decide_row("fast", what, ">= 98", 100 * soon / (double)trials, within);
	}
}

static void confirmed(const struct decide *decide)
{
	static const struct {
		double step;
		const char *share, *median;
	} rows[] = {{3, ">= 99", "<= 26"}, {2, ">= 99", "<= 34"}, {1, ">= 80", "<= 86"}};
	static const struct sd_prior prior = {1, 30};
	size_t trials = decide_trials(decide, 5000, 20000);
	AUTO_FREE size_t *boots = xcalloc(trials, sizeof(*boots));

	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		AUTO_FREE char *what = xasprintf("step of %g sigma, alpha 0.001", rows[r].step);
		struct sim_source source;
		struct sim_detect spec;
		double found = 0;
		struct rng rng;

		sim_detect_init(&spec);
		rng_seed(&rng, decide->seed * 1000 + 220 + r);
		sim_source_init(&source, SIM_GAUSSIAN, &rng);
		for (size_t i = 0; i < trials; i++) {
			bool yes = sim_confirm(&spec, &source, rows[r].step, &prior, &boots[i]) ==
				   CONFIRM_CONFIRMED;

			found += yes;
			boots[i] = yes ? boots[i] : SIZE_MAX;
		}
		qsort(boots, trials, sizeof(*boots), by_size);
		decide_row("confirmed", what, rows[r].share, 100 * found / (double)trials,
			   "% in 120 boots");
		decide_row("confirmed", what, rows[r].median, (double)boots[trials / 2],
			   "boots, median");
	}
}

/* A look after each block of 60 pairs, whatever was seen before. The quick run asks at alpha 1 %, where
 * few runs tell. */
static void peeking(const struct decide *decide)
{
	enum {
		BLOCKS = 15,
		EACH = 4
	};
	size_t trials = decide_trials(decide, 20000, 50000);
	double alpha = decide->full ? 0.001 : 0.01;

	for (int noise = 0; noise < SIM_NOISES; noise++) {
		AUTO_FREE char *goal = xasprintf("<= %g", 100 * alpha);
		struct sim_source source;
		double crossed = 0;
		struct rng rng;

		rng_seed(&rng, decide->seed * 1000 + 230 + (uint64_t)noise);
		for (size_t i = 0; i < trials; i++) {
			struct evalue e = {0};

			sim_source_init(&source, (enum sim_noise)noise, &rng);
			for (size_t k = 0; k < BLOCKS; k++) {
				double b[EACH], a[EACH];

				sim_block(&source, 0, 0, EACH, b, a);
				evalue_add(&e, &(struct evalue_block){b, a, EACH, EACH});
			}
			crossed += e.best >= -log(alpha);
		}
		decide_row("peeking", sim_noise_names[noise], goal, 100 * crossed / (double)trials,
			   "% confirmed");
	}
}

static void honest(const struct decide *decide)
{
	static const double steps[] = {1, 2};
	size_t trials = decide_trials(decide, 8000, 40000);

	for (size_t r = 0; r < ARRAY_SIZE(steps); r++) {
		AUTO_FREE char *what =
			xasprintf("detector, confirmation, proof; step of %g", steps[r]);
		double stated = 0, covered = 0, n = 0;
		struct sim_detect spec;
		struct rng rng;

		sim_detect_init(&spec);
		spec.step = steps[r];
		spec.step_at = 70;
		rng_seed(&rng, decide->seed * 1000 + 240 + r);
		for (size_t i = 0; i < trials; i++) {
			struct sim_detect_end end;

			sim_detect_run(&spec, &rng, &end);
			if (!end.confirmed)
				continue;
			n++;
			stated += end.stated / end.step;
			covered += end.lo <= end.step && end.hi >= end.step;
		}
		decide_row("honest effect", what, ">= 0.97", stated / n, "stated / true");
		decide_row("honest effect", what, "<= 1.03", stated / n, "stated / true");
		decide_row("honest effect", what, ">= 93", 100 * covered / n, "% covered");
		decide_row("honest effect", what, "<= 97", 100 * covered / n, "% covered");
	}
}

static void down_to(const struct decide *decide)
{
	static const size_t seen[] = {2, 4, 10};
	size_t trials = decide_trials(decide, 5000, 20000);

	for (size_t r = 0; r < ARRAY_SIZE(seen); r++) {
		AUTO_FREE char *what =
			xasprintf("planted exactly, %zu commits of 2 boots with it", seen[r]);
		double found = 0, step = 0, said = 0;
		struct sim_detect spec;
		struct rng rng;

		sim_detect_init(&spec);
		spec.exactly = true;
		spec.detectable = confirm_detectable(&spec.rule, 0.98);
		spec.step_at = 70;
		spec.seen = seen[r];
		rng_seed(&rng, decide->seed * 1000 + 250 + r);
		for (size_t i = 0; i < trials; i++) {
			struct sim_detect_end end;

			sim_detect_run(&spec, &rng, &end);
			/* a segment that has just begun: nothing was said */
			if (!isfinite(end.step))
				continue;
			said++;
			found += end.confirmed;
			step += end.step;
		}
		decide_row("down to x", what, "-", step / said, "sigma, stated");
		decide_row("down to x", what, ">= 88", 100 * found / said, "% found");
		decide_row("down to x", what, "<= 97", 100 * found / said, "% found");
	}
}

static void speed(const struct decide *decide)
{
	enum {
		SERIES = 3000,
		POINTS = 500
	};
	AUTO_FREE double *y = xcalloc(POINTS, sizeof(*y));
	double seconds = 0;
	struct rng rng;

	rng_seed(&rng, decide->seed * 1000 + 260);
	for (int i = 0; i < SERIES; i++) {
		CLEANUP(segmentation_release) struct segmentation s = {0};
		clock_t start;

		for (int k = 0; k < POINTS; k++)
			y[k] = rng_normal(&rng) + 2 * (i % 3) * (k > POINTS / 2);
		start = clock();
		segment_series(y, POINTS, &segment_rule_default, &s);
		seconds += (double)(clock() - start) / CLOCKS_PER_SEC;
	}
	decide_row("speed", "segmentation of 3,000 series x 500 points", "<= 1", seconds,
		   "s of CPU");
}

const struct decide_part decide_detect_parts[] = {
	{"detect-quiet-plain", quiet_plain},
	{"detect-quiet-odd", quiet_odd},
	{"detect-fast", fast},
	{"detect-confirmed", confirmed},
	{"detect-peeking", peeking},
	{"detect-honest", honest},
	{"detect-down-to", down_to},
	{"detect-speed", speed},
	{0},
};

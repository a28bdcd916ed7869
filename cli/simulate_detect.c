// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf simulate detect: how soon a change is seen, and what noise costs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/recorded.h"
#include "cli/session.h"
#include "cli/simulate.h"
#include "stats/sim_detect.h"

struct wanted {
	struct sim_detect spec;
	const char *noise;
	struct recorded_wish wish;
	struct recorded recorded;
	long long commits, boots, at, each, stages, proof_boots, trials, seed;
};

struct totals {
	size_t candidates, worse, alarms, raised, confirmed, covered;
	double wasted, stated;
	size_t *delays; /* n = raised */
};

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

static bool read_noise(const char *word, enum sim_noise *out, struct err *err)
{
	AUTO_STR known = str_new();

	for (size_t i = 0; i < SIM_NOISES; i++) {
		if (!strcmp(word, sim_noise_names[i])) {
			*out = (enum sim_noise)i;
			return true;
		}
		str_addf(&known, "%s%s", i ? ", " : "", sim_noise_names[i]);
	}
	return err_set(err, ERR_USAGE, "simulate detect: --noise is one of %s, not \"%s\"", known.s,
		       word);
}

static bool check(struct wanted *w, struct err *err)
{
	struct sim_detect *s = &w->spec;

	if (w->commits < 1 || w->commits > 100000 || w->boots < 1 || w->boots > 1000 || w->at < 0 ||
	    w->each < 1 || w->each > EVALUE_SIDE_MAX || w->stages < 1 || w->stages > 10000 ||
	    w->proof_boots < 2 || w->proof_boots > 1000 || w->trials < 1)
		return err_set(
			err, ERR_USAGE,
			"simulate detect: --commits is 1 to 100000, --boots 1 to 1000, "
			"--proof-boots 2 to 1000, --confirm-boots 1 to %d, --confirm-stages 1 to "
			"10000, --trials at least 1, --at not less than 0",
			EVALUE_SIDE_MAX);
	if (s->step < 0 || !(s->rule.min_effect > 0) || !(s->rule.alpha > 0 && s->rule.alpha < 1))
		return err_set(err, ERR_USAGE,
			       "simulate detect: --min-effect is more than 0, --step not less, and "
			       "--alpha between 0 and 1");
	s->commits = (size_t)w->commits;
	s->boots = (size_t)w->boots;
	s->step_at = (size_t)w->at;
	s->rule.each = (size_t)w->each;
	s->rule.blocks = (size_t)w->stages;
	s->proof_boots = (size_t)w->proof_boots;
	return read_noise(w->noise, &s->noise, err);
}

static void add(struct totals *sum, const struct sim_detect_end *end)
{
	sum->candidates += end->candidates;
	sum->worse += end->worse;
	sum->alarms += end->false_alarm;
	sum->wasted += (double)end->wasted;
	if (end->raised)
		sum->delays[sum->raised++] = end->delay;
	if (!end->confirmed)
		return;
	sum->confirmed++;
	sum->stated += end->stated;
	sum->covered += end->lo <= end->step && end->hi >= end->step;
}

/* In deviations of the recorded boots. */
static void use_recorded(struct wanted *w)
{
	struct sim_detect *s = &w->spec;

	if (isnan(s->rule.min_effect))
		s->rule.min_effect = w->recorded.tape.n ? w->recorded.min_effect : 0.4;
	if (!w->recorded.tape.n)
		return;
	s->tape = &w->recorded.tape;
	if (isfinite(w->recorded.change))
		s->step = w->recorded.change;
}

static json_t *to_json(const struct wanted *w, const struct totals *sum)
{
	json_t *doc = json_object();
	double n = (double)w->trials;

	js_set_i64(doc, "trials", w->trials);
	js_set_i64(doc, "seed", w->seed);
	js_set_new(doc, "recorded", recorded_json(&w->recorded));
	js_set_f64(doc, "step", w->spec.step);
	js_set_f64(doc, "false_candidates", (double)sum->candidates / n);
	js_set_f64(doc, "false_worse", (double)sum->worse / n);
	js_set_f64(doc, "false_confirmed", (double)sum->alarms / n);
	js_set_f64(doc, "wasted_boots", sum->wasted / n);
	if (!(w->spec.step > 0))
		return doc;
	js_set_f64(doc, "raised", (double)sum->raised / n);
	js_set_f64(doc, "confirmed", (double)sum->confirmed / n);
	if (sum->raised) {
		js_set_i64(doc, "delay_median", (int64_t)sum->delays[(sum->raised - 1) / 2]);
		js_set_i64(doc, "delay_p98", (int64_t)sum->delays[(sum->raised - 1) * 98 / 100]);
	}
	if (sum->confirmed) {
		double k = (double)sum->confirmed;

		js_set_f64(doc, "stated", sum->stated / k / w->spec.step);
		js_set_f64(doc, "covered", (double)sum->covered / k);
	}
	return doc;
}

static void print(const struct wanted *w, const json_t *doc)
{
	printf("%zu commits of %zu boots, %s noise, %lld series\n", w->spec.commits, w->spec.boots,
	       w->spec.tape ? "recorded" : w->noise, w->trials);
	if (w->spec.tape)
		printf("noise of %s\n", w->recorded.what);
	printf("without a change, a series\n");
	printf("  %-12s %7.3f  to the worse %.3f\n", "candidates",
	       js_f64_or(doc, "false_candidates", 0), js_f64_or(doc, "false_worse", 0));
	printf("  %-12s %7.4f  %% of the series\n", "confirmed",
	       100 * js_f64_or(doc, "false_confirmed", 0));
	printf("  %-12s %7.1f  boots to refute them\n", "wasted",
	       js_f64_or(doc, "wasted_boots", 0));
	if (!(w->spec.step > 0))
		return;
	printf("a step of %g sigma at commit %zu\n", w->spec.step, w->spec.step_at);
	printf("  %-12s %7.1f  %% of the series, after %lld commits in half of them, %lld in 98 "
	       "%%\n",
	       "raised", 100 * js_f64_or(doc, "raised", 0),
	       (long long)js_i64_or(doc, "delay_median", 0),
	       (long long)js_i64_or(doc, "delay_p98", 0));
	printf("  %-12s %7.1f  %% of the series\n", "confirmed",
	       100 * js_f64_or(doc, "confirmed", 0));
	printf("  %-12s %7.3f  of the truth; its 95 %% interval holds it in %.1f %%\n", "stated",
	       js_f64_or(doc, "stated", 0), 100 * js_f64_or(doc, "covered", 0));
}

static void simulate(struct session *session, const struct wanted *w)
{
	AUTO_FREE size_t *delays = xcalloc((size_t)w->trials, sizeof(*delays));
	AUTO_JSON *doc = NULL;
	struct totals sum = {.delays = delays};
	struct rng rng;

	rng_seed(&rng, (uint64_t)w->seed);
	for (long long i = 0; i < w->trials; i++) {
		struct sim_detect_end end;

		sim_detect_run(&w->spec, &rng, &end);
		add(&sum, &end);
	}
	qsort(delays, sum.raised, sizeof(*delays), by_size);
	doc = to_json(w, &sum);
	if (session->json)
		session_print_json(doc);
	else
		print(w, doc);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	struct wanted w = {.noise = "gaussian",
			   .at = 70,
			   .stages = 15,
			   .trials = 1000,
			   .seed = 1,
			   .wish = {.change_pct = NAN}};
	struct sim_detect *s = &w.spec;
	const struct opt opts[] = {
		{0, "noise", OPT_STRING, &w.noise, "KIND",
		 "gaussian, lognormal, drift, bimodal, outliers or layout (gaussian)"},
		{'n', "commits", OPT_INT, &w.commits, "N", "commits of a series (200)"},
		{'b', "boots", OPT_INT, &w.boots, "N", "routine boots of a commit (2)"},
		{'d', "step", OPT_FLOAT, &s->step, "D",
		 "change to the worse, in deviations of one boot; 0: none (0)"},
		{0, "from-db", OPT_STRING, &w.wish.metric, "METRIC",
		 "instead of --noise replay what stored boots of it lay off their kernels' means"},
		{0, "class", OPT_STRING, &w.wish.class_name, "CLASS", "of this class (any)"},
		{0, "bench", OPT_STRING, &w.wish.benchmark, "NAME", "of this benchmark (any)"},
		{0, "change", OPT_FLOAT, &w.wish.change_pct, "PERCENT",
		 "the change instead of --step, with --from-db"},
		{0, "at", OPT_INT, &w.at, "N", "commit that brings it (70)"},
		{0, "confirm-boots", OPT_INT, &w.each, "N", "of a side in one stage (4)"},
		{0, "confirm-stages", OPT_INT, &w.stages, "N", "at most (15)"},
		{0, "alpha", OPT_FLOAT, &s->rule.alpha, "P", "of one confirmation (0.001)"},
		{0, "min-effect", OPT_FLOAT, &s->rule.min_effect, "D",
		 "least change worth reporting (0.4; with --from-db as the settings say)"},
		{0, "proof-boots", OPT_INT, &w.proof_boots, "N", "of a side (8)"},
		{0, "trials", OPT_INT, &w.trials, "N", "series to run (1000)"},
		{0, "seed", OPT_INT, &w.seed, "N", "of the random numbers (1)"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	bool help, fine;

	sim_detect_init(s);
	s->rule.min_effect = NAN;
	w.commits = (long long)s->commits;
	w.boots = (long long)s->boots;
	w.each = (long long)s->rule.each;
	w.proof_boots = (long long)s->proof_boots;
	if (!command_parse(session, &simulate_detect, opts, argc, argv, 0, 0, &words, &help, err))
		return false;
	if (help)
		return true;
	fine = recorded_read(session, &w.wish, "simulate detect", &w.recorded, err);
	use_recorded(&w);
	fine = fine && check(&w, err);
	if (fine)
		simulate(session, &w);
	recorded_release(&w.recorded);
	return fine;
}

const struct command simulate_detect = {
	.name = "simulate detect",
	.summary = "how soon a change is seen, and what noise costs",
	.usage = "[options]",
	.about = "Runs whole series through the detector, the confirmation and the proof that the\n"
		 "bisector uses, over made-up boots, or with --from-db over the noise of those "
		 "that a lab\n"
		 "has stored. Changes are in standard deviations of one boot.",
	.run = run,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf simulate bisect: what a search would cost and how often it is right. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/recorded.h"
#include "cli/session.h"
#include "cli/simulate.h"
#include "stats/sim_search.h"

struct wanted {
	struct sim_search spec;
	const char *known;
	struct recorded_wish wish;
	struct recorded recorded;
	long long suspects, budget, drift_boots, machines, trials, seed;
};

struct totals {
	size_t right, none, narrowed, unfinished, holds, two, both, innocent;
	double boots, rounds, lost;
	double *each;
};

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static bool read_known(const char *word, enum sim_knowledge *out, struct err *err)
{
	static const char *const words[] = {
		[SIM_NOTHING] = "nothing",
		[SIM_HISTORY] = "history",
		[SIM_LEVELS] = "levels",
	};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (!strcmp(word, words[i])) {
			*out = (enum sim_knowledge)i;
			return true;
		}
	return err_set(err, ERR_USAGE,
		       "simulate bisect: --known is nothing, history or levels, not \"%s\"", word);
}

static bool check(struct wanted *w, struct err *err)
{
	struct sim_search *s = &w->spec;

	if (w->suspects < 1 || w->suspects > 10000 || w->budget < 1 || w->machines < 1 ||
	    w->machines > 40 || w->trials < 1 || w->drift_boots < 1)
		return err_set(err, ERR_USAGE,
			       "simulate bisect: --suspects is 1 to 10000, --machines 1 to 40, "
			       "--budget, --trials and --drift-boots are at least 1");
	if (s->shift < 0 || s->floor <= 0 || s->machine_sd < 0 || s->layout < 0 || s->second < 0 ||
	    s->second_odds < 0 || s->culprit_weight <= 0)
		return err_set(
			err, ERR_USAGE,
			"simulate bisect: --min-shift and --culprit-weight are more than 0, "
			"--shift, --second, --second-odds, --layout and --machine-sd are not less");
	if (!(s->outliers >= 0 && s->outliers < 1 && s->skips >= 0 && s->skips <= 0.5 &&
	      s->branches >= 0 && s->branches <= 0.4 && s->none_prior >= 0 && s->none_prior < 1 &&
	      s->outlier_model >= 0 && s->outlier_model < 1 && s->stop > 0.5 && s->stop < 1))
		return err_set(err, ERR_USAGE,
			       "simulate bisect: a share is out of its range (--skips up to 0.5, "
			       "--branches up to 0.4, --posterior between 0.5 and 1, others below "
			       "1)");
	s->suspects = (size_t)w->suspects;
	s->budget = (size_t)w->budget;
	s->drift_boots = (size_t)w->drift_boots;
	s->machines = (size_t)w->machines;
	return read_known(w->known, &s->known, err);
}

static void add(struct totals *sum, const struct sim_search_end *end, size_t i)
{
	sum->right += end->right;
	sum->holds += end->holds;
	sum->none += end->state.verdict == SEARCH_NONE;
	sum->narrowed += end->state.verdict == SEARCH_NARROWED;
	sum->unfinished += end->state.budget_spent;
	sum->two += end->two;
	sum->both += end->both;
	sum->innocent += end->blamed;
	sum->boots += (double)end->boots;
	sum->rounds += (double)end->rounds;
	sum->lost += (double)end->lost;
	sum->each[i] = (double)end->boots;
}

/* In deviations of the recorded boots; what was said about the changes stays. */
static void use_recorded(struct wanted *w)
{
	struct sim_search *s = &w->spec;
	struct posterior_prior usual;

	if (isnan(s->floor))
		s->floor = w->recorded.tape.n ? w->recorded.min_effect / 2 : 0.25;
	if (!w->recorded.tape.n)
		return;
	posterior_prior_init(&usual, s->floor);
	s->ceiling = fmax(usual.max_effect / w->recorded.tape.sd, 2 * s->floor);
	s->tape = &w->recorded.tape;
	if (isfinite(w->recorded.change))
		s->shift = w->recorded.change;
}

static json_t *to_json(const struct wanted *w, const struct totals *sum)
{
	json_t *doc = json_object();
	double n = (double)w->trials;
	size_t p95 = (size_t)floor(0.95 * (n - 1.0));

	js_set_i64(doc, "trials", w->trials);
	js_set_i64(doc, "seed", w->seed);
	js_set_new(doc, "recorded", recorded_json(&w->recorded));
	js_set_f64(doc, "shift", w->spec.shift);
	js_set_f64(doc, "right", (double)sum->right / n);
	js_set_f64(doc, "holds", (double)sum->holds / n);
	js_set_f64(doc, "none", (double)sum->none / n);
	js_set_f64(doc, "narrowed", (double)sum->narrowed / n);
	js_set_f64(doc, "unfinished", (double)sum->unfinished / n);
	js_set_f64(doc, "two", (double)sum->two / n);
	js_set_f64(doc, "both", (double)sum->both / n);
	js_set_f64(doc, "innocent", (double)sum->innocent / n);
	js_set_f64(doc, "boots", sum->boots / n);
	js_set_f64(doc, "boots_p95", sum->each[p95]);
	js_set_f64(doc, "rounds", sum->rounds / n);
	js_set_f64(doc, "lost", sum->lost / n);
	if (w->spec.shift > 0)
		js_set_f64(doc, "yardstick", select_yardstick(w->spec.suspects, w->spec.shift));
	return doc;
}

static void print(const struct wanted *w, const json_t *doc)
{
	printf("%zu suspects, shift %g sigma, %s known, %lld searches\n", w->spec.suspects,
	       w->spec.shift, w->known, w->trials);
	if (w->spec.tape)
		printf("noise of %s\n", w->recorded.what);
	printf("%-12s %6.1f %%  the exact answer at a posterior of %g\n", "right",
	       100 * js_f64_or(doc, "right", 0), w->spec.stop);
	printf("%-12s %6.1f %%  the answer's set holds the culprit\n", "held",
	       100 * js_f64_or(doc, "holds", 0));
	printf("%-12s %6.1f %%  \"no regression above x\"\n", "none",
	       100 * js_f64_or(doc, "none", 0));
	printf("%-12s %6.1f %%  of them with the budget used: %.1f %%\n", "narrowed",
	       100 * js_f64_or(doc, "narrowed", 0), 100 * js_f64_or(doc, "unfinished", 0));
	printf("%-12s %6.1f %%  searches that ended with two changes; both exact: %.1f %%\n", "two",
	       100 * js_f64_or(doc, "two", 0), 100 * js_f64_or(doc, "both", 0));
	printf("%-12s %6.1f %%  named a commit that changed nothing\n", "innocent",
	       100 * js_f64_or(doc, "innocent", 0));
	printf("%-12s %6.1f    95 %% within %.0f", "boots", js_f64_or(doc, "boots", 0),
	       js_f64_or(doc, "boots_p95", 0));
	if (w->spec.shift > 0)
		printf("; yardstick log2(N)/C + 11/d^2 = %.1f", js_f64_or(doc, "yardstick", 0));
	printf("\n");
	if (w->spec.skips > 0)
		printf("%-12s %6.1f    more, of commits that do not boot\n", "lost",
		       js_f64_or(doc, "lost", 0));
	if (w->spec.machines > 1)
		printf("%-12s %6.1f\n", "rounds", js_f64_or(doc, "rounds", 0));
}

static void simulate(struct session *session, const struct wanted *w)
{
	CLEANUP(sim_world_release) struct sim_world world;
	AUTO_FREE double *each = xcalloc((size_t)w->trials, sizeof(*each));
	AUTO_JSON *doc = NULL;
	struct totals sum = {.each = each};
	struct rng rng;

	rng_seed(&rng, (uint64_t)w->seed);
	sim_world_init(&world, &w->spec, &rng);
	for (long long i = 0; i < w->trials; i++) {
		struct sim_search_end end;

		sim_search_run(&world, &rng, &end);
		add(&sum, &end, (size_t)i);
	}
	qsort(each, (size_t)w->trials, sizeof(*each), by_value);
	doc = to_json(w, &sum);
	if (session->json)
		session_print_json(doc);
	else
		print(w, doc);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	struct wanted w = {
		.known = "nothing", .trials = 100, .seed = 1, .wish = {.change_pct = NAN}};
	struct sim_search *s = &w.spec;
	const struct opt opts[] = {
		{'n', "suspects", OPT_INT, &w.suspects, "N", "commits in the range (256)"},
		{'d', "shift", OPT_FLOAT, &s->shift, "D",
		 "the change, in deviations of one boot; 0: none (2)"},
		{0, "from-db", OPT_STRING, &w.wish.metric, "METRIC",
		 "replay what stored boots of it lay off their kernels' means"},
		{0, "class", OPT_STRING, &w.wish.class_name, "CLASS", "of this class (any)"},
		{0, "bench", OPT_STRING, &w.wish.benchmark, "NAME", "of this benchmark (any)"},
		{0, "change", OPT_FLOAT, &w.wish.change_pct, "PERCENT",
		 "the change instead of --shift, with --from-db"},
		{0, "second", OPT_FLOAT, &s->second, "D",
		 "another change, at least 4 commits away (0)"},
		{0, "second-odds", OPT_FLOAT, &s->second_odds, "R",
		 "against a second change before the search ends with one (0.2)"},
		{0, "known", OPT_STRING, &w.known, "WHAT", "nothing, history or levels (nothing)"},
		{0, "min-shift", OPT_FLOAT, &s->floor, "D",
		 "least change looked for (0.25; with --from-db half of what is worth reporting)"},
		{0, "none-prior", OPT_FLOAT, &s->none_prior, "P",
		 "prior of \"no culprit\"; 0: not considered (0.15)"},
		{0, "outlier-model", OPT_FLOAT, &s->outlier_model, "P",
		 "outliers that the model expects (0.03)"},
		{0, "outliers", OPT_FLOAT, &s->outliers, "P", "share of boots that are outliers"},
		{0, "outlier-at", OPT_FLOAT, &s->outlier_at, "D", "by how much they are off (8)"},
		{0, "layout", OPT_FLOAT, &s->layout, "D",
		 "deviation of layouts, a fresh one for each boot"},
		{0, "drift", OPT_FLOAT, &s->drift, "D", "linear drift in --drift-boots boots"},
		{0, "drift-boots", OPT_INT, &w.drift_boots, "N", "(100)"},
		{0, "skips", OPT_FLOAT, &s->skips, "P", "commits that do not boot, in clusters"},
		{0, "branches", OPT_FLOAT, &s->branches, "P", "commits on side branches"},
		{0, "culprit-weight", OPT_FLOAT, &s->culprit_weight, "W",
		 "the culprit's prior beside the others' (1)"},
		{0, "machines", OPT_INT, &w.machines, "N", "boots at a time (1)"},
		{0, "machine-sd", OPT_FLOAT, &s->machine_sd, "D", "deviation of machines"},
		{0, "posterior", OPT_FLOAT, &s->stop, "P", "ends the search (0.99)"},
		{0, "budget", OPT_INT, &w.budget, "N", "boots at most (4000)"},
		{0, "trials", OPT_INT, &w.trials, "N", "searches to run (100)"},
		{0, "seed", OPT_INT, &w.seed, "N", "of the random numbers (1)"},
		{0},
	};
	AUTO_STRS words = STRS_INIT;
	bool help, fine;

	sim_search_init(s);
	s->floor = NAN;
	w.suspects = (long long)s->suspects;
	w.budget = (long long)s->budget;
	w.drift_boots = (long long)s->drift_boots;
	w.machines = (long long)s->machines;
	if (!command_parse(session, &simulate_bisect, opts, argc, argv, 0, 0, &words, &help, err))
		return false;
	if (help)
		return true;
	fine = recorded_read(session, &w.wish, "simulate bisect", &w.recorded, err);
	use_recorded(&w);
	fine = fine && check(&w, err);
	if (fine)
		simulate(session, &w);
	recorded_release(&w.recorded);
	return fine;
}

const struct command simulate_bisect = {
	.name = "simulate bisect",
	.summary = "what a search would cost and how often it is right",
	.usage = "[options]",
	.about = "Runs whole searches, by the posterior and the choice of boots that the bisector\n"
		 "uses, over made-up boots, or with --from-db over the noise of those that a lab "
		 "has stored.\n"
		 "Changes and deviations are in standard deviations of one boot.",
	.run = run,
};

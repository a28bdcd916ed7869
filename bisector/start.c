// SPDX-License-Identifier: GPL-2.0-or-later
/* New bisections. */
#include "bisector/start.h"

#include <stdlib.h>

#include "base/log.h"
#include "bisector/lineup.h"
#include "bisector/past.h"
#include "bisector/paths.h"
#include "db/environment.h"

static void hypotheses_free(struct hypotheses *hypotheses)
{
	free(hypotheses->v);
}

/* Where good and bad meet; when what is stored does not reach down to there, the base that bad's
 * branch is stacked on, which then is a suspect itself. */
static bool find_base(struct bisector *bisector, const struct bisection *bisection, int64_t *base,
		      struct err *err)
{
	AUTO_FREE char *good_tree = NULL;
	AUTO_FREE char *bad_tree = NULL;
	int64_t good, bad, other;

	if (!history_merge_base(bisector->db, bisection->good, bisection->bad, base, err))
		return false;
	if (*base)
		return true;
	if (!commit_tree(bisector->db, bisection->good, &good, &good_tree, &other, err) ||
	    !commit_tree(bisector->db, bisection->bad, &bad, &bad_tree, base, err))
		return false;
	return good == bad ||
	       err_set(err, ERR_USAGE, "good is of tree %s and bad of tree %s: unrelated histories",
		       good_tree, bad_tree);
}

/* One weight per commit of the history, by what each touches; *less counts those below 1. */
static bool find_weights(struct bisector *bisector, int64_t series, const struct history *history,
			 double **weight, size_t *less, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	CLEANUP(path_rule_release) struct path_rule rule = {0};
	AUTO_FREE char *machine = NULL;

	if (!series_machine(bisector->db, series, &machine, err))
		return false;
	path_rule_init(&rule, conf_str(conf, "bisect", NULL, "unlikely-paths"), machine,
		       conf_f64(conf, "bisect", NULL, "unlikely-share"));
	*weight = xcalloc(history->n, sizeof(**weight));
	for (size_t i = 0; i < history->n; i++) {
		(*weight)[i] = path_rule_weight(&rule, history->v[i].paths);
		*less += (*weight)[i] < 1;
	}
	return true;
}

bool start_bisection(struct bisector *bisector, struct bisection *bisection, struct err *err)
{
	CLEANUP(hypotheses_free) struct hypotheses suspects = {0};
	CLEANUP(history_release) struct history history = {0};
	AUTO_FREE double *weight = NULL;
	size_t less = 0;

	if (!find_base(bisector, bisection, &bisection->merge_base, err) ||
	    !history_read(bisector->db, bisection->good, bisection->bad, bisection->merge_base,
			  &history, err) ||
	    !find_weights(bisector, bisection->series, &history, &weight, &less, err) ||
	    !lineup_suspects(&history, weight, bisection->good, bisection->bad,
			     bisection->merge_base, &suspects, err))
		return err_wrap(err, "bisection");
	bisection->seed = bisector_seed();
	if (!bisection_add(bisector->db, bisection, err) ||
	    !hypotheses_add(bisector->db, bisection->id, &suspects, err))
		return false;
	log_info("bisection %lld: %zu suspects, budget %d boots; %zu commits of its history touch "
		 "only "
		 "paths that hardly matter",
		 (long long)bisection->id, suspects.n - 1, bisection->budget_boots, less);
	return true;
}

bool start_from_candidate(struct bisector *bisector, const struct candidate *candidate,
			  const struct series *series, struct err *err)
{
	struct bisection bisection = {
		.candidate = candidate->id,
		.series = series->id,
		.suite = series->suite,
		.class_id = series->class_id,
		.recipe = series->recipe,
		.toolchain = series->toolchain,
		.good = candidate->before_commit,
		.bad = candidate->after_commit,
		.min_effect = bisector_min_effect(bisector, series->metric),
		.budget_boots = (int)conf_i64(bisector->settings->conf, "bisect", NULL, "budget"),
	};
	AUTO_FREE char *tree = NULL;
	struct past past = {0};
	int64_t base;

	if (!commit_tree(bisector->db, candidate->after_commit, &bisection.tree, &tree, &base, err))
		return false;
	if (candidate->branch &&
	    !past_read(bisector, series, candidate->branch, candidate->before_commit, &past, err))
		return false;
	bisection.past_level = past.level;
	bisection.past_sd = past.sd;
	bisection.past_heads = (int)past.heads;
	if (start_bisection(bisector, &bisection, err))
		return true;
	if (err->kind != ERR_USAGE)
		return false;
	log_warn("candidate %lld: confirmed, but nothing to bisect: %s", (long long)candidate->id,
		 err->msg);
	return true;
}

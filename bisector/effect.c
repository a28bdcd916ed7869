// SPDX-License-Identifier: GPL-2.0-or-later
/* Stated effects. */
#include "bisector/effect.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "bisector/code.h"
#include "bisector/pair.h"
#include "db/regression.h"
#include "stats/compare.h"
#include "stats/estimate.h"
#include "stats/ratio.h"

struct effects {
	struct bisector *bisector;
	const struct effect_of *what;
	struct estimates estimates;
	struct series_list list;
	struct comparison *of; /* per series; before_n 0 = not comparable */
	size_t primary;	       /* list.n when it was not measured */
};

static void effects_release(struct effects *e)
{
	free(e->estimates.v);
	series_list_release(&e->list);
	free(e->of);
}

static bool compare_series(struct effects *e, size_t i, struct err *err)
{
	struct comparison c;

	if (!pair_compare(e->bisector->db, &e->estimates, &e->list.v[i], &c, err))
		return false;
	if (c.before_n >= 2 && c.after_n >= 2)
		e->of[i] = c;
	return true;
}

static bool read_effects(struct effects *e, struct err *err)
{
	const struct bisection *b = e->what->bisection;
	const struct estimate_filter filter = {.bisection = b->id, .purpose = "prove"};

	if (!estimates_read(e->bisector->db, &filter, &e->estimates, err) ||
	    !estimates_series(e->bisector->db, &e->estimates, &e->list, err))
		return false;
	e->of = xcalloc(e->list.n, sizeof(*e->of));
	e->primary = e->list.n;
	for (size_t i = 0; i < e->list.n; i++) {
		if (!compare_series(e, i, err))
			return false;
		if (e->list.v[i].id == b->series && e->of[i].before_n)
			e->primary = i;
	}
	return true;
}

static struct interval difference(const struct effects *e, const char *before, const char *after)
{
	const struct series *series = &e->list.v[e->primary];
	AUTO_FREE double *x = xcalloc(e->estimates.n, sizeof(*x));
	AUTO_FREE double *y = xcalloc(e->estimates.n, sizeof(*y));
	size_t n = bisector_logs(&e->estimates, series, before, 0, 0, x);
	size_t m = bisector_logs(&e->estimates, series, after, 0, 0, y);

	return compare_interval(x, n, y, m);
}

/* Share of the culprit's shift that is gone from the tip when it is reverted. */
static struct ratio revert_share(const struct effects *e)
{
	const struct interval gone = difference(e, "revert", "tip");
	const struct interval shift = difference(e, "before", "after");

	if (e->what->revert_reason || !(gone.df > 0.0))
		return (struct ratio){NAN, NAN, NAN};
	return ratio_fieller(&gone, &shift);
}

static bool store_series(const struct effects *e, int64_t regression, struct err *err)
{
	for (size_t i = 0; i < e->list.n; i++) {
		const struct comparison *c = &e->of[i];
		const struct regression_series row = {
			.series = e->list.v[i].id,
			.is_primary = i == e->primary,
			.before_n = c->before_n,
			.before_mean = c->before_mean,
			.after_n = c->after_n,
			.after_mean = c->after_mean,
			.effect = c->effect,
			.lo = c->lo,
			.hi = c->hi,
			.significant = c->significant,
		};

		if (c->before_n && !regression_series_add(e->bisector->db, regression, &row, err))
			return false;
	}
	return true;
}

static bool store(const struct effects *e, struct str *reason, struct err *err)
{
	const struct effect_of *what = e->what;
	const struct bisection *b = what->bisection;
	const struct ratio revert = revert_share(e);
	CLEANUP(regression_functions_release) struct regression_functions functions = {0};
	struct regression regression = {
		.tree = b->tree,
		.patch = what->culprit->lineage,
		.culprit = what->culprit->id,
		.parent = what->parent,
		.bisection = b->id,
		.posterior = b->posterior,
		.revert_effect = revert.value,
		.revert_lo = revert.lo,
		.revert_hi = revert.hi,
		.revert_reason = what->revert_reason,
		.functions = &functions,
	};
	int64_t known;

	if (!regression_find(e->bisector->db, b->tree, regression.patch, &known, err))
		return false;
	if (known) {
		str_addf(reason, "; already reported as regression %lld", (long long)known);
		return true;
	}
	if (!isfinite(regression.revert_effect) && !regression.revert_reason)
		regression.revert_reason = "too few boots of the tip or the reverted tip succeeded";
	if (!code_look(e->bisector, b, what->builds[0], what->builds[1], &functions, err) ||
	    !regression_add(e->bisector->db, &regression, err) ||
	    !store_series(e, regression.id, err))
		return false;
	str_addf(reason, "%s; regression %lld",
		 functions.suspect ? "; layout suspect: no function that matters differs" : "",
		 (long long)regression.id);
	return true;
}

static bool succeed(const struct effects *e, struct err *err)
{
	const struct history_commit *culprit = e->what->culprit;
	const struct comparison *c = &e->of[e->primary];
	const struct series *series = &e->list.v[e->primary];
	int64_t id = e->what->bisection->id;
	AUTO_STR reason = str_new();

	str_addf(&reason,
		 "%.12s (%.60s): %s worse: %+.1f %% [%+.1f, %+.1f] in %zu + %zu fresh boots; "
		 "posterior %.3f",
		 culprit->oid, culprit->subject, series->metric,
		 bisector_percent(series, c->effect), bisector_percent(series, c->lo),
		 bisector_percent(series, c->hi), c->before_n, c->after_n,
		 e->what->bisection->posterior);
	if (!store(e, &reason, err))
		return false;
	log_info("bisection %lld: culprit: %s", (long long)id, reason.s);
	return bisection_finish(e->bisector->db, id,
				&(struct bisection_end){"culprit", reason.s, 0, NAN}, err);
}

bool effect_store(struct bisector *bisector, const struct effect_of *what, bool *open,
		  struct str *why, struct err *err)
{
	CLEANUP(effects_release) struct effects e = {.bisector = bisector, .what = what};
	const struct comparison *c;

	*open = false;
	if (!read_effects(&e, err))
		return false;
	if (e.primary == e.list.n) {
		str_add(why, "the boots of its proof do not give the searched metric");
		return true;
	}
	c = &e.of[e.primary];
	*open = !(c->lo > 0) && !(c->hi < 0);
	if (!(c->lo > 0))
		str_addf(why,
			 "against its parent %s changed by %+.1f %% [%+.1f, %+.1f] in %zu + %zu "
			 "fresh boots, which may be nothing",
			 e.list.v[e.primary].metric,
			 bisector_percent(&e.list.v[e.primary], c->effect),
			 bisector_percent(&e.list.v[e.primary], c->lo),
			 bisector_percent(&e.list.v[e.primary], c->hi), c->before_n, c->after_n);
	else if (!what->culprit->lineage)
		str_add(why, "it is a merge or has no patch identity, so no report can follow it");
	else
		return succeed(&e, err);
	return true;
}

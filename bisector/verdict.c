// SPDX-License-Identifier: GPL-2.0-or-later
/* Ends of searches. */
#include "bisector/verdict.h"

#include <math.h>
#include <string.h>

#include "base/log.h"
#include "stats/compare.h"
#include "stats/select.h"

#define BLIND_BOOTS 6 /* finished boots without one number of the series: it stopped existing */
#define NAMES_MAX   5
#define SECOND_SAID 0.5 /* posterior of a second change from which on it is said */

static const struct history_commit *commit_of(const struct evidence *e, size_t h)
{
	size_t node = lineup_find(&e->lineup, e->hypotheses.v[h].commit);

	return node < e->lineup.n_nodes ? e->lineup.nodes[node].info : NULL;
}

void verdict_name(const struct evidence *e, size_t h, struct str *out)
{
	const struct history_commit *commit = h ? commit_of(e, h) : NULL;

	if (!commit)
		str_add(out, "no change at all");
	else
		str_addf(out, "%s%.12s (%.60s)",
			 e->hypotheses.v[h].kind == HYPOTHESIS_DROPPED ? "dropping " : "",
			 commit->oid, commit->subject);
}

static bool finish(struct bisector *bisector, const struct evidence *e,
		   const struct bisection_end *end, struct err *err)
{
	int64_t id = e->bisection->id;

	log_info("bisection %lld: %s: %s", (long long)id, end->outcome, end->reason);
	return bisection_finish(bisector->db, id, end, err) &&
	       job_cancel(bisector->db, 0, id, 0, "its bisection has ended", err);
}

static bool end_none(struct bisector *bisector, const struct evidence *e, struct err *err)
{
	AUTO_FREE char *reason = xasprintf(
		"no regression above %.1f %% between good and bad (posterior %.3f, %zu "
		"boots)",
		100 * compare_relative(e->bisection->min_effect), e->post.mass[0], e->observed);
	const struct bisection_end end = {"none", reason, 0, e->post.mass[0]};

	return finish(bisector, e, &end, err);
}

static bool end_narrowed(struct bisector *bisector, const struct evidence *e,
			 const struct search_state *state, const size_t *set, struct err *err)
{
	AUTO_STR reason = str_new();

	str_addf(&reason, "one of %zu (together %.2f): ", state->n, state->mass);
	for (size_t i = 0; i < state->n && i < NAMES_MAX; i++) {
		str_add(&reason, i ? "; " : "");
		verdict_name(e, set[i], &reason);
		str_addf(&reason, " %.2f", e->post.mass[set[i]]);
	}
	if (state->n > NAMES_MAX)
		str_add(&reason, "; ...");
	if (state->budget_spent)
		str_addf(&reason, ". The budget of %d boots is used up",
			 e->bisection->budget_boots);
	else
		str_add(&reason, ". What lies between them does not build or boot");
	return finish(bisector, e, &(struct bisection_end){"narrowed", reason.s, 0, state->mass},
		      err);
}

/* A culprit that cannot go to the proof of "this commit against its parent". */
static bool end_named(struct bisector *bisector, const struct evidence *e, size_t h,
		      const char *why, struct err *err)
{
	AUTO_STR reason = str_new();

	verdict_name(e, h, &reason);
	str_addf(&reason, ": posterior %.3f after %zu boots; %s", e->post.mass[h], e->observed,
		 why);
	return finish(bisector, e,
		      &(struct bisection_end){"narrowed", reason.s, e->hypotheses.v[h].commit,
					      e->post.mass[h]},
		      err);
}

/* Why the named culprit cannot be proved as one commit; NULL when it can. */
static const char *no_proof(const struct evidence *e, size_t h)
{
	const struct hypothesis *hyp = &e->hypotheses.v[h];
	const struct history_commit *commit = commit_of(e, h);
	size_t parent;

	if (hyp->kind == HYPOTHESIS_DROPPED)
		return "it came with dropping that patch, so there is no commit to prove";
	if (hyp->commit == e->bisection->merge_base)
		return "it came with the new base, whose commits are not kept here";
	if (!commit->n_parents)
		return "it has no parent here to compare with";
	parent = lineup_find(&e->lineup, commit->parents[0]);
	if (parent < e->lineup.n_nodes && !e->testable[parent])
		return "its parent does not build or boot, so the parent's own change may be it";
	return NULL;
}

static void add_second(const struct evidence *e, size_t h, struct str *out)
{
	size_t other;
	double second = posterior_second(&e->post, h, &other);

	if (second < SECOND_SAID)
		return;
	str_addf(out, "; there is another change beside it (%.2f), best suspect ", second);
	verdict_name(e, other, out);
	str_add(out, ": bisect what lies on its side");
}

static bool end_culprit(struct bisector *bisector, const struct evidence *e, size_t h,
			struct err *err)
{
	const char *why = no_proof(e, h);
	AUTO_STR reason = str_new();

	if (why)
		return end_named(bisector, e, h, why, err);
	verdict_name(e, h, &reason);
	str_addf(&reason, ": posterior %.3f after %zu boots", e->post.mass[h], e->observed);
	add_second(e, h, &reason);
	log_info("bisection %lld: proving %s", (long long)e->bisection->id, reason.s);
	return job_cancel(bisector->db, 0, e->bisection->id, 0, "the search has ended", err) &&
	       bisection_start_proof(bisector->db, e->bisection->id, e->hypotheses.v[h].commit,
				     e->post.mass[h], reason.s, err);
}

static bool end_unfinished(struct bisector *bisector, const struct evidence *e, const char *why,
			   struct err *err)
{
	AUTO_FREE char *reason = xasprintf("%s (%zu boots asked for, %zu failed, %zu numbers)", why,
					   e->asked, e->failed, e->observed);

	return finish(bisector, e, &(struct bisection_end){"unfinished", reason, 0, NAN}, err);
}

/* What makes it senseless to go on, whatever the posterior says; NULL when nothing does. */
static const char *hopeless(const struct evidence *e)
{
	size_t done = e->asked - e->open - e->failed;
	bool any = false;

	for (size_t i = 0; i < e->lineup.n_nodes; i++)
		any |= e->testable[i];
	if (!any && !e->open)
		return "nothing in the range builds and boots";
	if (!e->observed && done >= BLIND_BOOTS)
		return "the boots no longer give this metric in this setup";
	if (e->failed >= (size_t)e->bisection->budget_boots && !e->open)
		return "too many boots failed";
	return NULL;
}

bool verdict_try(struct bisector *bisector, const struct evidence *e, bool *ended, struct err *err)
{
	double stop = conf_f64(bisector->settings->conf, "bisect", NULL, "posterior");
	AUTO_FREE size_t *set = xcalloc(e->hypotheses.n, sizeof(*set));
	const char *why = hopeless(e);
	struct search_state state;

	*ended = true;
	if (why)
		return end_unfinished(bisector, e, why, err);
	state = select_verdict(&e->post, &e->lineup.sides, e->testable, stop, e->asked - e->open,
			       (size_t)e->bisection->budget_boots, set);
	switch (state.verdict) {
	case SEARCH_CULPRIT:
		return end_culprit(bisector, e, set[0], err);
	case SEARCH_NONE:
		return end_none(bisector, e, err);
	case SEARCH_NARROWED:
		if (!e->open)
			return end_narrowed(bisector, e, &state, set, err);
		break;
	case SEARCH_MORE:
		break;
	}
	*ended = false;
	return true;
}

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
	struct bisection_end noted = *end;
	AUTO_STR reason = str_new();

	str_add(&reason, end->reason);
	evidence_notes(e, &reason);
	noted.reason = reason.s;
	log_info("bisection %lld: %s: %s", (long long)id, noted.outcome, noted.reason);
	return bisection_finish(bisector->db, id, &noted, err) &&
	       job_cancel(bisector->db, 0, id, 0, "its bisection has ended", err);
}

static bool end_none(struct bisector *bisector, const struct evidence *e, struct err *err)
{
	AUTO_FREE char *reason =
		xasprintf("no regression above %.1f %% between good and bad (posterior %.3f, %zu "
			  "boots)",
			  100 * compare_relative(e->bisection->min_effect),
			  changes_mass(&e->changes)[0], e->observed);
	const struct bisection_end end = {"none", reason, 0, changes_mass(&e->changes)[0]};

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
		str_addf(&reason, " %.2f", changes_mass(&e->changes)[set[i]]);
	}
	if (state->n > NAMES_MAX)
		str_add(&reason, "; ...");
	if (state->budget_spent && e->late)
		str_addf(&reason, ". Its time of %.1f hours is used up",
			 e->bisection->age_s / 3600);
	else if (state->budget_spent)
		str_addf(&reason, ". The budget of %d boots is used up",
			 e->bisection->budget_boots);
	else
		str_addf(&reason, ". What lies between them does not build or boot%s",
			 e->silent ? ", or no longer gives this metric" : "");
	return finish(bisector, e, &(struct bisection_end){"narrowed", reason.s, 0, state->mass},
		      err);
}

/* A culprit that cannot go to the proof of "this commit against its parent". */
static bool end_named(struct bisector *bisector, const struct evidence *e, size_t h,
		      const char *why, struct err *err)
{
	AUTO_STR reason = str_new();

	verdict_name(e, h, &reason);
	str_addf(&reason, ": posterior %.3f after %zu boots; %s", changes_mass(&e->changes)[h],
		 e->observed, why);
	return finish(bisector, e,
		      &(struct bisection_end){"narrowed", reason.s, e->hypotheses.v[h].commit,
					      changes_mass(&e->changes)[h]},
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

/* One of the one or two changes that a search ends with. */
struct ending {
	size_t h; /* the likeliest hypothesis */
	const struct search_state *state;
	const size_t *set;
	const double *mass;
	const char *no_proof; /* NULL: goes to the proof */
};

static void add_ending(const struct evidence *e, const struct ending *end, struct str *out)
{
	verdict_name(e, end->h, out);
	if (end->state->verdict == SEARCH_CULPRIT)
		str_addf(out, ": posterior %.3f", end->mass[end->h]);
	else
		str_addf(out, " %.2f, or one of %zu others", end->mass[end->h], end->state->n - 1);
}

static char *reason_of(const struct evidence *e, const struct ending *end,
		       const struct ending *beside)
{
	AUTO_STR reason = str_new();

	add_ending(e, end, &reason);
	str_addf(&reason, " after %zu boots", e->observed);
	if (!beside)
		return str_take(&reason);
	str_add(&reason, "; there is another change beside it: ");
	add_ending(e, beside, &reason);
	if (beside->no_proof)
		str_addf(&reason, "; %s", beside->no_proof);
	return str_take(&reason);
}

static bool start_proof(struct bisector *bisector, const struct evidence *e,
			const struct ending *end, const struct ending *beside, struct err *err)
{
	AUTO_FREE char *reason = reason_of(e, end, beside);
	AUTO_STR notes = str_new();
	int64_t id = e->bisection->id;

	evidence_notes(e, &notes);
	log_info("bisection %lld: proving %s%s", (long long)id, reason, notes.s);
	return job_cancel(bisector->db, 0, id, 0, "the search has ended", err) &&
	       bisection_start_proof(bisector->db, id, e->hypotheses.v[end->h].commit,
				     end->mass[end->h], reason, notes.s, err);
}

static bool start_second(struct bisector *bisector, const struct evidence *e,
			 const struct ending *end, const struct ending *beside, struct err *err)
{
	AUTO_FREE char *reason = reason_of(e, end, beside);
	bool fresh;

	return bisection_add_beside(bisector->db, e->bisection->id, e->hypotheses.v[end->h].commit,
				    end->mass, e->hypotheses.n, end->mass[end->h], reason, &fresh,
				    err);
}

static bool end_culprit(struct bisector *bisector, const struct evidence *e, size_t h,
			struct err *err)
{
	const struct search_state state = {.verdict = SEARCH_CULPRIT, .n = 1};
	const struct ending end = {
		.h = h,
		.state = &state,
		.set = &h,
		.mass = changes_mass(&e->changes),
		.no_proof = no_proof(e, h),
	};

	if (end.no_proof)
		return end_named(bisector, e, h, end.no_proof, err);
	return start_proof(bisector, e, &end, NULL, err);
}

static const char *why_not(const struct evidence *e, const struct ending *end)
{
	if (end->state->verdict != SEARCH_CULPRIT)
		return "it was not told apart from its neighbours";
	return no_proof(e, end->h);
}

/* Two changes: what can be proved is, and each reason names both. */
static bool end_two(struct bisector *bisector, const struct evidence *e,
		    const struct changes_state *state, const size_t *first, const size_t *second,
		    struct err *err)
{
	struct ending end[] = {
		{first[0], &state->first, first, e->changes.sides[0]->post.mass, NULL},
		{second[0], &state->second, second, e->changes.sides[1]->post.mass, NULL},
	};
	AUTO_FREE char *reason = NULL;

	for (size_t i = 0; i < 2; i++)
		end[i].no_proof = why_not(e, &end[i]);
	if (!end[0].no_proof && !end[1].no_proof &&
	    !start_second(bisector, e, &end[1], &end[0], err))
		return false;
	if (!end[0].no_proof)
		return start_proof(bisector, e, &end[0], &end[1], err);
	if (!end[1].no_proof)
		return start_proof(bisector, e, &end[1], &end[0], err);
	reason = reason_of(e, &end[0], &end[1]);
	return finish(bisector, e,
		      &(struct bisection_end){"narrowed", reason, 0, end[0].mass[end[0].h]}, err);
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

static bool end_one(struct bisector *bisector, const struct evidence *e,
		    const struct search_state *state, const size_t *set, bool *ended,
		    struct err *err)
{
	switch (state->verdict) {
	case SEARCH_CULPRIT:
		return end_culprit(bisector, e, set[0], err);
	case SEARCH_NONE:
		return end_none(bisector, e, err);
	case SEARCH_NARROWED:
		if (!e->open)
			return end_narrowed(bisector, e, state, set, err);
		break;
	case SEARCH_MORE:
		break;
	}
	*ended = false;
	return true;
}

bool verdict_try(struct bisector *bisector, const struct evidence *e, bool *ended, struct err *err)
{
	double stop = conf_f64(bisector->settings->conf, "bisect", NULL, "posterior");
	AUTO_FREE size_t *first = xcalloc(e->hypotheses.n, sizeof(*first));
	AUTO_FREE size_t *second = xcalloc(e->hypotheses.n, sizeof(*second));
	const char *why = hopeless(e);
	size_t done = e->asked - e->open;
	struct changes_state state;

	*ended = true;
	if (why)
		return end_unfinished(bisector, e, why, err);
	state = changes_verdict(&e->changes, e->testable, stop, done,
				e->late ? done : (size_t)e->bisection->budget_boots, first, second);
	if (e->changes.phase != CHANGES_TWO)
		return end_one(bisector, e, &state.first, first, ended, err);
	if (state.first.verdict != SEARCH_MORE && !e->open)
		return end_two(bisector, e, &state, first, second, err);
	*ended = false;
	return true;
}

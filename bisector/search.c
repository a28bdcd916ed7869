// SPDX-License-Identifier: GPL-2.0-or-later
/* One step of a search. */
#include "bisector/search.h"

#include <string.h>

#include "base/log.h"
#include "bisector/evidence.h"
#include "bisector/verdict.h"

#define WORTH_WHILE 0.25 /* of the best node's gain: boot it while the best is being built */

struct step {
	struct bisector *bisector;
	struct evidence *evidence;
	int number; /* of the last step */
};

/* What the search is at, and whom it suspects. */
static void tell_state(const struct evidence *e, struct str *out)
{
	const struct changes *c = &e->changes;

	str_addf(out, "after %zu boots ", e->observed);
	verdict_name(e, c->first, out);
	if (c->phase != CHANGES_TWO) {
		str_addf(out, " leads with %.2f", c->one.mass[c->first]);
		if (c->phase == CHANGES_BESIDE)
			str_addf(out, ", another one beside it %.2f", changes_second(c));
		return;
	}
	str_addf(out, " leads with %.2f, beside it ", c->sides[0]->post.mass[c->first]);
	verdict_name(e, c->second, out);
	str_addf(out, " with %.2f", c->sides[1]->post.mass[c->second]);
}

static char *explain(const struct evidence *e, const struct select_choice *choice)
{
	static const char *const texts[] = {
		[SELECT_NOTHING] = "nothing else can be booted",
		[SELECT_SPLIT] = "splits the suspects",
		[SELECT_LEVEL_BEFORE] = "the good level is not known well enough",
		[SELECT_LEVEL_AFTER] = "the bad level is not known well enough",
	};
	AUTO_STR s = str_new();

	str_addf(&s, "%s: it has the culprit with %.2f, %.3f bits expected; ",
		 texts[choice->reason], choice->after, choice->bits);
	tell_state(e, &s);
	if (e->layout[choice->node])
		str_addf(&s, "; layout %lld of it", (long long)e->layout[choice->node]);
	evidence_notes(e, &s);
	return str_take(&s);
}

static bool queue_boot(struct step *step, const struct select_choice *choice, struct err *err)
{
	struct evidence *e = step->evidence;
	const struct bisection *b = e->bisection;
	const struct built built = e->next[choice->node];
	int n = ++step->number;
	AUTO_FREE char *key = xasprintf("boot:bisect:%lld:%d", (long long)b->id, n);
	AUTO_FREE char *reason = explain(e, choice);
	int64_t suite = b->suite;
	const struct job job = {
		.key = key,
		.kind = (char *)"boot",
		.purpose = (char *)"bisect",
		.role = (char *)"node",
		.priority = JOB_PRIORITY_BISECT,
		.build = built.build,
		.image = built.image,
		.commit = built.commit,
		.class_id = b->class_id,
		.suites = &suite,
		.n_suites = 1,
		.bisection = b->id,
		.request = b->request,
	};
	int64_t id;
	bool fresh;

	e->pending[choice->node]++;
	e->open++;
	e->asked++;
	return job_add(step->bisector->db, &job, &id, &fresh, err) &&
	       step_add(step->bisector->db, b->id, n, built.commit, id, reason, err) &&
	       evidence_next(step->bisector->db, e, choice->node, err);
}

/* Asks for the build of a node, unless enough are being made. */
static bool want_build(struct step *step, size_t node, size_t at_most, struct err *err)
{
	struct evidence *e = step->evidence;
	const struct bisection *b = e->bisection;
	const struct build_key key = {.tree_oid = e->lineup.nodes[node].info->tree_oid,
				      .recipe = b->recipe,
				      .toolchain = b->toolchain,
				      .layout_seed = e->layout[node]};
	struct build_look look;

	if (e->next[node].state == BUILD_ABSENT && e->builds_open >= at_most)
		return true;
	if (e->next[node].state == BUILD_ABSENT && e->build_s[node] >= 0)
		log_info("bisection %lld: asks for the build of %.12s, about %.0f s from what lies "
			 "there",
			 (long long)b->id, e->lineup.nodes[node].info->oid, e->build_s[node]);
	if (!build_ensure(step->bisector->db, &key, e->next[node].commit, JOB_PRIORITY_BISECT,
			  "bisect", &look, err))
		return false;
	e->builds_open += e->next[node].state == BUILD_ABSENT;
	/* It may have ended since the evidence was read. */
	e->next[node].state = look.state;
	e->next[node].build = look.id;
	e->next[node].image = look.image;
	return true;
}

static struct select_choice choose(const struct step *step, bool only_built)
{
	const struct evidence *e = step->evidence;
	AUTO_FREE bool *mask = xcalloc(e->lineup.n_nodes, sizeof(*mask));

	for (size_t i = 0; i < e->lineup.n_nodes; i++)
		mask[i] = e->testable[i] && (!only_built || e->next[i].state == BUILD_BUILT);
	return changes_next(&e->changes, mask, e->cost, e->pending,
			    conf_f64(step->bisector->settings->conf, "bisect", NULL, "posterior"));
}

/* The next boot. *queued tells whether there is one to add now. */
static bool next_boot(struct step *step, bool *queued, struct err *err)
{
	struct evidence *e = step->evidence;
	struct select_choice best = choose(step, false), now;

	*queued = false;
	if (best.reason == SELECT_NOTHING)
		return true;
	if (e->next[best.node].state == BUILD_BUILT) {
		*queued = true;
		return queue_boot(step, &best, err);
	}
	if (!want_build(step, best.node, e->machines ? e->machines : 1, err))
		return false;
	now = choose(step, true);
	if (now.reason == SELECT_NOTHING || now.bits < WORTH_WHILE * best.bits)
		return true;
	*queued = true;
	return queue_boot(step, &now, err);
}

/* Builds run ahead of boots: what would be next if the pending boots told nothing. */
static bool build_ahead(struct step *step, struct err *err)
{
	struct evidence *e = step->evidence;
	struct select_choice next = choose(step, false);

	if (next.reason == SELECT_NOTHING || e->next[next.node].state != BUILD_ABSENT)
		return true;
	return want_build(step, next.node, 1, err);
}

static bool queue_boots(struct step *step, struct err *err)
{
	struct evidence *e = step->evidence;
	size_t budget = e->late ? 0 : (size_t)e->bisection->budget_boots;
	bool queued = true;

	while (queued && e->open < (e->machines ? e->machines : 1) && e->asked < budget)
		if (!next_boot(step, &queued, err))
			return false;
	return e->asked >= budget || build_ahead(step, err);
}

bool search_advance(struct bisector *bisector, const struct bisection *bisection, struct err *err)
{
	CLEANUP(evidence_release) struct evidence evidence = {0};
	struct step step = {
		.bisector = bisector,
		.evidence = &evidence,
	};
	CLEANUP(db_tx_end) struct db *tx = NULL;
	bool ended;

	if (!db_tx_begin(bisector->db, &tx, err) ||
	    !evidence_read(bisector, bisection, &evidence, err) ||
	    !hypotheses_set_mass(bisector->db, bisection->id, changes_mass(&evidence.changes),
				 evidence.hypotheses.n, err) ||
	    !verdict_try(bisector, &evidence, &ended, err))
		return false;
	if (!ended && (!steps_count(bisector->db, bisection->id, &step.number, err) ||
		       !queue_boots(&step, err)))
		return false;
	return db_tx_commit(&tx, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspects and their sides. */
#include "bisector/lineup.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Ancestor sets (with self) as bits over positions in the history. */
struct ancestry {
	const struct history *history;
	size_t words;
	uint64_t *bits;
	size_t *order; /* positions, parents before children */
	size_t n;
};

static void ancestry_release(struct ancestry *a)
{
	free(a->bits);
	free(a->order);
}

static size_t find(const struct history *history, int64_t id)
{
	size_t lo = 0, hi = history->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (history->v[mid].id < id)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < history->n && history->v[lo].id == id ? lo : history->n;
}

static bool has(const struct ancestry *a, size_t of, size_t ancestor)
{
	return a->bits[of * a->words + ancestor / 64] >> (ancestor % 64) & 1;
}

/* Adds position i once all of its stored parents are in; false when one is not. */
static bool try_add(struct ancestry *a, bool *done, size_t i)
{
	const struct history_commit *commit = &a->history->v[i];
	uint64_t *own = a->bits + i * a->words;

	for (size_t k = 0; k < commit->n_parents; k++) {
		size_t parent = find(a->history, commit->parents[k]);

		if (parent < a->n && !done[parent])
			return false;
	}
	for (size_t k = 0; k < commit->n_parents; k++) {
		size_t parent = find(a->history, commit->parents[k]);

		for (size_t w = 0; parent < a->n && w < a->words; w++)
			own[w] |= a->bits[parent * a->words + w];
	}
	own[i / 64] |= UINT64_C(1) << (i % 64);
	done[i] = true;
	return true;
}

static struct ancestry ancestry_of(const struct history *history)
{
	struct ancestry a = {.history = history, .n = history->n, .words = (history->n + 63) / 64};
	AUTO_FREE bool *done = xcalloc(a.n, sizeof(*done));
	size_t added = 0, before;

	a.bits = xcalloc(a.n * a.words, sizeof(*a.bits));
	a.order = xcalloc(a.n, sizeof(*a.order));
	do {
		before = added;
		for (size_t i = 0; i < a.n; i++)
			if (!done[i] && try_add(&a, done, i))
				a.order[added++] = i;
	} while (added > before);
	return a;
}

/* Positions of the three ends, and what follows from them. */
struct ends {
	size_t good, bad, base;
	bool base_moved; /* good does not descend from base */
};

static bool find_ends(const struct ancestry *a, int64_t good, int64_t bad, int64_t base,
		      struct ends *out, struct err *err)
{
	*out = (struct ends){find(a->history, good), find(a->history, bad), find(a->history, base),
			     false};
	if (out->good == a->n || out->bad == a->n || out->base == a->n)
		return err_set(err, ERR_FAILED, "history: an end of the range is not stored");
	out->base_moved = !has(a, out->good, out->base);
	return true;
}

static bool is_new(const struct ancestry *a, const struct ends *e, size_t i)
{
	if (i == e->base)
		return e->base_moved;
	return has(a, e->bad, i) && !has(a, e->good, i);
}

static bool is_old(const struct ancestry *a, const struct ends *e, size_t i)
{
	return i != e->base && has(a, e->good, i) && !has(a, e->bad, i);
}

enum match {
	MATCH_NO,
	MATCH_CHANGED,
	MATCH_SAME
};

/* Whether commit i's patch stands on the old line (or, with `among_old` false, on the new one). */
static enum match match(const struct ancestry *a, const struct ends *e, size_t i, bool among_old)
{
	const struct history_commit *commit = &a->history->v[i], *other = a->history->v;
	enum match best = MATCH_NO;

	for (size_t k = 0; commit->patch && k < a->n && best != MATCH_SAME; k++) {
		if (!(among_old ? is_old(a, e, k) : is_new(a, e, k)))
			continue;
		if (other[k].patch == commit->patch)
			best = MATCH_SAME;
		else if (other[k].lineage && other[k].lineage == commit->lineage)
			best = MATCH_CHANGED;
	}
	return best;
}

static void suspect(struct hypotheses *out, enum hypothesis_kind kind, int64_t commit, double prior)
{
	*array_push(out->v, out->n, out->cap) = (struct hypothesis){
		.kind = kind,
		.commit = commit,
		.prior = prior,
		.mass = prior,
	};
}

/* Priors came in as weights: > 0 suspected in full, < 0 kept unchanged. */
static void share_out(struct hypotheses *h)
{
	double kept = 0, full = 0, kept_share, full_share;

	for (size_t i = 1; i < h->n; i++)
		*(h->v[i].prior < 0 ? &kept : &full) += fabs(h->v[i].prior);
	kept_share = !(kept > 0) ? 0 : full > 0 ? LINEUP_KEPT_PRIOR : 1 - LINEUP_NONE_PRIOR;
	full_share = 1 - LINEUP_NONE_PRIOR - kept_share;
	for (size_t i = 1; i < h->n; i++) {
		double weight = h->v[i].prior;

		h->v[i].prior =
			weight < 0 ? kept_share * -weight / kept : full_share * weight / full;
		h->v[i].mass = h->v[i].prior;
	}
}

bool lineup_suspects(const struct history *history, const double *weight, int64_t good, int64_t bad,
		     int64_t base, struct hypotheses *out, struct err *err)
{
	CLEANUP(ancestry_release) struct ancestry a = ancestry_of(history);
	struct ends e;

	if (!find_ends(&a, good, bad, base, &e, err))
		return false;
	suspect(out, HYPOTHESIS_NONE, 0, LINEUP_NONE_PRIOR);
	for (size_t k = 0; k < a.n; k++) {
		size_t i = a.order[k];
		double w = weight && i != e.base ? weight[i] : 1;

		if (is_new(&a, &e, i))
			suspect(out, HYPOTHESIS_COMMIT, history->v[i].id,
				match(&a, &e, i, true) == MATCH_SAME ? -w : w);
	}
	for (size_t k = 0; k < a.n; k++) {
		size_t i = a.order[k];

		if (is_old(&a, &e, i) && history->v[i].patch && match(&a, &e, i, false) == MATCH_NO)
			suspect(out, HYPOTHESIS_DROPPED, history->v[i].id, weight ? weight[i] : 1);
	}
	if (out->n == 1)
		return err_set(err, ERR_USAGE,
			       "the range is empty: bad has no commit that good has not");
	share_out(out);
	return true;
}

static size_t add_node(struct lineup *lineup, const struct history *history, size_t i, bool old)
{
	lineup->nodes[lineup->n_nodes] = (struct lineup_node){
		.commit = history->v[i].id,
		.info = &history->v[i],
		.old = old,
	};
	return lineup->n_nodes++;
}

static void add_nodes(struct lineup *lineup, const struct ancestry *a, const struct ends *e)
{
	lineup->nodes = xcalloc(a->n + 1, sizeof(*lineup->nodes));
	lineup->good = add_node(lineup, a->history, e->good, e->good != e->base);
	lineup->base =
		e->base == e->good ? lineup->good : add_node(lineup, a->history, e->base, false);
	for (size_t k = 0; k < a->n; k++) {
		size_t i = a->order[k];

		if (is_old(a, e, i) && i != e->good)
			add_node(lineup, a->history, i, true);
	}
	lineup->bad = lineup->good;
	for (size_t k = 0; k < a->n; k++) {
		size_t i = a->order[k], node;

		if (i == e->base || i == e->good || !is_new(a, e, i))
			continue;
		node = add_node(lineup, a->history, i, false);
		if (i == e->bad)
			lineup->bad = node;
	}
}

/* Whether node n is slow if the culprit is hypothesis h, at position c of the history. */
static bool is_after(const struct ancestry *a, const struct lineup_node *node,
		     enum hypothesis_kind kind, size_t c)
{
	size_t n = find(a->history, node->commit);

	if (kind == HYPOTHESIS_COMMIT)
		return !node->old && has(a, n, c);
	return node->old ? !has(a, n, c) : true;
}

bool lineup_make(const struct history *history, const struct hypotheses *hypotheses, int64_t good,
		 int64_t bad, int64_t base, struct lineup *out, struct err *err)
{
	CLEANUP(ancestry_release) struct ancestry a = ancestry_of(history);
	struct ends e;

	if (!find_ends(&a, good, bad, base, &e, err))
		return false;
	add_nodes(out, &a, &e);
	sides_init(&out->sides, hypotheses->n, out->n_nodes);
	for (size_t h = 1; h < hypotheses->n; h++) {
		const struct hypothesis *hyp = &hypotheses->v[h];
		size_t c = find(history, hyp->commit);

		if (c == a.n)
			return err_set(err, ERR_FAILED, "history: suspect %zu is not stored", h);
		out->has_dropped |= hyp->kind == HYPOTHESIS_DROPPED;
		for (size_t n = 0; n < out->n_nodes; n++)
			if (is_after(&a, &out->nodes[n], hyp->kind, c))
				sides_set_after(&out->sides, h, n);
	}
	sides_index(&out->sides);
	return true;
}

void lineup_release(struct lineup *lineup)
{
	free(lineup->nodes);
	sides_release(&lineup->sides);
	*lineup = (struct lineup){0};
}

size_t lineup_find(const struct lineup *lineup, int64_t commit)
{
	size_t n = 0;

	while (n < lineup->n_nodes && lineup->nodes[n].commit != commit)
		n++;
	return n;
}

struct named_node {
	uint64_t identity;
	size_t node;
};

static int by_identity(const void *pa, const void *pb)
{
	const struct named_node *a = pa, *b = pb;

	if (a->identity != b->identity)
		return a->identity < b->identity ? -1 : 1;
	return a->node < b->node ? -1 : a->node > b->node;
}

void lineup_rule_out(const struct lineup *lineup, const uint64_t *identity, double *weight)
{
	AUTO_FREE struct named_node *named = xcalloc(lineup->n_nodes, sizeof(*named));

	for (size_t n = 0; n < lineup->n_nodes; n++)
		named[n] = (struct named_node){identity[n], n};
	qsort(named, lineup->n_nodes, sizeof(*named), by_identity);
	for (size_t i = 1; i < lineup->n_nodes; i++) {
		if (!named[i].identity || named[i].identity != named[i - 1].identity)
			continue;
		for (size_t h = 0; h < lineup->sides.hypotheses; h++)
			if (sides_after(&lineup->sides, h, named[i].node) !=
			    sides_after(&lineup->sides, h, named[i - 1].node))
				weight[h] = 0;
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspects across rebases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bisector/lineup.h"
#include "bisector/paths.h"

/* A history written as rows; ids rise, as the database gives them. */
struct row {
	int64_t id;
	int64_t patch;
	int64_t lineage;
	int64_t parents[3];
};

static struct history history_of(const struct row *rows, size_t n)
{
	struct history h = {0};

	for (size_t i = 0; i < n; i++) {
		struct history_commit *c = array_push(h.v, h.n, h.cap);

		c->id = rows[i].id;
		c->patch = rows[i].patch;
		c->lineage = rows[i].lineage;
		c->oid = xasprintf("%040d", (int)rows[i].id);
		c->tree_oid = xasprintf("%040d", (int)rows[i].id);
		c->subject = xstrdup("x");
		while (rows[i].parents[c->n_parents])
			c->n_parents++;
		c->parents = xcalloc(c->n_parents, sizeof(*c->parents));
		for (size_t k = 0; k < c->n_parents; k++)
			c->parents[k] = rows[i].parents[k];
	}
	return h;
}

struct world {
	struct history history;
	struct hypotheses suspects;
	struct lineup lineup;
};

static void world_make(struct world *w, const struct row *rows, size_t n, int64_t good, int64_t bad,
		       int64_t base)
{
	struct err err = {0};

	*w = (struct world){.history = history_of(rows, n)};
	assert_true(lineup_suspects(&w->history, NULL, good, bad, base, &w->suspects, &err));
	assert_true(lineup_make(&w->history, &w->suspects, good, bad, base, &w->lineup, &err));
}

static void world_release(struct world *w)
{
	lineup_release(&w->lineup);
	free(w->suspects.v);
	history_release(&w->history);
}

static size_t suspect_of(const struct world *w, int64_t commit)
{
	for (size_t h = 0; h < w->suspects.n; h++)
		if (w->suspects.v[h].commit == commit)
			return h;
	fail_msg("%lld is not suspected", (long long)commit);
	return 0;
}

/* Whether `node` is slow if `culprit` did it. */
static bool slow(const struct world *w, int64_t culprit, int64_t node)
{
	size_t n = lineup_find(&w->lineup, node);

	assert_true(n < w->lineup.n_nodes);
	return sides_after(&w->lineup.sides, suspect_of(w, culprit), n);
}

static double prior_sum(const struct world *w)
{
	double sum = 0;

	for (size_t h = 0; h < w->suspects.n; h++)
		sum += w->suspects.v[h].prior;
	return sum;
}

static void straight_line(void **state _unused)
{
	static const struct row rows[] = {
		{10, 1, 1, {0}},
		{11, 2, 2, {10}},
		{12, 3, 3, {11}},
		{13, 4, 4, {12}},
	};
	CLEANUP(world_release) struct world w;

	world_make(&w, rows, 4, 10, 13, 10);
	assert_int_equal(w.suspects.n, 4);
	assert_int_equal(w.lineup.n_nodes, 4);
	assert_int_equal(w.lineup.good, w.lineup.base);
	assert_int_equal(w.lineup.nodes[w.lineup.bad].commit, 13);
	assert_false(slow(&w, 12, 10));
	assert_false(slow(&w, 12, 11));
	assert_true(slow(&w, 12, 12));
	assert_true(slow(&w, 12, 13));
	assert_float_equal(prior_sum(&w), 1, 1e-12);
	assert_float_equal(w.suspects.v[0].prior, LINEUP_NONE_PRIOR, 1e-12);
	assert_float_equal(w.suspects.v[1].prior, w.suspects.v[3].prior, 1e-12);
	assert_false(w.lineup.has_dropped);
}

/* base 1; old line A B C D = 2..5; new line A B' D E = 6..9: B has a fixlet folded in, C dropped. */
static const struct row rebased[] = {
	{1, 0, 0, {0}},	  {2, 20, 20, {1}}, {3, 21, 21, {2}}, {4, 22, 22, {3}}, {5, 23, 23, {4}},
	{6, 20, 20, {1}}, {7, 31, 21, {6}}, {8, 23, 23, {7}}, {9, 34, 34, {8}},
};

static void rebase_suspects(void **state _unused)
{
	CLEANUP(world_release) struct world w;
	double kept, full;

	world_make(&w, rebased, 9, 5, 9, 1);
	assert_int_equal(w.suspects.n, 1 + 4 + 1);
	assert_int_equal(w.suspects.v[suspect_of(&w, 4)].kind, HYPOTHESIS_DROPPED);
	kept = w.suspects.v[suspect_of(&w, 6)].prior;
	full = w.suspects.v[suspect_of(&w, 7)].prior;
	assert_float_equal(kept, LINEUP_KEPT_PRIOR / 2, 1e-12);
	assert_float_equal(w.suspects.v[suspect_of(&w, 8)].prior, kept, 1e-12);
	assert_float_equal(full, (1 - LINEUP_NONE_PRIOR - LINEUP_KEPT_PRIOR) / 3, 1e-12);
	assert_float_equal(w.suspects.v[suspect_of(&w, 4)].prior, full, 1e-12);
	assert_float_equal(prior_sum(&w), 1, 1e-12);
}

static void rebase_sides(void **state _unused)
{
	CLEANUP(world_release) struct world w;

	world_make(&w, rebased, 9, 5, 9, 1);
	assert_true(w.lineup.has_dropped);
	for (int64_t node = 1; node <= 5; node++)
		assert_false(slow(&w, 7, node));
	assert_false(slow(&w, 7, 6));
	assert_true(slow(&w, 7, 7));
	assert_true(slow(&w, 7, 9));
	/* C made it fast: what has C is fast, the rest, with the merge base, is slow */
	assert_true(slow(&w, 4, 1));
	assert_true(slow(&w, 4, 2));
	assert_true(slow(&w, 4, 3));
	assert_false(slow(&w, 4, 4));
	assert_false(slow(&w, 4, 5));
	assert_true(slow(&w, 4, 6));
	assert_true(slow(&w, 4, 9));
	for (size_t n = 0; n < w.lineup.n_nodes; n++)
		assert_false(sides_after(&w.lineup.sides, 0, n));
}

static void nothing_changed(void **state _unused)
{
	static const struct row rows[] = {
		{1, 0, 0, {0}},	  {2, 20, 20, {1}}, {3, 21, 21, {2}},
		{4, 20, 20, {1}}, {5, 21, 21, {4}},
	};
	CLEANUP(world_release) struct world w;

	world_make(&w, rows, 5, 3, 5, 1);
	assert_int_equal(w.suspects.n, 3);
	assert_float_equal(w.suspects.v[1].prior, (1 - LINEUP_NONE_PRIOR) / 2, 1e-12);
	assert_float_equal(prior_sum(&w), 1, 1e-12);
}

/*
 * 1 - 2 - 3 - 6 - 7   6 merges 3 and 5; good is 2, so 4 and 5 lie beside it
 *  \- 4 - 5 -/
 */
static void merge_in_the_range(void **state _unused)
{
	static const struct row rows[] = {
		{1, 1, 1, {0}}, {2, 2, 2, {1}},	   {3, 3, 3, {2}}, {4, 4, 4, {1}},
		{5, 5, 5, {4}}, {6, 0, 0, {3, 5}}, {7, 7, 7, {6}},
	};
	CLEANUP(world_release) struct world w;

	world_make(&w, rows, 7, 2, 7, 2);
	assert_int_equal(w.suspects.n, 1 + 5); /* good has 1 */
	assert_true(slow(&w, 4, 4));
	assert_true(slow(&w, 4, 5));
	assert_false(slow(&w, 4, 3));
	assert_true(slow(&w, 4, 6));
	assert_false(slow(&w, 3, 5));
	assert_true(slow(&w, 3, 6));
	assert_false(slow(&w, 6, 5));
	assert_true(slow(&w, 6, 7));
}

static void base_moved(void **state _unused)
{
	static const struct row rows[] = {
		{1, 0, 0, {0}},
		{2, 20, 20, {1}},
		{3, 0, 0, {0}},
		{4, 20, 20, {3}},
	};
	CLEANUP(world_release) struct world w;

	world_make(&w, rows, 4, 2, 4, 3);
	assert_int_equal(w.suspects.n, 3);
	assert_true(slow(&w, 3, 3));
	assert_true(slow(&w, 3, 4));
	assert_false(slow(&w, 3, 2));
	assert_false(slow(&w, 4, 3));
}

/* By weight, inside each of the groups; the base stands for more than its own paths. */
static void suspected_less(void **state _unused)
{
	static const double weight[] = {0.1, 1, 1, 0.1, 1, 0.1, 1, 1, 0.1};
	CLEANUP(history_release) struct history history = history_of(rebased, 9);
	struct hypotheses h = {0};
	AUTO_FREE struct hypothesis *owned = NULL;
	struct err err = {0};
	double full = 1 - LINEUP_NONE_PRIOR - LINEUP_KEPT_PRIOR;

	assert_true(lineup_suspects(&history, weight, 5, 9, 1, &h, &err));
	owned = h.v;
	assert_int_equal(h.n, 6);
	assert_float_equal(h.v[1].prior, LINEUP_KEPT_PRIOR * 0.1 / 1.1, 1e-12); /* 6 */
	assert_float_equal(h.v[2].prior, full / 1.2, 1e-12);			/* 7 */
	assert_float_equal(h.v[3].prior, LINEUP_KEPT_PRIOR / 1.1, 1e-12);	/* 8 */
	assert_float_equal(h.v[4].prior, full * 0.1 / 1.2, 1e-12);		/* 9 */
	assert_float_equal(h.v[5].prior, full * 0.1 / 1.2, 1e-12);		/* 4, dropped */
}

static void paths_that_hardly_matter(void **state _unused)
{
	CLEANUP(path_rule_release) struct path_rule rule = {0};
	CLEANUP(path_rule_release) struct path_rule anywhere = {0};

	path_rule_init(&rule, "Documentation/ tools/ *.rst MAINTAINERS", "x86_64", 0.1);
	path_rule_init(&anywhere, "Documentation/", "pdp11", 0.1);
	assert_float_equal(path_rule_weight(&rule, NULL), 1, 0);
	assert_float_equal(path_rule_weight(&rule, ""), 1, 0);
	assert_float_equal(path_rule_weight(&rule, "mm/swap.c\n"), 1, 0);
	assert_float_equal(path_rule_weight(&rule, "Documentation/mm/x.txt\n"), 0.1, 0);
	assert_float_equal(path_rule_weight(&rule, "Documentation/a\nmm/b.c\n"), 1, 0);
	assert_float_equal(path_rule_weight(&rule, "mm/x.rst\nMAINTAINERS\narch/arm64/a\n"), 0.1,
			   0);
	assert_float_equal(path_rule_weight(&rule, "lib/MAINTAINERS\n"), 1, 0);
	assert_float_equal(path_rule_weight(&rule, "arch/x86/mm/fault.c\n"), 1, 0);
	assert_float_equal(path_rule_weight(&rule, "arch/x86_old/mm/fault.c\n"), 0.1, 0);
	assert_float_equal(path_rule_weight(&rule, "arch/Kconfig\n"), 1, 0);
	assert_float_equal(path_rule_weight(&anywhere, "arch/arm64/a\n"), 1, 0);
}

static void empty_range(void **state _unused)
{
	static const struct row rows[] = {{1, 0, 0, {0}}, {2, 20, 20, {1}}};
	CLEANUP(history_release) struct history history = history_of(rows, 2);
	struct hypotheses suspects = {0};
	AUTO_FREE struct hypothesis *owned = NULL;
	struct err err = {0};

	assert_false(lineup_suspects(&history, NULL, 2, 2, 2, &suspects, &err));
	owned = suspects.v;
	assert_int_equal(err.kind, ERR_USAGE);
}

static void same_image_is_no_culprit(void **state _unused)
{
	static const struct row rows[] = {
		{10, 1, 1, {0}},
		{11, 2, 2, {10}},
		{12, 3, 3, {11}},
		{13, 4, 4, {12}},
	};
	CLEANUP(world_release) struct world w;
	uint64_t identity[4] = {0};
	double weight[4] = {1, 1, 1, 1};

	world_make(&w, rows, 4, 10, 13, 10);
	identity[lineup_find(&w.lineup, 11)] = 7;
	identity[lineup_find(&w.lineup, 12)] = 7;
	lineup_rule_out(&w.lineup, identity, weight);
	assert_float_equal(weight[suspect_of(&w, 12)], 0, 0);
	assert_float_equal(weight[suspect_of(&w, 11)], 1, 0);
	assert_float_equal(weight[suspect_of(&w, 13)], 1, 0);
	assert_float_equal(weight[0], 1, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(straight_line),      cmocka_unit_test(rebase_suspects),
		cmocka_unit_test(rebase_sides),	      cmocka_unit_test(nothing_changed),
		cmocka_unit_test(merge_in_the_range), cmocka_unit_test(base_moved),
		cmocka_unit_test(suspected_less),     cmocka_unit_test(paths_that_hardly_matter),
		cmocka_unit_test(empty_range),	      cmocka_unit_test(same_image_is_no_culprit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

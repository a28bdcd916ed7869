// SPDX-License-Identifier: GPL-2.0-or-later
/* What builds take. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bisector/rebuild.h"

/* Commits 1 .. in a row, 1 the good end; paths of each. */
struct world {
	struct history history;
	struct hypotheses suspects;
	struct lineup lineup;
	struct path_rule rule;
	struct rebuild rebuild;
};

static void world_make(struct world *w, const char *const *paths, size_t n)
{
	struct err err = {0};

	*w = (struct world){.history = {0}};
	for (size_t i = 0; i < n; i++) {
		struct history_commit *c = array_push(w->history.v, w->history.n, w->history.cap);

		*c = (struct history_commit){
			.id = (int64_t)i + 1,
			.oid = xasprintf("%040zu", i),
			.tree_oid = xasprintf("%040zu", i),
			.subject = xstrdup("x"),
			.paths = paths[i] ? xstrdup(paths[i]) : NULL,
			.parents = xcalloc(1, sizeof(*c->parents)),
			.n_parents = i > 0,
		};
		c->parents[0] = (int64_t)i;
	}
	assert_true(lineup_suspects(&w->history, NULL, 1, (int64_t)n, 1, &w->suspects, &err));
	assert_true(lineup_make(&w->history, &w->suspects, 1, (int64_t)n, 1, &w->lineup, &err));
	path_rule_init(&w->rule, "", "x86_64", 1);
	rebuild_init(&w->rebuild, &w->lineup, &w->history, &w->suspects, &w->rule);
}

static void world_release(struct world *w)
{
	rebuild_release(&w->rebuild);
	lineup_release(&w->lineup);
	history_release(&w->history);
	path_rule_release(&w->rule);
	free(w->suspects.v);
}

static double between(const struct world *w, int64_t a, int64_t b)
{
	return rebuild_objects(&w->rebuild, lineup_find(&w->lineup, a), lineup_find(&w->lineup, b));
}

static void test_paths(void **state _unused)
{
	CLEANUP(path_rule_release) struct path_rule rule;

	path_rule_init(&rule, "", "x86_64", 1);
	assert_float_equal(rebuild_objects_of(&rule, "mm/swap.c"), 1, 0);
	assert_float_equal(rebuild_objects_of(&rule, "Documentation/mm/x.rst"), 0, 0);
	assert_float_equal(rebuild_objects_of(&rule, "arch/arm64/mm/fault.c"), 0, 0);
	assert_float_equal(rebuild_objects_of(&rule, "arch/arm64/include/asm/page.h"), 0, 0);
	assert_float_equal(rebuild_objects_of(&rule, "arch/x86/mm/fault.c"), 1, 0);
	assert_true(rebuild_objects_of(&rule, "mm/internal.h") >
		    10 * rebuild_objects_of(&rule, "mm/swap.c"));
	assert_true(rebuild_objects_of(&rule, "include/linux/mm_types.h") >
		    10 * rebuild_objects_of(&rule, "mm/internal.h"));
	assert_float_equal(rebuild_objects_of(&rule, "scripts/Makefile.lib"), REBUILD_ALL, 0);
}

/* A path counts once, however many commits touch it; the way back is as long; docs are free. */
static void test_distance(void **state _unused)
{
	static const char *const paths[] = {
		NULL,
		"mm/a.c\n",
		"mm/a.c\nmm/b.c\n",
		"Documentation/x.rst\n",
		"mm/c.c\n",
		"include/linux/gfp.h\n",
		NULL,
		"include/linux/slab.h\n",
		"mm/d.c\n",
	};
	CLEANUP(world_release) struct world w;

	world_make(&w, paths, ARRAY_SIZE(paths));
	assert_float_equal(between(&w, 1, 1), 0, 0);
	assert_float_equal(between(&w, 1, 2), 1, 0);
	assert_float_equal(between(&w, 1, 3), 2, 0);
	assert_float_equal(between(&w, 3, 4), 0, 0);
	assert_float_equal(between(&w, 2, 5), 3, 0);
	assert_float_equal(between(&w, 5, 2), 3, 0);
	assert_float_equal(between(&w, 5, 6), 987, 0);
	assert_float_equal(between(&w, 5, 7), 987, 0);
	assert_float_equal(between(&w, 5, 8), REBUILD_ALL, 0);
}

static void test_fit(void **state _unused)
{
	static const struct rebuild_seen exact[] = {{1, 30.5}, {50, 55}, {1000, 530}, {3, 31.5}};
	static const struct rebuild_seen alike[] = {{1, 30}, {1, 31}, {1, 33}};
	static const struct rebuild_seen falling[] = {{1, 40}, {500, 30}, {1000, 20}};
	struct rebuild_time t;

	assert_true(rebuild_fit(exact, ARRAY_SIZE(exact), &t));
	assert_float_equal(t.base_s, 30, 1e-9);
	assert_float_equal(t.object_s, 0.5, 1e-9);
	assert_false(rebuild_fit(exact, 2, &t));
	assert_false(rebuild_fit(alike, ARRAY_SIZE(alike), &t));
	assert_true(rebuild_fit(falling, ARRAY_SIZE(falling), &t));
	assert_float_equal(t.object_s, 0, 0);
	assert_true(t.base_s > 20 && t.base_s < 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paths),
		cmocka_unit_test(test_distance),
		cmocka_unit_test(test_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

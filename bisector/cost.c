// SPDX-License-Identifier: GPL-2.0-or-later
/* The price of a number. */
#include "bisector/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bisector/rebuild.h"
#include "db/environment.h"
#include "stats/usable.h"

#define BUILD_COST_MAX	20.0 /* boots */
#define BUILD_COST_DARK 2.0  /* boots, while the times of builds or boots are not known */

static size_t node_of_tree(const struct lineup *lineup, const char *tree_oid)
{
	size_t n = 0;

	while (n < lineup->n_nodes && strcmp(lineup->nodes[n].info->tree_oid, tree_oid) != 0)
		n++;
	return n;
}

/* The build before build i on its host. */
static const struct made_build *before(const struct made_builds *made, size_t i)
{
	for (size_t k = i + 1; k < made->n; k++)
		if (made->v[k].host == made->v[i].host)
			return &made->v[k];
	return NULL;
}

/* Builds of which both is known: the seconds, and the objects that they made anew. */
static size_t list_seen(const struct lineup *lineup, const struct rebuild *rebuild,
			const struct made_builds *made, struct rebuild_seen *seen)
{
	size_t n = 0;

	for (size_t i = 0; i < made->n; i++) {
		const struct made_build *build = &made->v[i], *last = before(made, i);
		size_t to = node_of_tree(lineup, build->tree_oid);
		size_t from = last ? node_of_tree(lineup, last->tree_oid) : lineup->n_nodes;

		if (!(build->seconds > 0))
			continue;
		if (!build->incremental)
			seen[n++] = (struct rebuild_seen){REBUILD_ALL, build->seconds};
		else if (to < lineup->n_nodes && from < lineup->n_nodes)
			seen[n++] = (struct rebuild_seen){rebuild_objects(rebuild, from, to),
							  build->seconds};
	}
	return n;
}

/* Mean over the hosts, any of which may take it, from the tree that each has now; the usual time for
 * one whose tree is none of the line-up. */
static double seconds_of(const struct lineup *lineup, const struct rebuild *rebuild,
			 const struct made_builds *made, const struct rebuild_time *time,
			 size_t node, double usual_s)
{
	double sum = 0;
	size_t hosts = 0;

	for (size_t i = 0; i < made->n; i++) {
		size_t from = node_of_tree(lineup, made->v[i].tree_oid), k = 0;

		while (k < i && made->v[k].host != made->v[i].host)
			k++;
		if (k < i)
			continue;
		hosts++;
		sum += from == lineup->n_nodes
			       ? usual_s
			       : time->base_s +
					 time->object_s * rebuild_objects(rebuild, from, node);
	}
	return hosts ? sum / (double)hosts : usual_s;
}

/* What the build of each node would take; the same for all while builds do not tell more. */
static bool find_build_times(struct db *db, struct evidence *e, double usual_s, struct err *err)
{
	CLEANUP(path_rule_release) struct path_rule rule = {0};
	CLEANUP(made_builds_release) struct made_builds made = {0};
	CLEANUP(rebuild_release) struct rebuild rebuild = {0};
	AUTO_FREE struct rebuild_seen *seen = NULL;
	AUTO_FREE char *machine = NULL;
	struct rebuild_time time;
	bool told;

	for (size_t i = 0; i < e->lineup.n_nodes; i++)
		e->build_s[i] = usual_s;
	if (!series_machine(db, e->bisection->series, &machine, err) ||
	    !made_builds_read(db, e->bisection->recipe, &made, err))
		return false;
	path_rule_init(&rule, "", machine, 1);
	rebuild_init(&rebuild, &e->lineup, &e->history, &e->hypotheses, &rule);
	seen = xcalloc(made.n + 1, sizeof(*seen));
	told = rebuild_fit(seen, list_seen(&e->lineup, &rebuild, &made, seen), &time);
	for (size_t i = 0; told && i < e->lineup.n_nodes; i++)
		if (e->next[i].state != BUILD_BUILT)
			e->build_s[i] = seconds_of(&e->lineup, &rebuild, &made, &time, i, usual_s);
	return true;
}

static double build_cost(const struct evidence *e, size_t node, double boot_s)
{
	double boots =
		boot_s > 0 && e->build_s[node] >= 0 ? e->build_s[node] / boot_s : BUILD_COST_DARK;

	boots = fmin(boots, BUILD_COST_MAX);
	if (e->next[node].state == BUILD_BUILT)
		return 0;
	return e->next[node].state == BUILD_PENDING ? boots / 2 : boots;
}

/* Building and booting break for reasons of their own: what is built can only fail to boot. */
static void find_chances(const struct evidence *e, double *chance)
{
	size_t n = e->lineup.n_nodes;
	AUTO_FREE enum usable_seen *built = xcalloc(n, sizeof(*built));
	AUTO_FREE enum usable_seen *boots = xcalloc(n, sizeof(*boots));
	AUTO_FREE double *booting = xcalloc(n, sizeof(*booting));

	for (size_t i = 0; i < n; i++) {
		if (e->built[i].state == BUILD_FAILED)
			built[i] = USABLE_BROKEN;
		else if (e->built[i].state == BUILD_BUILT)
			built[i] = USABLE_SOUND;
		if (e->lost[i])
			boots[i] = USABLE_BROKEN;
		else if (e->changes.one.boots_of[i])
			boots[i] = USABLE_SOUND;
	}
	usable_chances(&e->lineup.sides, built, chance);
	usable_chances(&e->lineup.sides, boots, booting);
	for (size_t i = 0; i < n; i++)
		chance[i] *= booting[i];
}

bool cost_find(struct db *db, struct evidence *e, struct err *err)
{
	size_t n = e->lineup.n_nodes;
	AUTO_FREE double *chance = xcalloc(n, sizeof(*chance));
	double boot_s, usual_s;

	e->cost = xcalloc(n, sizeof(*e->cost));
	e->build_s = xcalloc(n, sizeof(*e->build_s));
	if (!work_times(db, &boot_s, &usual_s, err) || !find_build_times(db, e, usual_s, err))
		return false;
	find_chances(e, chance);
	for (size_t i = 0; i < n; i++)
		e->cost[i] = (1 + build_cost(e, i, boot_s)) / chance[i];
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Objects and seconds of builds. */
#include "bisector/rebuild.h"

#include <stdlib.h>
#include <string.h>

/* Objects that include a header, counted in the .cmd files of a 6.12 kernel of the shipped recipe:
 * that of the file, else the mean of the headers of its directory. First match counts. */
static const struct {
	const char *path;
	double objects;
} headers[] = {
	{"include/linux/mm.h", 621},
	{"include/linux/mm_inline.h", 58},
	{"include/linux/rmap.h", 62},
	{"include/linux/swap.h", 137},
	{"include/linux/swapops.h", 79},
	{"include/linux/hugetlb.h", 52},
	{"include/linux/khugepaged.h", 54},
	{"include/linux/migrate.h", 18},
	{"include/linux/pagemap.h", 214},
	{"include/linux/memcontrol.h", 370},
	{"include/linux/huge_mm.h", 621},
	{"include/linux/vmstat.h", 621},
	{"include/linux/mm_types.h", 1000},
	{"include/linux/mmzone.h", 988},
	{"include/linux/page-flags.h", 988},
	{"include/linux/gfp.h", 987},
	{"include/linux/slab.h", 921},
	{"include/linux/", 331},
	{"include/asm-generic/", 667},
	{"include/uapi/", 243},
	{"include/trace/", 17},
	{"include/net/", 30},
	{"include/", 210},
	{"arch/", 337},
	{"mm/internal.h", 50},
	{"mm/vma.h", 50},
	{"", 12},
};

/* Nothing that is linked comes from these. */
static const char *const no_objects[] = {"Documentation/", "tools/",   "samples/", "LICENSES/",
					 "MAINTAINERS",	   ".mailmap", "CREDITS"};

double rebuild_objects_of(const struct path_rule *rule, const char *path)
{
	size_t i = 0;

	if (path_rule_foreign(rule, path))
		return 0;
	for (size_t k = 0; k < ARRAY_SIZE(no_objects); k++)
		if (str_starts(path, no_objects[k]))
			return 0;
	if (str_starts(path, "scripts/")) /* what every object is made with */
		return REBUILD_ALL;
	if (!str_ends(path, ".h"))
		return 1;
	while (!str_starts(path, headers[i].path))
		i++;
	return headers[i].objects;
}

struct touched {
	const char *path; /* into text */
	size_t suspect;
};

static int by_path(const void *a, const void *b)
{
	const struct touched *x = a, *y = b;

	return strcmp(x->path, y->path);
}

/* A base that is suspected stands for all that came with it. */
static const char *paths_of(const struct lineup *lineup, const struct history *history,
			    int64_t commit)
{
	if (commit == lineup->nodes[lineup->base].commit)
		return "scripts/";
	for (size_t i = 0; i < history->n; i++)
		if (history->v[i].id == commit)
			return history->v[i].paths;
	return NULL;
}

/* Equal paths get equal numbers. */
static void number_paths(struct rebuild *out, struct touched *touched, size_t n,
			 const struct path_rule *rule)
{
	AUTO_FREE size_t *at = xcalloc(out->lineup->sides.hypotheses + 1, sizeof(*at));

	qsort(touched, n, sizeof(*touched), by_path);
	out->objects = xcalloc(n + 1, sizeof(*out->objects));
	out->path = xcalloc(n + 1, sizeof(*out->path));
	memcpy(at, out->first, (out->lineup->sides.hypotheses + 1) * sizeof(*at));
	for (size_t i = 0; i < n; i++) {
		if (!i || strcmp(touched[i].path, touched[i - 1].path) != 0)
			out->objects[out->paths++] = rebuild_objects_of(rule, touched[i].path);
		out->path[at[touched[i].suspect]++] = out->paths - 1;
	}
}

void rebuild_init(struct rebuild *out, const struct lineup *lineup, const struct history *history,
		  const struct hypotheses *hypotheses, const struct path_rule *rule)
{
	AUTO_FREE struct touched *touched = NULL;
	AUTO_STRS lists = STRS_INIT;
	size_t n = 0, cap = 0;

	*out = (struct rebuild){.lineup = lineup};
	out->first = xcalloc(hypotheses->n + 1, sizeof(*out->first));
	for (size_t h = 0; h < hypotheses->n; h++) {
		const char *paths = h ? paths_of(lineup, history, hypotheses->v[h].commit) : NULL;
		AUTO_STRS list = STRS_INIT;

		out->first[h] = n;
		if (paths)
			strs_split(&list, paths, "\n");
		for (size_t i = 0; i < list.n; i++) {
			strs_push(&lists, list.v[i]);
			*array_push(touched, n, cap) = (struct touched){NULL, h};
		}
	}
	out->first[hypotheses->n] = n;
	for (size_t i = 0; i < n; i++)
		touched[i].path = lists.v[i];
	number_paths(out, touched, n, rule);
}

void rebuild_release(struct rebuild *r)
{
	free(r->objects);
	free(r->path);
	free(r->first);
	*r = (struct rebuild){0};
}

double rebuild_objects(const struct rebuild *r, size_t from, size_t to)
{
	const struct sides *sides = &r->lineup->sides;
	AUTO_FREE bool *counted = xcalloc(r->paths + 1, sizeof(*counted));
	double sum = 0;

	for (size_t h = 1; h < sides->hypotheses; h++) {
		if (sides_after(sides, h, from) == sides_after(sides, h, to))
			continue;
		for (size_t i = r->first[h]; i < r->first[h + 1]; i++) {
			sum += counted[r->path[i]] ? 0 : r->objects[r->path[i]];
			counted[r->path[i]] = true;
		}
	}
	return sum < REBUILD_ALL ? sum : REBUILD_ALL;
}

bool rebuild_fit(const struct rebuild_seen *seen, size_t n, struct rebuild_time *out)
{
	double u = 0, w = 0, uu = 0, uw = 0, ww = 0, det;

	for (size_t i = 0; i < n; i++) {
		double a = 1 / seen[i].seconds, b = seen[i].objects / seen[i].seconds;

		u += a;
		w += b;
		uu += a * a;
		uw += a * b;
		ww += b * b;
	}
	det = uu * ww - uw * uw;
	if (n < 3 || !(det > 1e-6 * uu * ww))
		return false;
	*out = (struct rebuild_time){(u * ww - w * uw) / det, (w * uu - u * uw) / det};
	if (out->object_s < 0)
		*out = (struct rebuild_time){u / uu, 0};
	if (out->base_s < 0)
		*out = (struct rebuild_time){0, w / ww};
	return true;
}

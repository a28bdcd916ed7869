// SPDX-License-Identifier: GPL-2.0-or-later
/* Culprits' code against their parents'. */
#include "bisector/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/store.h"
#include "db/functions.h"

#define LIST_MAX  ((size_t)64 << 20)
/* What a function below it does differently moves no metric by what is worth reporting; as `mmperf compare` has it. */
#define HOT_SHARE 0.005
#define NAMES_MAX 100

/* The lines of one name. */
struct group {
	const char *start;
	size_t n;      /* bytes, with the last newline */
	size_t name_n; /* 0: the list has ended */
};

static struct group group_at(const char *list)
{
	struct group g = {.start = list, .name_n = strcspn(list, " \n")};

	do {
		size_t line = strcspn(list + g.n, "\n");

		g.n += line + (list[g.n + line] == '\n');
	} while (list[g.n] && !strncmp(list + g.n, list, g.name_n) && list[g.n + g.name_n] == ' ');
	return g;
}

/* As strcmp() of the names; a list that has ended is behind every name. */
static int order_of(const struct group *a, const struct group *b)
{
	size_t n = a->name_n < b->name_n ? a->name_n : b->name_n;
	int order;

	if (!a->name_n || !b->name_n)
		return (a->name_n == 0) - (b->name_n == 0);
	order = memcmp(a->start, b->start, n);
	return order ? order : (a->name_n > b->name_n) - (a->name_n < b->name_n);
}

struct names {
	struct strs hot, cold;
};

static void take(struct regression_functions *out, const struct strs *hot,
		 const struct group *group, bool differs, struct names *names)
{
	AUTO_FREE char *name = xstrndup(group->start, group->name_n);
	bool is_hot = strs_has(hot, name);

	out->hot += is_hot;
	out->differ += differs;
	out->hot_differ += differs && is_hot;
	if (differs && (is_hot ? names->hot.n : names->cold.n) < NAMES_MAX)
		strs_push(is_hot ? &names->hot : &names->cold, name);
}

static char *names_text(const struct names *names)
{
	AUTO_FREE char *hot = strs_join(&names->hot, "\n");
	AUTO_FREE char *cold = strs_join(&names->cold, "\n");

	return xasprintf("%s%s%s", hot, *hot && *cold ? "\n" : "", cold);
}

void code_compare(const char *parent, const char *culprit, const struct strs *hot,
		  struct regression_functions *out)
{
	struct names names = {STRS_INIT, STRS_INIT};

	*out = (struct regression_functions){.known = true};
	while (*parent || *culprit) {
		struct group a = group_at(parent), b = group_at(culprit);
		int order = order_of(&a, &b);
		bool same = !order && a.n == b.n && !memcmp(a.start, b.start, a.n);

		take(out, hot, order <= 0 ? &a : &b, !same, &names);
		parent += order <= 0 ? a.n : 0;
		culprit += order >= 0 ? b.n : 0;
	}
	out->suspect = out->hot ? !out->hot_differ : !out->differ;
	out->names = names_text(&names);
	strs_release(&names.hot);
	strs_release(&names.cold);
}

static bool read_list(struct bisector *bisector, int64_t build, struct str *list, char **reason,
		      struct err *err)
{
	AUTO_FREE char *dir = settings_path(bisector->settings, "artifacts");
	CLEANUP(store_free_ptr) struct store *store = NULL;
	AUTO_FREE char *path = NULL;
	char sha256[HASH_HEX_SIZE];
	struct err why;

	if (!functions_artifact(bisector->db, build, sha256, err))
		return false;
	if (!*sha256)
		*reason = xstrdup("its build or its parent's has no digests of functions");
	else if (!fs_exists(dir))
		*reason = xstrdup("the builds are kept on another host");
	else if (!store_open(dir, &store, &why) || !store_get(store, sha256, &path, &why) ||
		 !fs_read(path, LIST_MAX, list, &why))
		*reason = xstrdup(why.msg);
	return true;
}

bool code_look(struct bisector *bisector, const struct bisection *bisection, int64_t parent_build,
	       int64_t culprit_build, struct regression_functions *out, struct err *err)
{
	AUTO_STR parent = str_new(), culprit = str_new();
	AUTO_STRS hot = STRS_INIT;
	AUTO_FREE char *reason = NULL;

	if (!read_list(bisector, parent_build, &parent, &reason, err) ||
	    (!reason && !read_list(bisector, culprit_build, &culprit, &reason, err)) ||
	    (!reason && !functions_hot(bisector->db, bisection->id, HOT_SHARE, &hot, err)))
		return false;
	if (reason)
		*out = (struct regression_functions){.reason = TAKE(reason)};
	else
		code_compare(parent.s, culprit.s, &hot, out);
	return true;
}

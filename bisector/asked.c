// SPDX-License-Identifier: GPL-2.0-or-later
/* Args of requests. */
#include "bisector/asked.h"

#include <stdlib.h>
#include <string.h>

#include "db/history.h"
#include "db/known.h"

#define COMPARE_BOOTS 5
#define NOISE_BOOTS   12 /* the deviation of a deviation is then 21 % */
#define LAYOUTS_MAX   16
#define BOOTS_MAX     1000

void asked_release(struct asked *ask)
{
	free(ask->commits);
	free(ask->layouts);
	free(ask->tree_name);
	free(ask->class_name);
	free(ask->suites);
	free(ask->builds);
}

bool asked_text(const json_t *args, const char *key, const char **out, struct err *err)
{
	if (js_get_str(args, key, out, err))
		return true;
	err->kind = ERR_USAGE;
	return false;
}

static bool add_commit(struct bisector *bisector, const char *oid, struct asked *ask,
		       struct err *err)
{
	return commit_find(bisector->db, oid, &ask->commits[ask->n_commits++], err);
}

static bool read_range(struct bisector *bisector, const json_t *args, struct asked *ask,
		       struct err *err)
{
	const json_t *list = json_object_get(args, "commits"), *item;
	size_t i;

	if (!json_array_size(list))
		return err_set(err, ERR_USAGE, "the range is empty: there is no commit to run");
	ask->commits = xcalloc(json_array_size(list), sizeof(*ask->commits));
	json_array_foreach(list, i, item)
	{
		const char *oid = json_is_string(item) ? json_string_value(item) : "";

		if (!add_commit(bisector, oid, ask, err))
			return false;
	}
	return true;
}

static bool read_two(struct bisector *bisector, const json_t *args, const char *first,
		     const char *second, struct asked *ask, struct err *err)
{
	const char *a, *b;

	ask->commits = xcalloc(2, sizeof(*ask->commits));
	return asked_text(args, first, &a, err) && asked_text(args, second, &b, err) &&
	       add_commit(bisector, a, ask, err) && add_commit(bisector, b, ask, err);
}

/* One commit, built in every layout. */
static bool read_layers(struct bisector *bisector, const json_t *args, struct asked *ask,
			struct err *err)
{
	size_t n = json_array_size(json_object_get(args, "layouts"));
	const char *oid;

	if (!n || n > LAYOUTS_MAX)
		return err_set(err, ERR_USAGE, "layouts: 1 to %d seeds are wanted, not %zu",
			       LAYOUTS_MAX, n);
	if (!asked_text(args, "commit", &oid, err))
		return false;
	ask->commits = xcalloc(n, sizeof(*ask->commits));
	for (size_t i = 0; i < n; i++)
		if (!add_commit(bisector, oid, ask, err))
			return false;
	return true;
}

static bool read_commits(struct bisector *bisector, const struct request *request,
			 struct asked *ask, struct err *err)
{
	ask->running = !strcmp(request->kind, "run") && js_bool_or(request->args, "running", false);
	if (ask->running)
		return true;
	if (!strcmp(request->kind, "run"))
		return read_range(bisector, request->args, ask, err);
	if (!strcmp(request->kind, "compare"))
		return read_two(bisector, request->args, "before", "after", ask, err);
	if (!strcmp(request->kind, "noise"))
		return read_layers(bisector, request->args, ask, err);
	return read_two(bisector, request->args, "good", "bad", ask, err);
}

/* "layout" is for all, "layouts" has one for each of two. */
static bool read_layouts(const json_t *args, struct asked *ask, struct err *err)
{
	const json_t *list = json_object_get(args, "layouts");
	int64_t all = js_i64_or(args, "layout", 0);

	if (list && json_array_size(list) != ask->n_commits)
		return err_set(err, ERR_USAGE, "layouts: one for each of %zu commits is wanted",
			       ask->n_commits);
	ask->layouts = xcalloc(ask->n_commits, sizeof(*ask->layouts));
	for (size_t i = 0; i < ask->n_commits; i++) {
		ask->layouts[i] = list ? json_integer_value(json_array_get(list, i)) : all;
		if (ask->layouts[i] < 0)
			return err_set(err, ERR_USAGE, "layout: %lld is no seed (0, 1, ...)",
				       (long long)ask->layouts[i]);
	}
	return true;
}

static bool read_tree(struct bisector *bisector, const json_t *args, struct asked *ask,
		      struct err *err)
{
	const char *name = js_str_or(args, "tree", NULL);
	int64_t base;

	if (ask->running)
		return true;
	if (!commit_tree(bisector->db, ask->commits[ask->n_commits - 1], &ask->tree,
			 &ask->tree_name, &base, err))
		return false;
	if (name) {
		free(ask->tree_name);
		ask->tree_name = xstrdup(name);
	}
	if (!toolchain_current(bisector->db, &ask->toolchain, err))
		return false;
	if (!ask->toolchain)
		return err_set(err, ERR_USAGE,
			       "no host has told its compiler yet: start mmperf-runner, ask again");
	return bisector_recipe(bisector, ask->tree_name, &ask->recipe, err);
}

static bool read_class(struct bisector *bisector, const json_t *args, struct asked *ask,
		       struct err *err)
{
	CLEANUP(classes_release) struct classes classes = {0};
	const char *machine = js_str_or(args, "machine", NULL);
	AUTO_FREE char *of_machine = NULL;
	const char *name = js_str_or(args, "class", NULL);
	AUTO_STR names = str_new();
	size_t fitting = 0;

	if (machine && !known_machine(bisector->db, machine, &ask->machine, &of_machine, err))
		return false;
	name = of_machine ? of_machine : name;
	if (!classes_read(bisector->db, &classes, err))
		return false;
	for (size_t i = 0; i < classes.n; i++) {
		const struct class_info *c = &classes.v[i];

		if (c->running != ask->running)
			continue;
		str_addf(&names, "%s%s", fitting++ ? ", " : "", c->name);
		if (name && strcmp(c->name, name))
			continue;
		ask->class_id = c->id;
		free(ask->class_name);
		ask->class_name = xstrdup(c->name);
	}
	if (ask->class_id && (name || fitting == 1))
		return true;
	if (!fitting)
		return err_set(err, ERR_USAGE,
			       "there is no machine that %s: add one to the settings",
			       ask->running ? "measures its running kernel (driver local)"
					    : "boots images");
	return name ? err_set(err, ERR_NOTFOUND, "no machine class %s; there are: %s", name,
			      names.s)
		    : err_set(err, ERR_USAGE, "name a machine class, one of: %s", names.s);
}

static bool find_suite(struct bisector *bisector, const char *name, int64_t *id, struct err *err)
{
	AUTO_STR names = str_new();

	for (size_t i = 0; i < bisector->suites.n; i++) {
		str_addf(&names, "%s%s", i ? ", " : "", bisector->suites.v[i].name);
		if (strcmp(bisector->suites.v[i].name, name))
			continue;
		*id = bisector->suites.v[i].id;
		return true;
	}
	return err_set(err, ERR_NOTFOUND, "no suite %s; there are: %s", name, names.s);
}

static bool read_suites(struct bisector *bisector, const json_t *args, struct asked *ask,
			struct err *err)
{
	const json_t *list = json_object_get(args, "suites"), *item;
	const char *one = js_str_or(args, "suite", NULL);
	size_t i;

	if (!one && !json_array_size(list)) {
		ask->n_suites =
			bisector_suites(bisector, ask->tree_name, ask->class_name, &ask->suites);
		return ask->n_suites ||
		       err_set(err, ERR_USAGE,
			       "no suite of the settings is for tree %s on class %s",
			       ask->running ? "(none)" : ask->tree_name, ask->class_name);
	}
	ask->suites = xcalloc(json_array_size(list) + 1, sizeof(*ask->suites));
	if (one)
		return find_suite(bisector, one, &ask->suites[ask->n_suites++], err);
	json_array_foreach(list, i, item)
	{
		const char *name = json_is_string(item) ? json_string_value(item) : "";

		if (!find_suite(bisector, name, &ask->suites[ask->n_suites++], err))
			return false;
	}
	return true;
}

static int64_t boots_default(const struct bisector *bisector, const char *kind)
{
	if (!strcmp(kind, "compare"))
		return COMPARE_BOOTS;
	if (!strcmp(kind, "noise"))
		return NOISE_BOOTS;
	return conf_i64(bisector->settings->conf, "detect", NULL, "boots");
}

bool asked_read(struct bisector *bisector, const struct request *request, struct asked *ask,
		struct err *err)
{
	int64_t boots = js_i64_or(request->args, "boots", boots_default(bisector, request->kind));

	ask->id = request->id;
	if (boots < 1 || boots > BOOTS_MAX)
		return err_set(err, ERR_USAGE, "boots: %lld is not between 1 and %d",
			       (long long)boots, BOOTS_MAX);
	ask->boots = (size_t)boots;
	return read_commits(bisector, request, ask, err) && read_layouts(request->args, ask, err) &&
	       read_tree(bisector, request->args, ask, err) &&
	       read_class(bisector, request->args, ask, err) &&
	       read_suites(bisector, request->args, ask, err);
}

bool asked_builds(struct bisector *bisector, struct asked *ask, size_t *open, struct err *err)
{
	*open = 0;
	ask->builds = xcalloc(ask->n_commits, sizeof(*ask->builds));
	for (size_t i = 0; i < ask->n_commits; i++) {
		CLEANUP(history_commit_release) struct history_commit commit = {0};
		struct build_key key = {.recipe = ask->recipe,
					.toolchain = ask->toolchain,
					.layout_seed = ask->layouts[i]};

		if (!commit_read(bisector->db, ask->commits[i], &commit, err))
			return false;
		key.tree_oid = commit.tree_oid;
		if (!build_ensure(bisector->db, &key, commit.id, JOB_PRIORITY_REQUEST, "request",
				  &ask->builds[i], err))
			return false;
		*open += ask->builds[i].state == BUILD_PENDING ||
			 ask->builds[i].state == BUILD_ABSENT;
	}
	return true;
}

bool asked_ends_built(const struct asked *ask, struct err *err)
{
	for (size_t i = 0; i < ask->n_commits; i++)
		if (ask->builds[i].state != BUILD_BUILT)
			return err_set(err, ERR_USAGE, "the %s commit does not build: %.200s",
				       i ? "second" : "first", ask->builds[i].error);
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings into rows. */
#include "bisector/sync.h"

#include <string.h>

#include "base/fs.h"

#define RECIPE_MAX (1 << 20)

/* A relative path stands beside the settings file. */
static char *recipe_path(const struct conf *conf, const char *path)
{
	const char *own = conf_path(conf), *slash = own ? strrchr(own, '/') : NULL;

	if (*path == '/' || !slash)
		return xstrdup(path);
	return xasprintf("%.*s/%s", (int)(slash - own), own, path);
}

static bool sync_recipe(struct bisector *bisector, const char *name, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	AUTO_FREE char *path = recipe_path(conf, conf_str(conf, "recipe", name, "config"));
	AUTO_STR text = str_new();
	AUTO_STR clean = str_new();
	int64_t id;

	if (!fs_read(path, RECIPE_MAX, &text, err))
		return err_wrap(err, "recipe %s", name);
	str_add_utf8(&clean, text.s, text.len);
	return recipe_upsert(bisector->db, name, clean.s, &id, err);
}

static json_t *params_of(const struct strs *list, const char *suite, struct err *err)
{
	json_t *params = json_object();

	for (size_t i = 0; i < list->n; i++) {
		const char *equals = strchr(list->v[i], '=');
		AUTO_FREE char *name = NULL;

		if (!equals || equals == list->v[i]) {
			err_set(err, ERR_USAGE, "suite %s: param \"%s\" is not name=value", suite,
				list->v[i]);
			json_decref(params);
			return NULL;
		}
		name = xstrndup(list->v[i], (size_t)(equals - list->v[i]));
		js_set_str(params, name, equals + 1);
	}
	return params;
}

static json_t *texts_of(const struct strs *list)
{
	json_t *array = json_array();

	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(array, json_string(list->v[i]));
	return array;
}

static bool sync_suite(struct bisector *bisector, const char *name, struct err *err)
{
	char *both_v[] = {(char *)"clean", (char *)"instrumented", NULL};
	const struct strs both = {.v = both_v, .n = 2};
	const struct conf *conf = bisector->settings->conf;
	const struct strs *passes = conf_list(conf, "suite", name, "pass");
	json_t *params = params_of(conf_list(conf, "suite", name, "param"), name, err);
	AUTO_JSON *definition = json_object();
	int64_t id;

	if (!params)
		return false;
	js_set_new(definition, "params", params);
	js_set_str(definition, "benchmark", conf_str(conf, "suite", name, "benchmark"));
	js_set_new(definition, "passes", texts_of(passes->n ? passes : &both));
	js_set_new(definition, "judge", texts_of(conf_list(conf, "suite", name, "judge")));
	return suite_upsert(bisector->db, name, definition, &id, err);
}

bool sync_settings(struct bisector *bisector, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	const struct strs *recipes = conf_names(conf, "recipe"),
			  *suites = conf_names(conf, "suite");
	CLEANUP(db_tx_end) struct db *tx = NULL;

	if (!db_tx_begin(bisector->db, &tx, err))
		return false;
	for (size_t i = 0; i < recipes->n; i++)
		if (!sync_recipe(bisector, recipes->v[i], err))
			return false;
	for (size_t i = 0; i < suites->n; i++)
		if (!sync_suite(bisector, suites->v[i], err))
			return false;
	suites_release(&bisector->suites);
	return suites_read(bisector->db, &bisector->suites, err) && db_tx_commit(&tx, err);
}

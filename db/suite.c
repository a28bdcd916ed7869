// SPDX-License-Identifier: GPL-2.0-or-later
/* Recipes and suites. */
#include "db/suite.h"

#include <stdlib.h>
#include <string.h>

#include "db/row.h"

void suites_release(struct suites *suites)
{
	for (size_t i = 0; i < suites->n; i++) {
		free(suites->v[i].name);
		free(suites->v[i].benchmark);
		strs_release(&suites->v[i].judge);
	}
	free(suites->v);
	*suites = (struct suites){0};
}

bool recipe_upsert(struct db *db, const char *name, const char *content, int64_t *id,
		   struct err *err)
{
	static const char sql[] =
		"with latest as (select id, version, content from recipes where name = $1"
		"  order by version desc limit 1),"
		" fresh as (insert into recipes (name, version, content)"
		"  select $1, coalesce((select version from latest), 0) + 1, $2"
		"  where not exists (select from latest where content = $2) returning id)"
		" select id from fresh union all select id from latest where content = $2";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name), dbv_text(content)), DB_ONE, &rows, err))
		return err_wrap(err, "recipe %s", name);
	*id = row_i64(rows, 0, "id");
	return true;
}

bool recipe_latest(struct db *db, const char *name, int64_t *id, struct err *err)
{
	static const char sql[] =
		"select id from recipes where name = $1 order by version desc limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name)), DB_ONE, &rows, err))
		return err_wrap(err, "recipe %s", name);
	*id = row_i64(rows, 0, "id");
	return true;
}

bool suite_upsert(struct db *db, const char *name, const json_t *definition, int64_t *id,
		  struct err *err)
{
	static const char sql[] =
		"with latest as (select id, version, definition from suites where name = $1"
		"  order by version desc limit 1),"
		" fresh as (insert into suites (name, version, definition)"
		"  select $1, coalesce((select version from latest), 0) + 1, $2::jsonb"
		"  where not exists (select from latest where definition = $2::jsonb) returning id)"
		" select id from fresh union all select id from latest where definition = "
		"$2::jsonb";
	AUTO_FREE char *text = js_text(definition);
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name), dbv_text(text)), DB_ONE, &rows, err))
		return err_wrap(err, "suite %s", name);
	*id = row_i64(rows, 0, "id");
	return true;
}

static bool read_definition(struct suite *suite, const char *text, struct err *err)
{
	AUTO_JSON *def = NULL;
	const json_t *judge, *item;
	size_t i;

	if (!js_parse(text, strlen(text), &def, err))
		return err_wrap(err, "suite %s", suite->name);
	suite->benchmark = xstrdup(js_str_or(def, "benchmark", suite->name));
	judge = json_object_get(def, "judge");
	json_array_foreach(judge, i, item) if (json_is_string(item))
		strs_push(&suite->judge, json_string_value(item));
	return true;
}

bool suites_read(struct db *db, struct suites *out, struct err *err)
{
	static const char sql[] = "select distinct on (name) id, name, definition from suites"
				  " order by name, version desc";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct suite *suite = array_push(out->v, out->n, out->cap);

		suite->id = row_i64(rows, i, "id");
		suite->name = row_dup(rows, i, "name");
		if (!read_definition(suite, row_text(rows, i, "definition"), err))
			return false;
	}
	return true;
}

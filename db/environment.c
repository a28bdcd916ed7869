// SPDX-License-Identifier: GPL-2.0-or-later
/* Environments side by side. */
#include "db/environment.h"

#include <string.h>

#include "db/row.h"

static char *value_text(const json_t *value)
{
	if (!value)
		return xstrdup("-");
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	return js_text(value);
}

static void compare_one(json_t *out, const char *name, const json_t *before, const json_t *after);

static void compare_objects(json_t *out, const char *prefix, const json_t *before,
			    const json_t *after)
{
	const char *key;
	json_t *value;

	/* jansson's iterator wants writable objects but only reads them. */
	json_object_foreach((json_t *)before, key, value)
	{
		AUTO_FREE char *name = xasprintf("%s%s", prefix, key);

		compare_one(out, name, value, json_object_get(after, key));
	}
	json_object_foreach((json_t *)after, key, value)
	{
		AUTO_FREE char *name = xasprintf("%s%s", prefix, key);

		if (!json_object_get(before, key))
			compare_one(out, name, NULL, value);
	}
}

static void compare_one(json_t *out, const char *name, const json_t *before, const json_t *after)
{
	AUTO_FREE char *prefix = xasprintf("%s.", name);
	AUTO_FREE char *a = NULL, *b = NULL;
	json_t *entry;

	if (json_is_object(before) && json_is_object(after)) {
		compare_objects(out, prefix, before, after);
		return;
	}
	a = value_text(before);
	b = value_text(after);
	if (!strcmp(a, b))
		return;
	entry = json_object();
	js_set_str(entry, "what", name);
	js_set_str(entry, "before", a);
	js_set_str(entry, "after", b);
	json_array_append_new(out, entry);
}

json_t *environment_differences(const json_t *before, const json_t *after)
{
	json_t *out = json_array();

	compare_objects(out, "", before, after);
	return out;
}

void environment_differences_text(const json_t *differences, size_t most, struct str *out)
{
	size_t n = json_array_size(differences);

	for (size_t i = 0; i < n && i < most; i++) {
		const json_t *one = json_array_get(differences, i);

		str_addf(out, "%s%s: %s -> %s", i ? ", " : "", js_str_or(one, "what", "?"),
			 js_str_or(one, "before", "-"), js_str_or(one, "after", "-"));
	}
	if (n > most)
		str_addf(out, " and %zu more", n - most);
}

bool setup_note_change(struct db *db, int64_t setup, struct err *err)
{
	static const char find[] =
		"select p.id as previous, pe.facts::text as before, ne.facts::text as after"
		" from setups n join environments ne on ne.id = n.environment"
		" join setups p on p.id < n.id and p.class = n.class and p.method = n.method"
		"  and p.recipe is not distinct from n.recipe"
		"  and p.toolchain is not distinct from n.toolchain"
		" join environments pe on pe.id = p.environment"
		" where n.id = $1 order by p.id desc limit 1";
	static const char add[] = "insert into setup_changes (setup, previous, differences)"
				  " values ($1, $2, $3::text::jsonb) on conflict do nothing";
	AUTO_JSON *before = NULL, *after = NULL, *differences = NULL;
	AUTO_FREE char *text = NULL;
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, find, DBV(dbv_i64(setup)), DB_MAYBE, &rows, err))
		return err_wrap(err, "environment");
	if (!rows_n(rows))
		return true;
	if (!js_parse(row_text(rows, 0, "before"), strlen(row_text(rows, 0, "before")), &before,
		      err) ||
	    !js_parse(row_text(rows, 0, "after"), strlen(row_text(rows, 0, "after")), &after, err))
		return err_wrap(err, "environment");
	differences = environment_differences(before, after);
	text = js_text(differences);
	return db_exec(db, add,
		       DBV(dbv_i64(setup), dbv_i64(row_i64(rows, 0, "previous")), dbv_text(text)),
		       err) ||
	       err_wrap(err, "environment");
}

bool series_machine(struct db *db, int64_t series, char **machine, struct err *err)
{
	static const char sql[] = "select e.facts ->> 'arch' as arch from series s"
				  " join setups u on u.id = s.setup"
				  " join environments e on e.id = u.environment where s.id = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(series)), DB_MAYBE, &rows, err))
		return false;
	*machine = rows_n(rows) ? row_dup(rows, 0, "arch") : NULL;
	return true;
}

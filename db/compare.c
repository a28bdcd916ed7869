// SPDX-License-Identifier: GPL-2.0-or-later
/* Boots of two images. */
#include "db/compare.h"

#include <stdlib.h>
#include <string.h>

#include "db/environment.h"
#include "db/row.h"

static void series_release(struct compared_series *series)
{
	free(series->class_name);
	free(series->benchmark);
	free(series->params_hash);
	free(series->params);
	free(series->pass);
	free(series->metric);
	free(series->unit);
	free(series->direction);
	free(series->before);
	free(series->after);
	events_release(&series->before_events);
	events_release(&series->after_events);
}

void compare_data_release(struct compare_data *data)
{
	free(data->before_oid);
	free(data->before_subject);
	free(data->after_oid);
	free(data->after_subject);
	json_decref(data->differences);
	for (size_t i = 0; i < data->n; i++)
		series_release(&data->v[i]);
	free(data->v);
	for (size_t i = 0; i < data->n_locks; i++) {
		free(data->locks[i].benchmark);
		free(data->locks[i].params);
		lock_changes_release(&data->locks[i].changes);
	}
	free(data->locks);
	*data = (struct compare_data){0};
}

static bool read_names(struct db *db, const struct compare_key *key, struct compare_data *out,
		       struct err *err)
{
	static const char sql[] = "select a.oid as before_oid, a.subject as before_subject,"
				  " b.oid as after_oid, b.subject as after_subject"
				  " from commits a, commits b where a.id = $1 and b.id = $2";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(key->before_commit), dbv_i64(key->after_commit)), DB_ONE,
		      &rows, err))
		return false;
	out->before_oid = row_dup(rows, 0, "before_oid");
	out->before_subject = row_dup(rows, 0, "before_subject");
	out->after_oid = row_dup(rows, 0, "after_oid");
	out->after_subject = row_dup(rows, 0, "after_subject");
	out->same_image = key->before_image == key->after_image;
	return true;
}

static void take_series(const struct rows *rows, size_t i, struct compared_series *out)
{
	*out = (struct compared_series){
		.class_name = row_dup(rows, i, "class"),
		.benchmark = row_dup(rows, i, "benchmark"),
		.version = row_i64(rows, i, "version"),
		.params_hash = row_dup(rows, i, "params_hash"),
		.params = row_dup(rows, i, "params"),
		.pass = row_dup(rows, i, "pass"),
		.metric = row_dup(rows, i, "metric"),
		.unit = row_dup(rows, i, "unit"),
		.direction = row_dup(rows, i, "direction"),
		.floor = row_f64(rows, i, "floor"),
	};
	out->before_n = row_f64s(rows, i, "before", &out->before);
	out->after_n = row_f64s(rows, i, "after", &out->after);
}

static bool read_events(struct db *db, const struct rows *rows, size_t i,
			struct compared_series *out, struct err *err)
{
	AUTO_FREE int64_t *before = NULL;
	AUTO_FREE int64_t *after = NULL;
	size_t n = row_i64s(rows, i, "before_boots", &before);
	size_t m = row_i64s(rows, i, "after_boots", &after);
	int64_t id = row_i64(rows, i, "id");

	return events_read(db, out->benchmark, out->metric, id, before, n, &out->before_events,
			   err) &&
	       events_read(db, out->benchmark, out->metric, id, after, m, &out->after_events, err);
}

static bool read_series(struct db *db, const struct compare_key *key, struct compare_data *out,
			struct err *err)
{
	static const char sql[] =
		"with values as (select e.series,"
		"  coalesce(array_agg(e.estimate order by e.boot) filter (where e.image = $1), "
		"'{}')"
		"   as before,"
		"  coalesce(array_agg(e.estimate order by e.boot) filter (where e.image = $2), "
		"'{}')"
		"   as after, max(r.params::text)::jsonb as params,"
		"  coalesce(array_agg(e.boot order by e.boot) filter (where e.image = $1), '{}')"
		"   as before_boots,"
		"  coalesce(array_agg(e.boot order by e.boot) filter (where e.image = $2), '{}')"
		"   as after_boots"
		"  from boot_estimates e"
		"  join runs r on r.boot = e.boot"
		"  join samples x on x.run = r.id and x.series = e.series"
		"  where e.image in ($1, $2) and ($4::bigint is null or e.request = $4)"
		"  group by e.series)"
		" select s.id, v.before_boots, v.after_boots, cl.name as class, s.benchmark, "
		"s.version, s.params_hash, s.pass,"
		" m.name as metric, m.unit, m.direction, m.floor, v.before, v.after,"
		" (select string_agg(kv.key || '=' || kv.value, ' ' order by kv.key)"
		"  from jsonb_each_text(v.params) kv) as params"
		" from values v join series s on s.id = v.series"
		" join setups se on se.id = s.setup join classes cl on cl.id = se.class"
		" join metrics m on m.id = s.metric"
		" where ($3::bigint is null or se.class = $3)"
		" order by cl.name, s.benchmark, s.params_hash, s.pass, m.name, s.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_i64(key->before_image), dbv_i64(key->after_image),
			  dbv_id(key->class_id), dbv_id(key->request)),
		      DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct compared_series *series = array_push(out->v, out->n, out->cap);

		take_series(rows, i, series);
		if (!read_events(db, rows, i, series, err))
			return err_wrap(err, "events of %s", series->metric);
	}
	return true;
}

static bool read_environments(struct db *db, const struct compare_key *key,
			      struct compare_data *out, struct err *err)
{
	static const char sql[] =
		"with newest as (select distinct on (b.image, s.class) b.image, s.class,"
		"  s.environment from boots b join setups s on s.id = b.setup"
		"  join attempts a on a.id = b.attempt join jobs j on j.id = a.job"
		"  where b.outcome = 'ok' and b.image in ($1, $2)"
		"  and ($3::bigint is null or s.class = $3)"
		"  and ($4::bigint is null or j.request = $4)"
		"  order by b.image, s.class, b.id desc)"
		" select x.facts::text as before, y.facts::text as after"
		" from newest p join newest q on q.class = p.class"
		" join environments x on x.id = p.environment join environments y on y.id = "
		"q.environment"
		" where p.image = $1 and q.image = $2 and p.environment <> q.environment limit 1";
	AUTO_JSON *before = NULL, *after = NULL;
	AUTO_ROWS *rows = NULL;
	const char *text;

	if (!db_query(db, sql,
		      DBV(dbv_i64(key->before_image), dbv_i64(key->after_image),
			  dbv_id(key->class_id), dbv_id(key->request)),
		      DB_MAYBE, &rows, err))
		return err_wrap(err, "environments");
	if (!rows_n(rows))
		return true;
	text = row_text(rows, 0, "before");
	if (!js_parse(text, strlen(text), &before, err))
		return err_wrap(err, "environment");
	text = row_text(rows, 0, "after");
	if (!js_parse(text, strlen(text), &after, err))
		return err_wrap(err, "environment");
	out->differences = environment_differences(before, after);
	return true;
}

static bool have_locks(const struct compare_data *data, const struct compared_series *series)
{
	for (size_t i = 0; i < data->n_locks; i++)
		if (!strcmp(data->locks[i].benchmark, series->benchmark) &&
		    !strcmp(data->locks[i].params, series->params ? series->params : ""))
			return true;
	return false;
}

static bool read_locks(struct db *db, const struct compare_key *key, struct compare_data *out,
		       struct err *err)
{
	for (size_t i = 0; i < out->n; i++) {
		const struct compared_series *series = &out->v[i];
		const struct lock_pick pick = {.before_image = key->before_image,
					       .after_image = key->after_image,
					       .request = key->request,
					       .benchmark = series->benchmark,
					       .version = series->version,
					       .params_hash = series->params_hash};
		struct compared_locks *locks;

		if (strcmp(series->pass, "instrumented") || have_locks(out, series))
			continue;
		locks = array_push(out->locks, out->n_locks, out->cap_locks);
		locks->benchmark = xstrdup(series->benchmark);
		locks->params = xstrdup(series->params ? series->params : "");
		if (!lock_changes_read(db, &pick, &locks->changes, err))
			return false;
	}
	return true;
}

bool compare_data_read(struct db *db, const struct compare_key *key, struct compare_data *out,
		       struct err *err)
{
	CLEANUP(compare_data_release) struct compare_data data = {0};

	if (!read_names(db, key, &data, err) || !read_series(db, key, &data, err) ||
	    !read_locks(db, key, &data, err) || !read_environments(db, key, &data, err))
		return false;
	*out = data;
	data = (struct compare_data){0};
	return true;
}

bool compare_image_of(struct db *db, int64_t commit, const char *recipe, int64_t *image,
		      struct err *err)
{
	static const char sql[] =
		"select b.image from builds b join commits c on c.tree_oid = b.tree_oid"
		" join recipes r on r.id = b.recipe where c.id = $1 and b.outcome = 'built'"
		" and b.layout_seed = 0 and ($2::text is null or r.name = $2)"
		" order by b.id desc limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(commit), dbv_text(recipe)), DB_MAYBE, &rows, err))
		return false;
	*image = rows_n(rows) ? row_i64(rows, 0, "image") : 0;
	return true;
}

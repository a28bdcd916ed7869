// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests by hand. */
#include "db/request.h"

#include <stdlib.h>
#include <string.h>

#include "db/row.h"

void request_release(struct request *request)
{
	free(request->kind);
	free(request->state);
	free(request->error);
	free(request->asked_by);
	json_decref(request->args);
	json_decref(request->result);
	*request = (struct request){0};
}

bool request_add(struct db *db, const char *kind, const json_t *args, const char *asked_by,
		 int64_t *id, struct err *err)
{
	static const char sql[] = "insert into requests (kind, args, asked_by) "
				  "values ($1, $2::jsonb, $3) returning id";
	AUTO_FREE char *text = js_text(args);
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(kind), dbv_text(text), dbv_text(asked_by)), DB_ONE,
		      &rows, err))
		return false;
	*id = row_i64(rows, 0, "id");
	return true;
}

static bool parse_column(const struct rows *rows, const char *column, json_t **out, struct err *err)
{
	const char *text = row_text(rows, 0, column);

	return !text || js_parse(text, strlen(text), out, err);
}

bool request_read(struct db *db, int64_t id, struct request *out, struct err *err)
{
	static const char sql[] = "select kind, state, error, args, result, asked_by "
				  "from requests where id = $1";
	CLEANUP(request_release) struct request fresh = {.id = id};
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_NOTFOUND, "there is no request %lld", (long long)id);
	if (!parse_column(rows, "args", &fresh.args, err) ||
	    !parse_column(rows, "result", &fresh.result, err))
		return err_wrap(err, "request %lld", (long long)id);
	fresh.kind = row_dup(rows, 0, "kind");
	fresh.state = row_dup(rows, 0, "state");
	fresh.error = row_dup(rows, 0, "error");
	fresh.asked_by = row_dup(rows, 0, "asked_by");
	*out = fresh;
	fresh = (struct request){0};
	return true;
}

bool request_find_done(struct db *db, const char *kind, const json_t *args, int64_t boots,
		       int64_t *id, struct err *err)
{
	static const char sql[] =
		"select id from requests where kind = $1 and state = 'done' and args @> $2::jsonb "
		"and coalesce((args->>'boots')::bigint, 0) >= $3 order by id desc limit 1";
	AUTO_FREE char *text = js_text(args);
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(kind), dbv_text(text), dbv_i64(boots)), DB_MAYBE, &rows,
		      err))
		return false;
	*id = rows_n(rows) ? row_i64(rows, 0, "id") : 0;
	return true;
}

bool request_cancel(struct db *db, int64_t id, bool *open, struct err *err)
{
	static const char sql[] = "update requests set state = 'cancelled', ended_at = now() "
				  "where id = $1 and state in ('queued', 'running')";

	if (!db_exec(db, sql, DBV(dbv_i64(id)), err))
		return false;
	*open = db_changed(db) == 1;
	return true;
}

bool request_progress(struct db *db, int64_t request, int64_t bisection,
		      struct request_progress *out, struct err *err)
{
	static const char sql[] =
		"with mine as (select * from jobs where request = $1 or bisection = $2 "
		"  or bisection in (select id from bisections where request = $1)), "
		"lately as (select j.kind = 'boot' as boot, "
		"  extract(epoch from a.ended_at - a.started_at)::float8 as s "
		"  from attempts a join jobs j on j.id = a.job where a.outcome = 'ok' "
		"  order by a.id desc limit 200) "
		"select count(*) as jobs, count(ended_at) as ended, "
		"  count(*) filter (where state = 'failed') as failed, "
		"  count(ended_at) filter (where kind = 'boot') as boots, "
		"  count(*) filter (where kind <> 'boot' and ended_at is null) as builds_open, "
		"  count(*) filter (where kind = 'boot' and ended_at is null) as boots_open, "
		"  (select avg(s) from lately where not boot) as build_s, "
		"  (select avg(s) from lately where boot) as boot_s, "
		"  (select count(*) from machines where state = 'up' "
		"   and class in (select class from mine)) as machines, "
		"  (select string_agg(name || ' is ' || state || coalesce(': ' || left(note, 200), "
		"''),"
		"    ', ' order by name) from machines where state <> 'up'"
		"   and class in (select class from mine)) as out, "
		"  (select count(*) from hosts where last_seen > now() - interval '2 min') as "
		"alive "
		"from mine";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_id(request), dbv_id(bisection)), DB_ONE, &rows, err))
		return false;
	*out = (struct request_progress){
		.jobs = row_i64(rows, 0, "jobs"),
		.ended = row_i64(rows, 0, "ended"),
		.failed = row_i64(rows, 0, "failed"),
		.boots = row_i64(rows, 0, "boots"),
		.builds_open = row_i64(rows, 0, "builds_open"),
		.boots_open = row_i64(rows, 0, "boots_open"),
		.build_s = row_f64_or_nan(rows, 0, "build_s"),
		.boot_s = row_f64_or_nan(rows, 0, "boot_s"),
		.machines = row_i64(rows, 0, "machines"),
		.hosts_alive = row_i64(rows, 0, "alive"),
	};
	if (!out->machines && !row_is_null(rows, 0, "out"))
		snprintf(out->out, sizeof(out->out), "%s", row_text(rows, 0, "out"));
	return true;
}

bool request_bisection(struct db *db, int64_t request, int64_t *bisection, struct err *err)
{
	static const char sql[] = "select id from bisections where request = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(request)), DB_MAYBE, &rows, err))
		return false;
	*bisection = rows_n(rows) ? row_i64(rows, 0, "id") : 0;
	return true;
}

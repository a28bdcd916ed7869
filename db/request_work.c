// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests, moved on. */
#include "db/request_work.h"

#include "db/row.h"

static bool read_ids(struct db *db, const char *sql, int64_t **ids, size_t *n, struct err *err)
{
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_ONE, &rows, err))
		return false;
	*n = row_i64s(rows, 0, "ids", ids);
	return true;
}

bool requests_open(struct db *db, int64_t **ids, size_t *n, struct err *err)
{
	static const char sql[] = "select array(select id from requests"
				  " where state in ('queued', 'running') order by id) as ids";

	return read_ids(db, sql, ids, n, err);
}

bool requests_to_stop(struct db *db, int64_t **ids, size_t *n, struct err *err)
{
	static const char sql[] =
		"select array(select r.id from requests r where r.state = 'cancelled'"
		"  and (exists (select from jobs j where j.request = r.id and j.ended_at is null)"
		"   or exists (select from bisections b where b.request = r.id"
		"    and b.ended_at is null)) order by r.id) as ids";

	return read_ids(db, sql, ids, n, err);
}

bool request_start(struct db *db, int64_t id, struct err *err)
{
	static const char sql[] =
		"update requests set state = 'running' where id = $1 and state = 'queued'";

	return db_exec(db, sql, DBV(dbv_i64(id)), err);
}

bool request_finish(struct db *db, int64_t id, const json_t *result, struct err *err)
{
	static const char sql[] = "update requests set state = 'done', result = $2::jsonb,"
				  "  ended_at = now() where id = $1"
				  " and state in ('queued', 'running')";
	AUTO_FREE char *text = js_text(result);

	return db_exec(db, sql, DBV(dbv_i64(id), dbv_text(text)), err);
}

bool request_fail(struct db *db, int64_t id, const char *error, struct err *err)
{
	static const char sql[] = "update requests set state = 'failed', error = $2,"
				  "  ended_at = now() where id = $1"
				  " and state in ('queued', 'running')";

	return db_exec(db, sql, DBV(dbv_i64(id), dbv_text(error)), err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Leases by hand. */
#include "db/lease.h"

#include "db/row.h"

static bool tell_holder(struct db *db, const char *machine, struct err *err)
{
	static const char sql[] =
		"select coalesce(l.holder, 'boot job ' || j.key, 'somebody else') as holder"
		" from machines m left join leases l on l.machine = m.id"
		" left join attempts a on a.id = l.attempt left join jobs j on j.id = a.job"
		" where m.name = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(machine)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_NOTFOUND, "there is no machine %s in the database",
			       machine);
	return err_set(
		err, ERR_CONFLICT,
		"machine %s is in use by %s; wait, or keep boots away first: `mmperf machines "
		"offline %s`",
		machine, row_text(rows, 0, "holder"), machine);
}

bool lease_take(struct db *db, const char *machine, const char *holder, double lease_s,
		int64_t *token, struct err *err)
{
	static const char sql[] = "insert into leases (machine, token, holder, expires_at)"
				  " select m.id, nextval('lease_tokens'), $2, now() + "
				  "make_interval(secs => $3::float8)"
				  " from machines m where m.name = $1 on conflict (machine) do "
				  "nothing returning token";
	AUTO_ROWS *rows = NULL;

	if (!leases_reap(db, err) ||
	    !db_query(db, sql, DBV(dbv_text(machine), dbv_text(holder), dbv_f64(lease_s)), DB_MAYBE,
		      &rows, err))
		return false;
	if (!rows_n(rows))
		return tell_holder(db, machine, err);
	*token = row_i64(rows, 0, "token");
	return true;
}

bool lease_refresh(struct db *db, int64_t token, double lease_s, struct err *err)
{
	static const char sql[] = "update leases set expires_at = now() + make_interval(secs => "
				  "$2::float8) where token = $1::bigint returning token";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(token), dbv_f64(lease_s)), DB_MAYBE, &rows, err))
		return false;
	return rows_n(rows) ||
	       err_set(err, ERR_CONFLICT, "the lease (token %lld) was lost", (long long)token);
}

bool lease_drop(struct db *db, int64_t token, struct err *err)
{
	return db_exec(db, "delete from leases where token = $1::bigint", DBV(dbv_i64(token)), err);
}

bool leases_reap(struct db *db, struct err *err)
{
	return db_exec(db, "delete from leases where attempt is null and expires_at < now()",
		       DBV_NONE, err);
}

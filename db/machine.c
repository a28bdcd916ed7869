// SPDX-License-Identifier: GPL-2.0-or-later
/* Hosts, classes, machines. */
#include "db/machine.h"

#include <string.h>

#include "db/row.h"

bool host_upsert(struct db *db, const char *name, int64_t toolchain, int cpus, int64_t *id,
		 struct err *err)
{
	static const char sql[] =
		"insert into hosts (name, toolchain, cpus) values ($1, $2::bigint, $3::bigint)"
		" on conflict (name) do update set toolchain = excluded.toolchain,"
		" cpus = excluded.cpus, last_seen = now() returning id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name), dbv_id(toolchain), dbv_i64(cpus)), DB_ONE, &rows,
		      err))
		return err_wrap(err, "host %s", name);
	*id = row_i64(rows, 0, "id");
	return true;
}

bool host_seen(struct db *db, int64_t id, struct err *err)
{
	static const char sql[] = "update hosts set last_seen = now() where id = $1::bigint";

	return db_exec(db, sql, DBV(dbv_i64(id)), err);
}

bool class_upsert(struct db *db, const char *name, const char *driver, bool emulated, int64_t *id,
		  struct err *err)
{
	static const char sql[] =
		"insert into classes (name, driver, emulated) values ($1, $2, $3::boolean)"
		" on conflict (name) do update set emulated = excluded.emulated"
		" returning id, driver";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name), dbv_text(driver), dbv_bool(emulated)), DB_ONE,
		      &rows, err))
		return err_wrap(err, "class %s", name);
	if (strcmp(row_text(rows, 0, "driver"), driver) != 0)
		return err_set(err, ERR_USAGE,
			       "class %s: its machines use driver %s; give machines of driver %s "
			       "another class",
			       name, row_text(rows, 0, "driver"), driver);
	*id = row_i64(rows, 0, "id");
	return true;
}

bool machine_upsert(struct db *db, const char *name, int64_t class_id, int64_t host, int64_t *id,
		    struct err *err)
{
	static const char sql[] =
		"insert into machines (name, class, host) values ($1, $2::bigint, $3::bigint)"
		" on conflict (name) do update set class = excluded.class, host = excluded.host,"
		" state = case when machines.note = 'not in the settings' then 'up'"
		"   else machines.state end,"
		" note = nullif(machines.note, 'not in the settings') returning id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name), dbv_i64(class_id), dbv_i64(host)), DB_ONE, &rows,
		      err))
		return err_wrap(err, "machine %s", name);
	*id = row_i64(rows, 0, "id");
	return true;
}

bool machine_retire(struct db *db, int64_t host, const char *names, struct err *err)
{
	static const char sql[] =
		"update machines set state = 'offline', note = 'not in the settings'"
		" where host = $1::bigint and state = 'up'"
		" and name <> all (string_to_array($2, E'\\n'))";

	return db_exec(db, sql, DBV(dbv_i64(host), dbv_text(names)), err);
}

bool machine_holder(struct db *db, const char *name, char **state, int64_t *token, struct err *err)
{
	static const char sql[] = "select m.state, l.token from machines m left join leases l"
				  " on l.machine = m.id and l.expires_at > now() where m.name = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name)), DB_MAYBE, &rows, err))
		return err_wrap(err, "machine %s", name);
	*state = rows_n(rows) ? row_dup(rows, 0, "state") : NULL;
	*token = rows_n(rows) ? row_id(rows, 0, "token") : 0;
	return true;
}

bool machine_last_console(struct db *db, const char *name, char **sha256, char **outcome,
			  struct err *err)
{
	static const char sql[] = "select a.sha256, b.outcome from boots b"
				  " join machines m on m.id = b.machine join artifacts a on a.id = "
				  "b.console"
				  " where m.name = $1 order by b.id desc limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name)), DB_MAYBE, &rows, err))
		return err_wrap(err, "machine %s", name);
	if (!rows_n(rows))
		return err_set(err, ERR_NOTFOUND, "no boot of machine %s has kept a console", name);
	*sha256 = row_dup(rows, 0, "sha256");
	*outcome = row_dup(rows, 0, "outcome");
	return true;
}

bool machine_name(struct db *db, int64_t id, char **name, struct err *err)
{
	static const char sql[] = "select name from machines where id = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id)), DB_MAYBE, &rows, err))
		return false;
	*name = rows_n(rows) ? row_dup(rows, 0, "name") : xstrdup("?");
	return true;
}

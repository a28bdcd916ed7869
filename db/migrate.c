// SPDX-License-Identifier: GPL-2.0-or-later
/* Numbered schema changes. */
#include "db/migrate.h"

#include <string.h>

#include "base/hash.h"
#include "db/row.h"
#include "db/schema.h"

static int newest(void)
{
	int version = 0;

	for (const struct schema_file *f = schema_files; f->version; f++)
		version = f->version;
	return version;
}

static bool table_exists(struct db *db, bool *exists, struct err *err)
{
	static const char sql[] = "select to_regclass('schema_migrations') is not null as yes";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_ONE, &rows, err))
		return false;
	*exists = row_bool(rows, 0, "yes");
	return true;
}

bool db_version(struct db *db, int *has, int *wants, struct err *err)
{
	static const char sql[] = "select coalesce(max(version), 0) as v from schema_migrations";
	AUTO_ROWS *rows = NULL;
	bool exists;

	*wants = newest();
	*has = 0;
	if (!table_exists(db, &exists, err))
		return false;
	if (!exists)
		return true;
	if (!db_query(db, sql, DBV_NONE, DB_ONE, &rows, err))
		return false;
	*has = (int)row_i64(rows, 0, "v");
	return true;
}

bool db_check_version(struct db *db, struct err *err)
{
	int has, wants;

	if (!db_version(db, &has, &wants, err))
		return false;
	if (has < wants)
		return err_set(err, ERR_FAILED,
			       "database: schema version %d, this program wants %d; run `mmperf db "
			       "migrate`",
			       has, wants);
	if (has > wants)
		return err_set(err, ERR_FAILED,
			       "database: schema version %d is newer than this program (%d); "
			       "install the newer mmperf",
			       has, wants);
	return true;
}

/* An applied file must be the one that we have: edited history is refused. */
static bool check_applied(struct db *db, const struct schema_file *f, bool *applied,
			  struct err *err)
{
	static const char sql[] = "select sha256 from schema_migrations where version = $1";
	char hex[HASH_HEX_SIZE];
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(f->version)), DB_MAYBE, &rows, err))
		return false;
	*applied = rows_n(rows) == 1;
	if (!*applied)
		return true;
	hash_of(f->sql, strlen(f->sql), hex);
	if (!strcmp(hex, row_text(rows, 0, "sha256")))
		return true;
	return err_set(err, ERR_FAILED,
		       "database: schema file %s differs from the one that was applied; this "
		       "program does not match the database",
		       f->name);
}

static bool apply(struct db *db, const struct schema_file *f, struct err *err)
{
	static const char note[] =
		"insert into schema_migrations (version, name, sha256) values ($1, $2, $3)";
	CLEANUP(db_tx_end) struct db *tx = NULL;
	char hex[HASH_HEX_SIZE];

	hash_of(f->sql, strlen(f->sql), hex);
	if (!db_tx_begin(db, &tx, err) || !db_script(tx, f->sql, err) ||
	    !db_exec(tx, note, DBV(dbv_i64(f->version), dbv_text(f->name), dbv_text(hex)), err) ||
	    !db_tx_commit(&tx, err))
		return err_wrap(err, "schema file %s", f->name);
	return true;
}

bool db_migrate(struct db *db, int *applied, struct err *err)
{
	static const char make[] =
		"create table if not exists schema_migrations (version integer primary key, "
		"name text not null, sha256 text not null, applied_at timestamptz not null default "
		"now())";
	static const char lock[] = "select pg_advisory_lock(7240001)";
	static const char unlock[] = "select pg_advisory_unlock(7240001)";
	int has, wants;
	bool ok = true;

	*applied = 0;
	if (!db_exec(db, lock, DBV_NONE, err) || !db_exec(db, make, DBV_NONE, err) ||
	    !db_version(db, &has, &wants, err))
		return false;
	if (has > wants)
		ok = db_check_version(db, err);
	for (const struct schema_file *f = schema_files; ok && f->version; f++) {
		bool done;

		ok = check_applied(db, f, &done, err) && (done || apply(db, f, err));
		*applied += ok && !done;
	}
	return ok && db_exec(db, unlock, DBV_NONE, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Connection to PostgreSQL. */
#include "db/conn.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "db/conn_internal.h"
#include "db/prepared.h"
#include "db/row.h"

struct db {
	PGconn *conn;
	struct prepared *prepared;
	int64_t changed;
};

static void quiet(void *arg _unused, const char *message _unused)
{
}

/* libpq messages end in newlines and may have several lines: the first one is for the user. */
static bool set_pq_error(struct err *err, enum err_kind kind, const char *what, const char *message)
{
	AUTO_FREE char *text = xstrdup(message ? message : "");
	char *line = str_trim(text);

	line[strcspn(line, "\n")] = '\0';
	return err_set(err, kind, "%s: %s", what, *line ? line : "no answer");
}

bool db_open(const char *conninfo, const char *application, struct db **out, struct err *err)
{
	const char *const keys[] = {"dbname", "application_name", "connect_timeout", "options",
				    NULL};
	const char *const values[] = {conninfo, application, "10",
				      "-c timezone=UTC -c client_encoding=UTF8", NULL};
	CLEANUP(db_close_ptr) struct db *db = xcalloc(1, sizeof(*db));

	db->conn = PQconnectdbParams(keys, values, 1);
	if (PQstatus(db->conn) != CONNECTION_OK) {
		set_pq_error(err, ERR_DBDOWN, "database", PQerrorMessage(db->conn));
		return err_wrap(
			err,
			"cannot connect (is PostgreSQL running? `mmperf up` starts a private one)");
	}
	PQsetNoticeProcessor(db->conn, quiet, NULL);
	db->prepared = prepared_new();
	*out = TAKE(db);
	return true;
}

void db_close(struct db *db)
{
	if (!db)
		return;
	PQfinish(db->conn);
	prepared_free(db->prepared);
	free(db);
}

void db_close_ptr(struct db **db)
{
	db_close(*db);
}

static char *array_text(const struct dbv *v)
{
	AUTO_STR s = str_new();

	str_addc(&s, '{');
	for (size_t i = 0; i < v->n; i++) {
		if (i)
			str_addc(&s, ',');
		if (v->type == DBV_I64S_)
			str_addf(&s, "%lld", (long long)v->is[i]);
		else
			str_addf(&s, "%.17g", v->fs[i]);
	}
	str_addc(&s, '}');
	return str_take(&s);
}

/* The value as text, newly allocated; NULL for SQL NULL. */
static char *value_text(const struct dbv *v)
{
	switch (v->type) {
	case DBV_I64_:
		return xasprintf("%lld", (long long)v->i);
	case DBV_F64_:
		return xasprintf("%.17g", v->f);
	case DBV_BOOL_:
		return xstrdup(v->i ? "t" : "f");
	case DBV_TEXT_:
		return xstrdup(v->text);
	case DBV_I64S_:
	case DBV_F64S_:
		return array_text(v);
	case DBV_NULL_:
	case DBV_END_:
		break;
	}
	return NULL;
}

struct texts {
	char **v;
	int n;
};

static void texts_release(struct texts *texts)
{
	for (int i = 0; i < texts->n; i++)
		free(texts->v[i]);
	free(texts->v);
}

static struct texts texts_of(const struct dbv *values)
{
	struct texts texts = {0};

	while (values[texts.n].type != DBV_END_)
		texts.n++;
	texts.v = xcalloc((size_t)texts.n + 1, sizeof(*texts.v));
	for (int i = 0; i < texts.n; i++)
		texts.v[i] = value_text(&values[i]);
	return texts;
}

/* "select ...": enough of the statement to find it in the source. */
static char *statement_label(const char *sql)
{
	AUTO_FREE char *copy = xstrndup(sql + strspn(sql, " \t\n"), 60);

	for (char *p = copy; *p; p++)
		if (*p == '\n' || *p == '\t')
			*p = ' ';
	return TAKE(copy);
}

static bool fail_result(struct db *db, const char *sql, const PGresult *result, struct err *err)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
	const char *detail = PQresultErrorField(result, PG_DIAG_MESSAGE_DETAIL);
	AUTO_FREE char *label = statement_label(sql);
	enum err_kind kind = ERR_FAILED;

	/* 57P01 admin shutdown, 57P02 crash, 57P03 starting up, class 08 connection. An error without
	 * a state comes from libpq itself: the server is gone, though the status may still say OK. */
	if (PQstatus(db->conn) != CONNECTION_OK || !state || str_starts(state, "57P0") ||
	    str_starts(state, "08"))
		kind = ERR_DBDOWN;
	else if (!strcmp(state, "23505") || !strcmp(state, "40001") || !strcmp(state, "40P01"))
		kind = ERR_CONFLICT;
	set_pq_error(err, kind, "database",
		     result ? PQresultErrorMessage(result) : PQerrorMessage(db->conn));
	if (kind == ERR_DBDOWN)
		return false;
	if (detail) {
		size_t n = strlen(err->msg);

		snprintf(err->msg + n, sizeof(err->msg) - n, " (%s)", detail);
	}
	return err_wrap(err, "`%s...`", label);
}

static bool shape_ok(enum db_want want, int n, const char *sql, struct err *err)
{
	AUTO_FREE char *label = NULL;

	if (want == DB_NONE || want == DB_MANY || n == 1 || (want == DB_MAYBE && n == 0))
		return true;
	label = statement_label(sql);
	if (want == DB_ONE && n == 0)
		return err_set(err, ERR_NOTFOUND, "database: no row from `%s...`", label);
	return err_set(err, ERR_FAILED, "database: %d rows from `%s...`, one was expected", n,
		       label);
}

bool db_query(struct db *db, const char *sql, const struct dbv *values, enum db_want want,
	      struct rows **rows, struct err *err)
{
	CLEANUP(texts_release) struct texts texts = texts_of(values);
	AUTO_ROWS *got = xcalloc(1, sizeof(*got));
	ExecStatusType status;

	got->result =
		prepared_exec(db->prepared, db->conn, sql, texts.n, (const char *const *)texts.v);
	status = PQresultStatus(got->result);
	if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
		return fail_result(db, sql, got->result, err);
	if (!shape_ok(want, PQntuples(got->result), sql, err))
		return false;
	db->changed = strtoll(PQcmdTuples(got->result), NULL, 10);
	if (rows) {
		rows_free(*rows);
		*rows = TAKE(got);
	}
	return true;
}

bool db_exec(struct db *db, const char *sql, const struct dbv *values, struct err *err)
{
	return db_query(db, sql, values, DB_NONE, NULL, err);
}

int64_t db_changed(const struct db *db)
{
	return db->changed;
}

bool db_script(struct db *db, const char *sql, struct err *err)
{
	PGresult *result = PQexec(db->conn, sql);
	ExecStatusType status = PQresultStatus(result);
	bool ok = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK ||
		  status == PGRES_EMPTY_QUERY;

	if (!ok)
		fail_result(db, sql, result, err);
	PQclear(result);
	return ok;
}

bool db_begin(struct db *db, struct err *err)
{
	return db_script(db, "begin", err);
}

bool db_commit(struct db *db, struct err *err)
{
	/* A failed transaction turns commit into rollback without an error: look at the state. */
	if (PQtransactionStatus(db->conn) == PQTRANS_INERROR) {
		db_rollback(db);
		return err_set(err, ERR_FAILED,
			       "database: the transaction had failed before commit");
	}
	return db_script(db, "commit", err);
}

void db_rollback(struct db *db)
{
	PGTransactionStatusType state = PQtransactionStatus(db->conn);

	if (state == PQTRANS_INTRANS || state == PQTRANS_INERROR)
		PQclear(PQexec(db->conn, "rollback"));
}

bool db_tx_begin(struct db *db, struct db **tx, struct err *err)
{
	if (!db_begin(db, err))
		return false;
	*tx = db;
	return true;
}

bool db_tx_commit(struct db **tx, struct err *err)
{
	struct db *db = TAKE(*tx);

	if (db_commit(db, err))
		return true;
	db_rollback(db);
	return false;
}

void db_tx_end(struct db **tx)
{
	if (*tx)
		db_rollback(*tx);
}

bool db_copy_begin(struct db *db, const char *sql, struct err *err)
{
	PGresult *result = PQexec(db->conn, sql);
	bool ok = PQresultStatus(result) == PGRES_COPY_IN;

	if (!ok)
		fail_result(db, sql, result, err);
	PQclear(result);
	return ok;
}

bool db_copy_data(struct db *db, const char *data, size_t n, struct err *err)
{
	while (n) {
		int part = n > 1 << 20 ? 1 << 20 : (int)n;

		if (PQputCopyData(db->conn, data, part) != 1)
			return set_pq_error(err, ERR_DBDOWN, "database", PQerrorMessage(db->conn));
		data += part;
		n -= (size_t)part;
	}
	return true;
}

bool db_copy_end(struct db *db, struct err *err)
{
	PGresult *result;
	bool ok;

	if (PQputCopyEnd(db->conn, NULL) != 1)
		return set_pq_error(err, ERR_DBDOWN, "database", PQerrorMessage(db->conn));
	result = PQgetResult(db->conn);
	ok = PQresultStatus(result) == PGRES_COMMAND_OK;
	if (!ok)
		fail_result(db, "copy", result, err);
	while (result) {
		PQclear(result);
		result = PQgetResult(db->conn);
	}
	return ok;
}

bool db_listen(struct db *db, const char *channel, struct err *err)
{
	AUTO_FREE char *sql = NULL;
	char *name = PQescapeIdentifier(db->conn, channel, strlen(channel));

	if (!name)
		return set_pq_error(err, ERR_FAILED, "database", PQerrorMessage(db->conn));
	sql = xasprintf("listen %s", name);
	PQfreemem(name);
	return db_script(db, sql, err);
}

/* What has come; waits for nothing. */
static bool take_notifications(struct db *db, bool *any, struct err *err)
{
	PGnotify *note;

	if (!PQconsumeInput(db->conn))
		return set_pq_error(err, ERR_DBDOWN, "database", PQerrorMessage(db->conn));
	*any = false;
	while ((note = PQnotifies(db->conn))) {
		PQfreemem(note);
		*any = true;
	}
	return true;
}

bool db_wait(struct db *db, double timeout_s, const volatile int *stop, int other_fd, bool *got,
	     struct err *err)
{
	double end = clock_mono_s() + timeout_s;

	if (!take_notifications(db, got, err))
		return false;
	while (!*got && !(stop && *stop)) {
		struct pollfd fds[] = {{.fd = PQsocket(db->conn), .events = POLLIN},
				       {.fd = other_fd, .events = POLLIN}};
		double left = end - clock_mono_s();
		int n;

		if (left <= 0)
			break;
		/* Short naps, so that a signal between the look at *stop and poll() is not lost. */
		n = poll(fds, other_fd >= 0 ? 2 : 1, left < 0.25 ? (int)(left * 1000) + 1 : 250);
		if (n < 0 && errno != EINTR)
			return err_sys(err, "poll");
		if (n > 0 && other_fd >= 0 && fds[1].revents)
			break;
		if (n > 0 && fds[0].revents && !take_notifications(db, got, err))
			return false;
	}
	return true;
}

bool db_try_lock(struct db *db, int64_t key, bool *got, struct err *err)
{
	static const char sql[] = "select pg_try_advisory_lock($1::bigint) as got";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(key)), DB_ONE, &rows, err))
		return false;
	*got = row_bool(rows, 0, "got");
	return true;
}

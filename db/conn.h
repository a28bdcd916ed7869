/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_CONN_H
#define DB_CONN_H

/*
 * The connection to PostgreSQL. Values go in as parameters, never inside SQL text.
 *
 *   CLEANUP(rows_free_ptr) struct rows *rows = NULL;
 *   if (!db_query(db, sql, DBV(dbv_i64(id), dbv_text(name)), DB_ONE, &rows, err))
 *
 * A lost connection is ERR_DBDOWN; a unique violation is ERR_CONFLICT.
 */

#include "base/str.h"

#include <stdint.h>

struct db;
struct rows;

/* conninfo: libpq keywords or URI. application names the program in pg_stat_activity. */
bool db_open(const char *conninfo, const char *application, struct db **out,
	     struct err *err) _must_check;
void db_close(struct db *db);
void db_close_ptr(struct db **db);

enum dbv_type {
	DBV_END_,
	DBV_NULL_,
	DBV_I64_,
	DBV_F64_,
	DBV_BOOL_,
	DBV_TEXT_,
	DBV_I64S_,
	DBV_F64S_
};

struct dbv {
	enum dbv_type type;
	size_t n;
	union {
		int64_t i;
		double f;
		const char *text;
		const int64_t *is;
		const double *fs;
	};
};

static inline struct dbv dbv_null(void)
{
	return (struct dbv){.type = DBV_NULL_};
}

static inline struct dbv dbv_i64(int64_t i)
{
	return (struct dbv){.type = DBV_I64_, .i = i};
}

/* 0 becomes NULL: for optional references. */
static inline struct dbv dbv_id(int64_t id)
{
	return id ? dbv_i64(id) : dbv_null();
}

static inline struct dbv dbv_f64(double f)
{
	return (struct dbv){.type = DBV_F64_, .f = f};
}

static inline struct dbv dbv_bool(bool b)
{
	return (struct dbv){.type = DBV_BOOL_, .i = b};
}

/* NULL becomes SQL NULL. The text must be UTF-8 and is borrowed until the call returns. */
static inline struct dbv dbv_text(const char *text)
{
	return text ? (struct dbv){.type = DBV_TEXT_, .text = text} : dbv_null();
}

/* Arrays, as '{...}' (cast in SQL: $1::bigint[], $2::float8[]). */
static inline struct dbv dbv_i64s(const int64_t *v, size_t n)
{
	return (struct dbv){.type = DBV_I64S_, .n = n, .is = v};
}

static inline struct dbv dbv_f64s(const double *v, size_t n)
{
	return (struct dbv){.type = DBV_F64S_, .n = n, .fs = v};
}

#define DBV(...) ((const struct dbv[]){__VA_ARGS__, {.type = DBV_END_}})
#define DBV_NONE ((const struct dbv[]){{.type = DBV_END_}})

/* The shape a statement must have; another shape is an error. */
enum db_want {
	DB_NONE,  /* no rows come back, or they do not matter; rows may be NULL */
	DB_ONE,	  /* exactly one row; none is ERR_NOTFOUND */
	DB_MAYBE, /* none or one */
	DB_MANY,  /* any number */
};

bool db_query(struct db *db, const char *sql, const struct dbv *values, enum db_want want,
	      struct rows **rows, struct err *err) _must_check;
/* db_query(DB_NONE) without rows. */
bool db_exec(struct db *db, const char *sql, const struct dbv *values, struct err *err) _must_check;
/* How many rows the last db_query()/db_exec() changed. */
int64_t db_changed(const struct db *db);
/* Several statements in one text, without values (schema files). */
bool db_script(struct db *db, const char *sql, struct err *err) _must_check;

bool db_begin(struct db *db, struct err *err) _must_check;
bool db_commit(struct db *db, struct err *err) _must_check;
/* Safe when no transaction is open or the connection is gone. */
void db_rollback(struct db *db);

/* For `CLEANUP(db_tx_end) struct db *tx = NULL;` db_tx_begin(); ... db_tx_commit(): rolls back on
 * every early return. */
bool db_tx_begin(struct db *db, struct db **tx, struct err *err) _must_check;
bool db_tx_commit(struct db **tx, struct err *err) _must_check;
void db_tx_end(struct db **tx);

/* COPY ... FROM STDIN: text format. Rows are given as whole buffers. */
bool db_copy_begin(struct db *db, const char *sql, struct err *err) _must_check;
bool db_copy_data(struct db *db, const char *data, size_t n, struct err *err) _must_check;
bool db_copy_end(struct db *db, struct err *err) _must_check;

bool db_listen(struct db *db, const char *channel, struct err *err) _must_check;
/*
 * Waits for a notification, at most timeout_s; *got tells whether one came (all pending ones are
 * taken). Returns early, without error, when *stop becomes non-zero (may be NULL) or other_fd (-1
 * for none) is readable.
 */
bool db_wait(struct db *db, double timeout_s, const volatile int *stop, int other_fd, bool *got,
	     struct err *err) _must_check;

/* Session-wide advisory lock; *got false when another session holds it. */
bool db_try_lock(struct db *db, int64_t key, bool *got, struct err *err) _must_check;

#endif

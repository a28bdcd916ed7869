// SPDX-License-Identifier: GPL-2.0-or-later
/* Statements that are asked again. */
#include "db/prepared.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum {
	MOST = 512, /* of texts; what comes later is parsed each time */
	NAME_SIZE = 24
};

struct statement {
	char *sql;
	uint64_t hash;
	bool kept;    /* by the server, under its number */
	bool refused; /* the server could not use what it kept */
};

struct prepared {
	struct statement v[MOST];
	size_t n;
};

struct prepared *prepared_new(void)
{
	return xcalloc(1, sizeof(struct prepared));
}

void prepared_free(struct prepared *prepared)
{
	if (!prepared)
		return;
	for (size_t i = 0; i < prepared->n; i++)
		free(prepared->v[i].sql);
	free(prepared);
}

/* FNV-1a: Fowler, Noll, Vo; draft-eastlake-fnv. */
static uint64_t hash_of_text(const char *text)
{
	uint64_t hash = 14695981039346656037U;

	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 1099511628211U;
	return hash;
}

/* NULL at the first time: it is known from now on. */
static struct statement *known(struct prepared *prepared, const char *sql)
{
	uint64_t hash = hash_of_text(sql);

	for (size_t i = 0; i < prepared->n; i++) {
		struct statement *s = &prepared->v[i];

		if (s->hash == hash && !strcmp(s->sql, sql))
			return s;
	}
	if (prepared->n < MOST)
		prepared->v[prepared->n++] = (struct statement){.sql = xstrdup(sql), .hash = hash};
	return NULL;
}

static PGresult *exec_once(PGconn *conn, const char *sql, int n, const char *const *values)
{
	return PQexecParams(conn, sql, n, NULL, values, NULL, NULL, 0);
}

/* 0A000: its columns are others since a migration. 26000: it was dropped behind our back, as poolers do. */
static bool outdated(const PGresult *result)
{
	const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);

	return state && (!strcmp(state, "0A000") || !strcmp(state, "26000"));
}

static PGresult *exec_kept(struct statement *s, const char *name, PGconn *conn, int n,
			   const char *const *values)
{
	PGresult *result = PQexecPrepared(conn, name, n, values, NULL, NULL, 0);

	s->refused = outdated(result);
	if (!s->refused || PQtransactionStatus(conn) != PQTRANS_IDLE)
		return result; /* an error in a transaction ends that, and its caller begins anew */
	PQclear(result);
	return exec_once(conn, s->sql, n, values);
}

PGresult *prepared_exec(struct prepared *prepared, PGconn *conn, const char *sql, int n,
			const char *const *values)
{
	struct statement *s = known(prepared, sql);
	char name[NAME_SIZE];

	if (!s || s->refused)
		return exec_once(conn, sql, n, values);
	snprintf(name, sizeof(name), "s%zu", (size_t)(s - prepared->v));
	if (!s->kept) {
		PGresult *result = PQprepare(conn, name, sql, n, NULL);

		if (PQresultStatus(result) != PGRES_COMMAND_OK)
			return result;
		PQclear(result);
		s->kept = true;
	}
	return exec_kept(s, name, conn, n, values);
}

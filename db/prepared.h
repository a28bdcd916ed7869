/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_PREPARED_H
#define DB_PREPARED_H

/*
 * The statements of one connection. What is asked a second time is prepared by the server, which then need not parse it
 * again and, once it knows that a plan for all values is no worse than one for these, not plan it either: of the view
 * boot_estimates, 10 ms of planning before 0.1 ms of work.
 */

#include <libpq-fe.h>

struct prepared;

struct prepared *prepared_new(void);
void prepared_free(struct prepared *prepared);

/* As PQexecParams() with n values as text. The result is the caller's, to be cleared. */
PGresult *prepared_exec(struct prepared *prepared, PGconn *conn, const char *sql, int n,
			const char *const *values);

#endif

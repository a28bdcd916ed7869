/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_CONN_INTERNAL_H
#define DB_CONN_INTERNAL_H

/* Shared by db/conn.c and db/row.c only; they and db/prepared.c are the files that know libpq. */

#include <libpq-fe.h>

struct rows {
	PGresult *result;
};

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_MIGRATE_H
#define DB_MIGRATE_H

/* The numbered schema files, embedded in the binary, applied in order under a lock. */

#include "db/conn.h"

/* Applies what is missing; *applied counts. Refuses a database that is newer than this program or
 * whose applied files differ from ours. */
bool db_migrate(struct db *db, int *applied, struct err *err) _must_check;
/* Version the database has and the one this program wants. */
bool db_version(struct db *db, int *has, int *wants, struct err *err) _must_check;
/* Fails with what to do (`mmperf db migrate`) unless the two are equal. */
bool db_check_version(struct db *db, struct err *err) _must_check;

#endif

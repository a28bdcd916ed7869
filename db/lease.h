/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_LEASE_H
#define DB_LEASE_H

/* A machine's lease without a job, for a person or a check: no boot runs there meanwhile. */

#include "db/conn.h"

/* ERR_CONFLICT names who has the machine; ERR_NOTFOUND: there is no such machine. holder: for others to
 * read. */
bool lease_take(struct db *db, const char *machine, const char *holder, double lease_s,
		int64_t *token, struct err *err) _must_check;
/* ERR_CONFLICT when it was lost: touch the machine no more. */
bool lease_refresh(struct db *db, int64_t token, double lease_s, struct err *err) _must_check;
/* Fine when it is gone. */
bool lease_drop(struct db *db, int64_t token, struct err *err) _must_check;
/* Those whose holder did not come back. */
bool leases_reap(struct db *db, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_KEEP_H
#define RUNNER_KEEP_H

/*
 * A boot's result on disk, from its end until the database has it: in the attempt's directory, whose
 * name is the token. So a result survives a database that is away and a runner that dies.
 */

#include "runner/machine.h"

/* File of the attempt's directory: the kernel's log after the run, which is kept behind what its console said. */
#define KEEP_DMESG "dmesg"

/* failure: why machine_boot() failed; left: why the machine did not come home behind a result that counts. NULL when they did
 * not, or it is not known yet; may be called again. */
bool keep_write(const struct machine *m, const struct err *failure, const struct err *left,
		struct err *err) _must_check;
/*
 * Stores what is kept in dir. *found false: there is nothing. On success, and when the lease was lost
 * (ERR_CONFLICT), dir is removed. Other errors leave it for a later try.
 */
bool keep_store(struct db *db, struct store *store, const char *dir, bool *found,
		struct err *err) _must_check;

#endif

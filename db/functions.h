/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_FUNCTIONS_H
#define DB_FUNCTIONS_H

/* Functions of kernels: where their digests are kept, and which of them a benchmark spends its time in. */

#include "base/hash.h"
#include "base/str.h"
#include "db/conn.h"

/* Artifact of a build with the digests of its functions; "" when they are not known. */
bool functions_artifact(struct db *db, int64_t build, char sha256[HASH_HEX_SIZE],
			struct err *err) _must_check;

/*
 * What the last profiles of the searched benchmark in its class found at the top of the stack in at least so large a share
 * of their samples, whichever kernel ran, and the sites of lock waits in the boots of the proof. Nothing without a profile:
 * that a lock is waited for in a function does not tell where the time before goes.
 */
bool functions_hot(struct db *db, int64_t bisection, double share, struct strs *out,
		   struct err *err) _must_check;

#endif

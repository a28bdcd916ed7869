/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_MACHINE_H
#define DB_MACHINE_H

/* Hosts, machine classes and machines, as a runner registers them from its settings. */

#include "db/conn.h"

/* Inserts or updates the host; toolchain 0 = builds nothing. Marks it as seen now. */
bool host_upsert(struct db *db, const char *name, int64_t toolchain, int cpus, int64_t *id,
		 struct err *err) _must_check;
/* Marks the host as seen now. */
bool host_seen(struct db *db, int64_t id, struct err *err) _must_check;
/* ERR_USAGE when the class exists with another driver: classes are shared by all hosts. */
bool class_upsert(struct db *db, const char *name, const char *driver, bool emulated, int64_t *id,
		  struct err *err) _must_check;
/* Inserts or moves the machine; its state and note stay as they are. */
bool machine_upsert(struct db *db, const char *name, int64_t class_id, int64_t host, int64_t *id,
		    struct err *err) _must_check;
/* The caller frees it; "?" when there is no such machine. */
bool machine_name(struct db *db, int64_t id, char **name, struct err *err) _must_check;
/* Machines of the host that are in no settings any more go offline; names joined by newlines. */
bool machine_retire(struct db *db, int64_t host, const char *names, struct err *err) _must_check;
/* What a person must know before touching a machine: *state (up, offline, quarantined; NULL when the
 * database does not know it; the caller frees it) and the token of its living lease, 0 for none. */
bool machine_holder(struct db *db, const char *name, char **state, int64_t *token,
		    struct err *err) _must_check;

/* sha256 of the console of its last boot that kept one (the caller frees it), and that boot's
 * outcome; ERR_NOTFOUND when there is none. */
bool machine_last_console(struct db *db, const char *name, char **sha256, char **outcome,
			  struct err *err) _must_check;

#endif

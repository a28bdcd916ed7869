/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_MACHINE_EVENT_H
#define DB_MACHINE_EVENT_H

/* What happened to a machine, and who has to be told. */

#include "base/js.h"
#include "db/conn.h"

/* {name, class, driver, host, state, note, failures, owner, holder, boots: [{method, outcome, n,
 * median_s, last}], events: [{at, kind, text}]}; texts may be hostile. ERR_NOTFOUND. */
bool machine_show_read(struct db *db, const char *machine, json_t **out,
		       struct err *err) _must_check;

/* kind: quarantined, released, recovered, checked; text: for a person. Nobody has to be told of it. */
bool machine_event_add(struct db *db, const char *machine, const char *kind, const char *text,
		       struct err *err) _must_check;

/* Whom to tell about the machine; NULL: nobody. From its settings. */
bool machine_owner_set(struct db *db, const char *machine, const char *owner,
		       struct err *err) _must_check;

struct machine_event {
	int64_t id;				  /* 0: there is none */
	char *machine, *kind, *text, *at, *owner; /* owner may be NULL */
};

void machine_event_release(struct machine_event *event);
/* The oldest one of which nobody was told. */
bool machine_event_next(struct db *db, struct machine_event *out, struct err *err) _must_check;
bool machine_event_told(struct db *db, int64_t id, struct err *err) _must_check;

#endif

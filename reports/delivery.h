/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_DELIVERY_H
#define REPORTS_DELIVERY_H

/*
 * From proved regressions to mails that went out once. States and their order are in
 * db/outbox.h. Reports from emulated classes go to the lab's recipients or into the spool, never
 * elsewhere; without a server everything goes into the spool.
 */

#include "base/smtp.h"
#include "db/outbox.h"
#include "db/settings.h"

/* What was done on the outside and could not be written down yet: the database was away. */
struct delivery_debt {
	int64_t id; /* outbox row; 0 = none */
	enum smtp_outcome outcome;
	int tries;
	struct err why;
};

struct delivery {
	const struct settings *settings; /* borrowed */
	char *spool_dir;
	char *pages_dir;
	char *page_base; /* [report] url, else pages_dir */
	char *from;
	char *from_address;
	struct smtp_server server; /* url NULL: none */
	struct delivery_debt debt;
};

/* Checks every address in the settings. settings must outlive it. */
bool delivery_init(const struct settings *settings, struct delivery *out,
		   struct err *err) _must_check;
void delivery_release(struct delivery *delivery);

/* Once at start: mails found in sending are settled when the spool tells, else made unsure. */
bool delivery_recover(struct delivery *delivery, struct db *db, struct err *err) _must_check;
/* After a reconnect: writes down how the last mail ended. */
bool delivery_settle(struct delivery *delivery, struct db *db, struct err *err) _must_check;
/* A queued mail for each regression that wants one. A report that cannot be made is logged and
 * does not hold up the others. */
bool delivery_queue(struct delivery *delivery, struct db *db, struct err *err) _must_check;
/* Sends what is due, until *stop. */
bool delivery_send(struct delivery *delivery, struct db *db, const volatile int *stop,
		   struct err *err) _must_check;

/* Waiting time after the n-th failed try (from 1): one minute, doubled up to one hour. */
double delivery_backoff_s(int tries);

#endif

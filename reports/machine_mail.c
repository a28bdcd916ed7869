// SPDX-License-Identifier: GPL-2.0-or-later
/* Mails about machines. */
#include "reports/machine_mail.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "db/machine_event.h"
#include "reports/header.h"
#include "reports/mail.h"

static void add_body(const struct machine_event *e, struct str *out)
{
	str_addf(out,
		 "Machine %s was taken out of service at %s UTC:\n\n    %s\n\n"
		 "No boot runs on it until it is taken back. Its state and what happened to it:\n\n"
		 "    mmperf machine show %s\n\n"
		 "When it is repaired, look at it and take it back:\n\n"
		 "    mmperf machine check %s\n    mmperf machine release %s\n\n"
		 "This is the only mail about this.\n",
		 e->machine, e->at, e->text, e->machine, e->machine, e->machine);
}

static bool recipients(const struct delivery *d, const struct machine_event *e, struct strs *to,
		       struct strs *envelope, struct err *err)
{
	AUTO_FREE char *name = NULL, *address = NULL;

	if (!e->owner)
		return true;
	if (!header_mailbox_parse(e->owner, &name, &address, err))
		return err_wrap(err, "owner of machine %s", e->machine);
	strs_push(to, e->owner);
	if (d->server.url)
		strs_push(envelope, address);
	return true;
}

static bool compose(const struct delivery *d, const struct machine_event *e,
		    struct outbox_mail *mail, struct err *err)
{
	AUTO_STR body = str_new(), message = str_new();
	AUTO_STRS to = STRS_INIT;
	struct mail parts = {.from = d->from, .to = &to, .date_s = clock_wall_s()};

	mail->subject = xasprintf("machine %s is out of service", e->machine);
	add_body(e, &body);
	if (!recipients(d, e, &to, &mail->recipients, err) ||
	    !mail_new_id(d->from, e->id, "machine", &mail->message_id, err))
		return false;
	parts.subject = mail->subject;
	parts.body = body.s;
	parts.message_id = mail->message_id;
	if (!mail_build(&parts, &message, err))
		return false;
	mail->message = str_take(&message);
	return true;
}

/* A mail that cannot be made is logged once and not tried for ever. */
static bool queue_one(const struct delivery *d, struct db *db, const struct machine_event *e,
		      struct err *err)
{
	CLEANUP(outbox_mail_release) struct outbox_mail mail = {0};
	CLEANUP(db_tx_end) struct db *tx = NULL;
	struct err why;
	bool made = compose(d, e, &mail, &why), fresh;

	if (!made)
		log_error("machine %s: nobody is told: %s", e->machine, why.msg);
	if (!db_tx_begin(db, &tx, err) || (made && !outbox_add(db, &mail, &fresh, err)) ||
	    !machine_event_told(db, e->id, err) || !db_tx_commit(&tx, err))
		return false;
	if (made)
		log_info("machine %s: %s", e->machine, mail.subject);
	return true;
}

bool machine_mail_queue(struct delivery *d, struct db *db, struct err *err)
{
	for (;;) {
		CLEANUP(machine_event_release) struct machine_event e = {0};

		if (!machine_event_next(db, &e, err))
			return false;
		if (!e.id)
			return true;
		if (!queue_one(d, db, &e, err))
			return false;
	}
}

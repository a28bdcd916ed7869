// SPDX-License-Identifier: GPL-2.0-or-later
/* Sends reports once. */
#include "reports/delivery.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "reports/format.h"
#include "reports/header.h"
#include "reports/mail.h"
#include "reports/spool.h"

enum {
	MOST_TRIES = 30,     /* over a day */
	MOST_FIRM_TRIES = 5, /* of what a wait alone hardly mends */
};

static bool check_list(const struct conf *conf, const char *key, struct err *err)
{
	const struct strs *list = conf_list(conf, "mail", NULL, key);

	for (size_t i = 0; list && i < list->n; i++) {
		AUTO_FREE char *name = NULL;
		AUTO_FREE char *address = NULL;

		if (!header_mailbox_parse(list->v[i], &name, &address, err))
			return err_wrap(err, "setting mail.%s", key);
	}
	return true;
}

static bool check_addresses(struct delivery *d, const struct conf *conf, struct err *err)
{
	AUTO_FREE char *name = NULL;

	if (!header_mailbox_parse(d->from, &name, &d->from_address, err))
		return err_wrap(err, "setting mail.from");
	return check_list(conf, "to", err) && check_list(conf, "lab", err);
}

bool delivery_init(const struct settings *settings, struct delivery *out, struct err *err)
{
	const struct conf *conf = settings->conf;
	const char *url = conf_str(conf, "report", NULL, "url");
	CLEANUP(delivery_release)
	struct delivery d = {
		.settings = settings,
		.spool_dir = settings_path(settings, "spool"),
		.pages_dir = settings_path(settings, "pages"),
		.from = xstrdup(conf_str(conf, "mail", NULL, "from")),
		.server = {.url = conf_str(conf, "mail", NULL, "server"),
			   .user = conf_str(conf, "mail", NULL, "user"),
			   .password_file = conf_str(conf, "mail", NULL, "password-file"),
			   .starttls = conf_bool(conf, "mail", NULL, "starttls"),
			   .ca_file = conf_str(conf, "mail", NULL, "ca-file"),
			   .timeout_s = 60},
	};

	d.page_base = xstrdup(url ? url : d.pages_dir);
	if (!check_addresses(&d, conf, err))
		return false;
	*out = d;
	d = (struct delivery){0};
	return true;
}

void delivery_release(struct delivery *d)
{
	free(d->spool_dir);
	free(d->pages_dir);
	free(d->page_base);
	free(d->from);
	free(d->from_address);
	*d = (struct delivery){0};
}

double delivery_backoff_s(int tries)
{
	double wait_s = 60;

	while (--tries > 0 && wait_s < 3600)
		wait_s *= 2;
	return wait_s < 3600 ? wait_s : 3600;
}

static bool recover_one(struct delivery *d, struct db *db, const struct outbox_mail *mail,
			struct err *err)
{
	static const char why[] = "the reporter ended while it was sending this; look at the mail "
				  "server's log, then run `mmperf-reporter --mark-sent` or "
				  "`--send-again` with its Message-ID";

	if (spool_has(d->spool_dir, mail->message_id))
		return outbox_sent(db, mail->id, err);
	if (!mail->recipients.n)
		return outbox_defer(db, mail->id, 0, "the reporter ended before it was written",
				    err);
	log_warn("mail %s: %s", mail->message_id, why);
	return outbox_unsure(db, mail->id, why, err);
}

bool delivery_recover(struct delivery *d, struct db *db, struct err *err)
{
	for (;;) {
		CLEANUP(outbox_mail_release) struct outbox_mail mail = {0};
		bool got;

		if (!outbox_stale(db, &mail, &got, err))
			return false;
		if (!got)
			return true;
		if (!recover_one(d, db, &mail, err))
			return false;
	}
}

/* Who gets it: bare addresses for the envelope; none means the spool, now and for ever. */
static bool envelope(const struct delivery *d, const struct strs *mailboxes, struct strs *out,
		     struct err *err)
{
	for (size_t i = 0; d->server.url && mailboxes && i < mailboxes->n; i++) {
		AUTO_FREE char *name = NULL;
		AUTO_FREE char *address = NULL;

		if (!header_mailbox_parse(mailboxes->v[i], &name, &address, err))
			return false;
		if (!strs_has(out, address))
			strs_push(out, address);
	}
	return true;
}

static bool compose(struct delivery *d, const struct report *report, struct outbox_mail *mail,
		    struct err *err)
{
	static const struct strs nobody = STRS_INIT;
	const struct report_facts *facts = &report->facts;
	const struct strs *to =
		conf_list(d->settings->conf, "mail", NULL, facts->emulated ? "lab" : "to");
	AUTO_STR subject = str_new();
	AUTO_STR body = str_new();
	AUTO_STR message = str_new();
	struct mail parts = {.from = d->from,
			     .to = to ? to : &nobody,
			     .in_reply_to = facts->culprit.message_id,
			     .date_s = clock_wall_s(),
			     .regression = facts->id};

	report_add_title(report, &subject);
	format_text_write(&body, report);
	if (!envelope(d, to, &mail->recipients, err) ||
	    !mail_new_id(d->from, facts->id, facts->culprit.oid, &mail->message_id, err))
		return false;
	parts.subject = subject.s;
	parts.body = body.s;
	parts.message_id = mail->message_id;
	if (!mail_build(&parts, &message, err))
		return false;
	mail->regression = facts->id;
	mail->subject = str_take(&subject);
	mail->message = str_take(&message);
	return true;
}

static bool queue_one(struct delivery *d, struct db *db, int64_t regression, struct err *err)
{
	CLEANUP(report_release) struct report report = {0};
	CLEANUP(outbox_mail_release) struct outbox_mail mail = {0};
	bool fresh;

	if (!report_read(db, regression, d->page_base, &report, err) ||
	    !compose(d, &report, &mail, err) || !outbox_add(db, &mail, &fresh, err))
		return false;
	if (fresh)
		log_info("regression %lld: %s", (long long)regression, mail.subject);
	return true;
}

bool delivery_queue(struct delivery *d, struct db *db, struct err *err)
{
	AUTO_FREE int64_t *ids = NULL;
	size_t n = 0;

	if (!outbox_wanting(db, &ids, &n, err))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (queue_one(d, db, ids[i], err))
			continue;
		if (err->kind == ERR_DBDOWN)
			return false;
		log_error("regression %lld: no report: %s", (long long)ids[i], err->msg);
	}
	return true;
}

/* A full disk passes: the try does not count. */
static void put_in_spool(struct delivery *d, const struct outbox_mail *mail,
			 struct delivery_debt *debt)
{
	struct err err = {0};
	AUTO_FREE char *path = spool_path(d->spool_dir, mail->message_id);

	if (spool_put(d->spool_dir, mail->message_id, mail->message, &err)) {
		debt->outcome = SMTP_SENT;
		log_info("mail %s: written to %s", mail->message_id, path);
		return;
	}
	debt->outcome = SMTP_REFUSED;
	debt->tries = 1;
	debt->why = err;
	log_error("mail %s: %s; tried again in %.0f s", mail->message_id, err.msg,
		  delivery_backoff_s(1));
}

static void put_on_wire(struct delivery *d, const struct outbox_mail *mail,
			struct delivery_debt *debt)
{
	AUTO_STR message = str_new();
	struct err err = {0};

	str_add(&message, mail->message);
	debt->outcome = smtp_send(&d->server, d->from_address, &mail->recipients, &message, &err);
	debt->why = err;
	if (debt->outcome == SMTP_SENT)
		log_info("mail %s: sent to %zu recipients", mail->message_id, mail->recipients.n);
	else if (debt->outcome == SMTP_UNSURE)
		log_error("mail %s: nobody knows whether it went out, a person has to look: %s",
			  mail->message_id, err.msg);
	else
		log_warn("mail %s: not taken: %s", mail->message_id, err.msg);
}

bool delivery_settle(struct delivery *d, struct db *db, struct err *err)
{
	struct delivery_debt *debt = &d->debt;
	bool ok = true;

	if (!debt->id)
		return true;
	if (debt->outcome == SMTP_SENT)
		ok = outbox_sent(db, debt->id, err);
	else if (debt->outcome == SMTP_UNSURE)
		ok = outbox_unsure(db, debt->id, debt->why.msg, err);
	else if (debt->tries >= (debt->why.kind == ERR_USAGE ? MOST_FIRM_TRIES : MOST_TRIES))
		ok = outbox_refuse(db, debt->id, debt->why.msg, err);
	else
		ok = outbox_defer(db, debt->id, delivery_backoff_s(debt->tries), debt->why.msg,
				  err);
	if (!ok && err->kind != ERR_CONFLICT)
		return false;
	if (!ok)
		log_warn("%s", err->msg);
	debt->id = 0;
	return true;
}

bool delivery_send(struct delivery *d, struct db *db, const volatile int *stop, struct err *err)
{
	while (!*stop) {
		CLEANUP(outbox_mail_release) struct outbox_mail mail = {0};
		bool got;

		if (!outbox_claim(db, &mail, &got, err))
			return false;
		if (!got)
			return true;
		d->debt = (struct delivery_debt){.id = mail.id, .tries = mail.tries};
		if (mail.recipients.n && d->server.url)
			put_on_wire(d, &mail, &d->debt);
		else
			put_in_spool(d, &mail, &d->debt);
		if (!delivery_settle(d, db, err))
			return false;
	}
	return true;
}

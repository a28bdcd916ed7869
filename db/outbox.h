/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_OUTBOX_H
#define DB_OUTBOX_H

/*
 * Mails that are to be sent once.
 *
 *   queued --claim--> sending --sent--> sent
 *                       |  \--defer--> queued (not before a later time)
 *                       |   \--refuse--> refused (a person has to look)
 *                       \--unsure--> unsure: nobody knows whether it went out; a person decides
 *
 * claim is committed before anything is done on the outside. The body column holds the whole
 * message as it goes over the wire, so that a retry sends the same bytes. Empty recipients mean
 * the spool directory, for good: such a mail never goes to a server.
 */

#include "db/conn.h"

struct outbox_mail {
	int64_t id;
	char *message_id; /* without <> */
	int64_t regression;
	struct strs recipients; /* bare addresses */
	char *subject;		/* plain UTF-8, for lists */
	char *message;		/* RFC 5322, CRLF */
	int tries;
};

void outbox_mail_release(struct outbox_mail *mail);

/* Regressions in state proved without a mail; *ids is the caller's to free. */
bool outbox_wanting(struct db *db, int64_t **ids, size_t *n, struct err *err) _must_check;
/* Inserts as queued; *fresh is false, and nothing changes, when the regression has a mail. */
bool outbox_add(struct db *db, const struct outbox_mail *mail, bool *fresh,
		struct err *err) _must_check;
/* The oldest queued mail whose time has come, made sending and committed; *got false when none. */
bool outbox_claim(struct db *db, struct outbox_mail *mail, bool *got, struct err *err) _must_check;
/* One mail that is in sending; ask at start, before the first claim. */
bool outbox_stale(struct db *db, struct outbox_mail *mail, bool *got, struct err *err) _must_check;
/* Seconds until the next queued mail is due, at most limit_s. */
bool outbox_next_s(struct db *db, double limit_s, double *seconds, struct err *err) _must_check;

/* Ends of sending; all fail with ERR_CONFLICT when the row is in another state. sent also makes
 * the regression reported, in one transaction. */
bool outbox_sent(struct db *db, int64_t id, struct err *err) _must_check;
bool outbox_defer(struct db *db, int64_t id, double delay_s, const char *why,
		  struct err *err) _must_check;
bool outbox_refuse(struct db *db, int64_t id, const char *why, struct err *err) _must_check;
bool outbox_unsure(struct db *db, int64_t id, const char *why, struct err *err) _must_check;

/* A person's word on an unsure or refused mail: it went out (sent), or send it again (queued). */
bool outbox_settle(struct db *db, const char *message_id, bool sent, struct err *err) _must_check;

#endif

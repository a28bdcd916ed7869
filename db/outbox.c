// SPDX-License-Identifier: GPL-2.0-or-later
/* States of mails. */
#include "db/outbox.h"

#include <stdlib.h>
#include <string.h>

#include "base/js.h"
#include "db/row.h"

void outbox_mail_release(struct outbox_mail *mail)
{
	free(mail->message_id);
	strs_release(&mail->recipients);
	free(mail->subject);
	free(mail->message);
	*mail = (struct outbox_mail){0};
}

bool outbox_wanting(struct db *db, int64_t **ids, size_t *n, struct err *err)
{
	static const char sql[] =
		"select g.id from regressions g where g.state = 'proved'"
		" and not exists (select from outbox o where o.regression = g.id) order by g.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_MANY, &rows, err))
		return false;
	*n = rows_n(rows);
	*ids = xcalloc(*n, sizeof(**ids));
	for (size_t i = 0; i < *n; i++)
		(*ids)[i] = row_i64(rows, i, "id");
	return true;
}

static char *json_list(const struct strs *strs)
{
	AUTO_JSON *list = json_array();

	for (size_t i = 0; i < strs->n; i++)
		json_array_append_new(list, json_string(strs->v[i]));
	return js_text(list);
}

bool outbox_add(struct db *db, const struct outbox_mail *mail, bool *fresh, struct err *err)
{
	static const char sql[] =
		"insert into outbox (message_id, regression, recipients, subject, body)"
		" select $1, $2, array(select jsonb_array_elements_text($3::jsonb)), $4, $5"
		" on conflict do nothing";
	AUTO_FREE char *recipients = json_list(&mail->recipients);

	if (!db_exec(db, sql,
		     DBV(dbv_text(mail->message_id), dbv_id(mail->regression), dbv_text(recipients),
			 dbv_text(mail->subject), dbv_text(mail->message)),
		     err))
		return false;
	*fresh = db_changed(db) == 1;
	return true;
}

static bool take(const struct rows *rows, struct outbox_mail *mail, struct err *err)
{
	CLEANUP(outbox_mail_release)
	struct outbox_mail taken = {
		.id = row_i64(rows, 0, "id"),
		.message_id = row_dup(rows, 0, "message_id"),
		.regression = row_id(rows, 0, "regression"),
		.subject = row_dup(rows, 0, "subject"),
		.message = row_dup(rows, 0, "body"),
		.tries = (int)row_i64(rows, 0, "tries"),
	};
	const char *text = row_text(rows, 0, "recipients");
	AUTO_JSON *list = NULL;

	if (!js_parse(text, strlen(text), &list, err))
		return false;
	for (size_t i = 0; i < json_array_size(list); i++)
		strs_push(&taken.recipients, json_string_value(json_array_get(list, i)));
	*mail = taken;
	taken = (struct outbox_mail){0};
	return true;
}

bool outbox_claim(struct db *db, struct outbox_mail *mail, bool *got, struct err *err)
{
	static const char sql[] =
		"update outbox set state = 'sending', tries = tries + 1 where id = ("
		" select id from outbox where state = 'queued' and not_before <= now()"
		" order by id for update skip locked limit 1)"
		" returning id, message_id, regression, to_json(recipients)::text as recipients,"
		" subject, body, tries";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_MAYBE, &rows, err))
		return false;
	*got = rows_n(rows) == 1;
	return !*got || take(rows, mail, err);
}

bool outbox_stale(struct db *db, struct outbox_mail *mail, bool *got, struct err *err)
{
	static const char sql[] =
		"select id, message_id, regression, to_json(recipients)::text as recipients,"
		" subject, body, tries from outbox where state = 'sending' order by id limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_MAYBE, &rows, err))
		return false;
	*got = rows_n(rows) == 1;
	return !*got || take(rows, mail, err);
}

bool outbox_next_s(struct db *db, double limit_s, double *seconds, struct err *err)
{
	static const char sql[] =
		"select greatest(0, least($1::float8, "
		" coalesce(extract(epoch from min(not_before) - now()), $1::float8)))::float8 as s "
		"from outbox where state = 'queued'"; /* greatest() alone would pass over a null */
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_f64(limit_s)), DB_ONE, &rows, err))
		return false;
	*seconds = row_f64(rows, 0, "s");
	return true;
}

static bool ended(struct db *db, int64_t id, struct err *err)
{
	if (db_changed(db) == 1)
		return true;
	return err_set(err, ERR_CONFLICT, "outbox row %lld is no longer being sent", (long long)id);
}

bool outbox_sent(struct db *db, int64_t id, struct err *err)
{
	static const char mail_sql[] =
		"update outbox set state = 'sent', sent_at = now(), error = null"
		" where id = $1 and state = 'sending'";
	static const char regression_sql[] =
		"update regressions g set state = 'reported' from outbox o"
		" where o.id = $1 and g.id = o.regression and g.state = 'proved'";
	CLEANUP(db_tx_end) struct db *tx = NULL;

	return db_tx_begin(db, &tx, err) && db_exec(db, mail_sql, DBV(dbv_i64(id)), err) &&
	       ended(db, id, err) && db_exec(db, regression_sql, DBV(dbv_i64(id)), err) &&
	       db_tx_commit(&tx, err);
}

bool outbox_defer(struct db *db, int64_t id, double delay_s, const char *why, struct err *err)
{
	static const char sql[] =
		"update outbox set state = 'queued', not_before = now() + $2 * interval '1 second',"
		" error = $3 where id = $1 and state = 'sending'";

	return db_exec(db, sql, DBV(dbv_i64(id), dbv_f64(delay_s), dbv_text(why)), err) &&
	       ended(db, id, err);
}

bool outbox_refuse(struct db *db, int64_t id, const char *why, struct err *err)
{
	static const char sql[] = "update outbox set state = 'refused', error = $2"
				  " where id = $1 and state = 'sending'";

	return db_exec(db, sql, DBV(dbv_i64(id), dbv_text(why)), err) && ended(db, id, err);
}

bool outbox_unsure(struct db *db, int64_t id, const char *why, struct err *err)
{
	static const char sql[] = "update outbox set state = 'unsure', error = $2"
				  " where id = $1 and state = 'sending'";

	return db_exec(db, sql, DBV(dbv_i64(id), dbv_text(why)), err) && ended(db, id, err);
}

bool outbox_settle(struct db *db, const char *message_id, bool sent, struct err *err)
{
	static const char mail_sql[] =
		"update outbox set state = case when $2::boolean then 'sent' else 'queued' end,"
		" sent_at = case when $2 then now() end, not_before = now(), tries = 0"
		" where message_id = $1 and state in ('unsure', 'refused')";
	static const char regression_sql[] =
		"update regressions g set state = 'reported' from outbox o"
		" where o.message_id = $1 and o.state = 'sent' and g.id = o.regression"
		" and g.state = 'proved'";
	CLEANUP(db_tx_end) struct db *tx = NULL;

	if (!db_tx_begin(db, &tx, err) ||
	    !db_exec(db, mail_sql, DBV(dbv_text(message_id), dbv_bool(sent)), err))
		return false;
	if (db_changed(db) != 1)
		return err_set(err, ERR_NOTFOUND, "no mail with Message-ID %s is unsure or refused",
			       message_id);
	return db_exec(db, regression_sql, DBV(dbv_text(message_id)), err) &&
	       db_tx_commit(&tx, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Events of machines. */
#include "db/machine_event.h"

#include <stdlib.h>
#include <string.h>

#include "db/row.h"

static const char show_sql[] =
	"select json_build_object('name', m.name, 'class', c.name, 'driver', c.driver,"
	"  'host', h.name, 'state', m.state, 'note', m.note, 'failures', m.failures,"
	"  'owner', m.owner, 'holder', coalesce(l.holder, j.key),"
	"  'boots', (select coalesce(json_agg(b), '[]') from ("
	"    select method, outcome, count(*) as n,"
	"      percentile_cont(0.5) within group (order by guest_s) as median_s,"
	"      to_char(max(started_at) at time zone 'utc', 'YYYY-MM-DD HH24:MI') as last"
	"    from boots where machine = m.id and started_at > now() - interval '30 days'"
	"    group by method, outcome order by method, count(*) desc) b),"
	"  'events', (select coalesce(json_agg(e), '[]') from ("
	"    select to_char(at at time zone 'utc', 'YYYY-MM-DD HH24:MI') as at, kind, text"
	"    from machine_events where machine = m.id order by id desc limit 20) e)) as doc"
	" from machines m join classes c on c.id = m.class join hosts h on h.id = m.host"
	" left join leases l on l.machine = m.id and l.expires_at > now()"
	" left join attempts a on a.id = l.attempt left join jobs j on j.id = a.job"
	" where m.name = $1";

bool machine_show_read(struct db *db, const char *machine, json_t **out, struct err *err)
{
	AUTO_ROWS *rows = NULL;
	const char *text;

	if (!db_query(db, show_sql, DBV(dbv_text(machine)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_NOTFOUND,
			       "there is no machine \"%s\"; `mmperf machines` lists them", machine);
	text = row_text(rows, 0, "doc");
	return js_parse(text, strlen(text), out, err);
}

bool machine_event_add(struct db *db, const char *machine, const char *kind, const char *text,
		       struct err *err)
{
	static const char sql[] =
		"with e as (insert into machine_events (machine, kind, text, told_at)"
		" select id, $2, $3, now() from machines where name = $1 returning id)"
		" select pg_notify('mmperf', 'machine_events') from e";
	AUTO_ROWS *rows = NULL;

	return db_query(db, sql, DBV(dbv_text(machine), dbv_text(kind), dbv_text(text)), DB_MAYBE,
			&rows, err);
}

bool machine_owner_set(struct db *db, const char *machine, const char *owner, struct err *err)
{
	static const char sql[] =
		"update machines set owner = $2 where name = $1 and owner is distinct from $2";

	return db_exec(db, sql, DBV(dbv_text(machine), dbv_text(owner)), err);
}

void machine_event_release(struct machine_event *event)
{
	free(event->machine);
	free(event->kind);
	free(event->text);
	free(event->at);
	free(event->owner);
	*event = (struct machine_event){0};
}

bool machine_event_next(struct db *db, struct machine_event *out, struct err *err)
{
	static const char sql[] =
		"select e.id, m.name as machine, e.kind, e.text, m.owner,"
		"  to_char(e.at at time zone 'utc', 'YYYY-MM-DD HH24:MI:SS') as at"
		" from machine_events e join machines m on m.id = e.machine"
		" where e.told_at is null and e.kind = 'quarantined' order by e.id limit 1";
	AUTO_ROWS *rows = NULL;

	*out = (struct machine_event){0};
	if (!db_query(db, sql, DBV_NONE, DB_MAYBE, &rows, err) || !rows_n(rows))
		return rows != NULL;
	out->id = row_i64(rows, 0, "id");
	out->machine = row_dup(rows, 0, "machine");
	out->kind = row_dup(rows, 0, "kind");
	out->text = row_dup(rows, 0, "text");
	out->owner = row_dup(rows, 0, "owner");
	out->at = row_dup(rows, 0, "at");
	return true;
}

bool machine_event_told(struct db *db, int64_t id, struct err *err)
{
	return db_exec(db,
		       "update machine_events set told_at = now() where id = $1::bigint"
		       " and told_at is null",
		       DBV(dbv_i64(id)), err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Canaries. */
#include "db/health.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"

void patients_release(struct patients *patients)
{
	for (size_t i = 0; i < patients->n; i++) {
		struct patient *p = &patients->v[i];

		free(p->name);
		free(p->class_name);
		free(p->unjudged_state);
		free(p->unjudged_error);
		free(p->note);
	}
	free(patients->v);
	*patients = (struct patients){0};
}

static bool choose_images(struct db *db, struct err *err)
{
	static const char sql[] =
		"update classes c set canary = (select b.image from boots b"
		"  join machines m on m.id = b.machine where m.class = c.id and b.outcome = 'ok'"
		"  and b.image is not null group by b.image order by count(*) desc, b.image limit "
		"1)"
		" where c.canary is null and c.driver <> 'local'";

	return db_exec(db, sql, DBV_NONE, err);
}

static const char patients_sql[] =
	"select m.id, m.name, m.note, c.name as class_name, c.id as class,"
	"  c.driver = 'kexec' as kexec, m.state = 'quarantined' as quarantined, c.canary as image,"
	"  bu.id as build, bu.commit, (select count(*) from jobs j where j.only_machine = m.id"
	"   and j.purpose = 'canary') as n,"
	"  (select count(*) from canaries k where k.machine = m.id and k.verdict = 'drifted'"
	"   and k.job > coalesce((select max(o.job) from canaries o where o.machine = m.id"
	"    and o.verdict <> 'drifted'), 0)) as drifted,"
	"  extract(epoch from now() - coalesce(l.created_at, f.first_at))::float8 as since_s,"
	"  exists (select from machine_events e where e.machine = m.id and e.kind = 'recovered'"
	"   and (l.id is null or e.at > l.created_at)) or m.failures > 0 and coalesce((select"
	"   b.outcome = 'ok' from boots b where b.machine = m.id order by b.id desc limit 1),"
	"   false) as recovered,"
	"  (select count(*) from boots b where b.machine = m.id and b.outcome = 'ok'"
	"   and b.id > coalesce((select max(fb.id) from boots fb where fb.machine = m.id"
	"    and fb.method = 'firmware'), 0)) as boots,"
	"  coalesce(l.state in ('queued', 'running'), false) as open,"
	"  case when l.ended_at is not null and not exists (select from canaries k"
	"   where k.job = l.id) then l.id end as unjudged, l.state as unjudged_state,"
	"  l.error as unjudged_error, coalesce((select a.outcome in ('kernel', 'machine')"
	"   from attempts a where a.job = l.id order by a.n desc limit 1), false) as machine_failed"
	" from machines m join classes c on c.id = m.class"
	" join lateral (select b.id, b.commit from builds b where b.image = c.canary"
	"  order by b.id limit 1) bu on true"
	" left join lateral (select j.* from jobs j where j.only_machine = m.id"
	"  and j.purpose = 'canary' order by j.id desc limit 1) l on true"
	" left join lateral (select min(b.started_at) as first_at from boots b"
	"  where b.machine = m.id and b.outcome = 'ok') f on true"
	" where m.state = 'up' or m.state = 'quarantined' and m.probed order by m.id";

bool patients_read(struct db *db, struct patients *out, struct err *err)
{
	AUTO_ROWS *rows = NULL;

	if (!choose_images(db, err) || !db_query(db, patients_sql, DBV_NONE, DB_MANY, &rows, err))
		return err_wrap(err, "canaries");
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct patient){
			.id = row_i64(rows, i, "id"),
			.name = row_dup(rows, i, "name"),
			.note = row_dup(rows, i, "note"),
			.class_name = row_dup(rows, i, "class_name"),
			.class_id = row_i64(rows, i, "class"),
			.kexec = row_bool(rows, i, "kexec"),
			.quarantined = row_bool(rows, i, "quarantined"),
			.image = row_i64(rows, i, "image"),
			.build = row_i64(rows, i, "build"),
			.commit = row_id(rows, i, "commit"),
			.n = (int)row_i64(rows, i, "n"),
			.drifted = (int)row_i64(rows, i, "drifted"),
			.since_s = row_is_null(rows, i, "since_s") ? (double)INFINITY
								   : row_f64(rows, i, "since_s"),
			.recovered = row_bool(rows, i, "recovered"),
			.boots = (int)row_i64(rows, i, "boots"),
			.open = row_bool(rows, i, "open"),
			.unjudged = row_id(rows, i, "unjudged"),
			.unjudged_state = row_dup(rows, i, "unjudged_state"),
			.unjudged_error = row_dup(rows, i, "unjudged_error"),
			.machine_failed = row_bool(rows, i, "machine_failed"),
		};
	return true;
}

bool pulses_read(struct db *db, const struct patient *patient, struct pulse **out, size_t *n,
		 struct err *err)
{
	static const char sql[] =
		"select e.series, e.estimate, e.job = $2 as fresh from boot_estimates e"
		" left join canaries k on k.job = e.job"
		" where e.purpose = 'canary' and e.machine = $1 and e.image = $3"
		" and (e.job = $2 or k.verdict = 'passed') order by e.series, e.boot desc";
	AUTO_ROWS *rows = NULL;

	if (!db_query(
		    db, sql,
		    DBV(dbv_i64(patient->id), dbv_i64(patient->unjudged), dbv_i64(patient->image)),
		    DB_MANY, &rows, err))
		return err_wrap(err, "canaries of machine %s", patient->name);
	*n = rows_n(rows);
	*out = xcalloc(*n + 1, sizeof(**out));
	for (size_t i = 0; i < *n; i++)
		(*out)[i] = (struct pulse){
			.series = row_i64(rows, i, "series"),
			.value = row_f64(rows, i, "estimate"),
			.fresh = row_bool(rows, i, "fresh"),
		};
	return true;
}

bool canary_judged(struct db *db, const struct patient *patient, const char *verdict,
		   const char *text, struct err *err)
{
	static const char sql[] = "insert into canaries (job, machine, verdict, text)"
				  " values ($1::bigint, $2::bigint, $3, $4)"
				  " on conflict (job) do nothing";

	return db_exec(db, sql,
		       DBV(dbv_i64(patient->unjudged), dbv_i64(patient->id), dbv_text(verdict),
			   dbv_text(text)),
		       err);
}

bool patient_quarantine(struct db *db, int64_t machine, const char *note, struct err *err)
{
	static const char sql[] = "update machines set state = 'quarantined', probed = true,"
				  " note = $2 where id = $1::bigint and state = 'up'";

	return db_exec(db, sql, DBV(dbv_i64(machine), dbv_text(note)), err);
}

bool patient_return(struct db *db, int64_t machine, const char *note, struct err *err)
{
	static const char sql[] =
		"update machines set state = 'up', probed = false, failures = 0, note = $2"
		" where id = $1::bigint and state = 'quarantined' and probed";

	return db_exec(db, sql, DBV(dbv_i64(machine), dbv_text(note)), err);
}

/* Same image, same class, both ways: the offset on the log scale, as a percentage. */
static const char show_sql[] =
	"with m as (select id, class from machines where name = $1),"
	" k as (select to_char(k.at at time zone 'utc', 'YYYY-MM-DD HH24:MI') as at, b.method,"
	"  k.verdict, k.text from canaries k join m on m.id = k.machine"
	"  left join lateral (select x.method from boots x join attempts a on a.id = x.attempt"
	"   where a.job = k.job order by x.id desc limit 1) b on true"
	"  order by k.job desc limit 10),"
	" o as (select se.benchmark, se.pass, me.name as metric, me.direction,"
	"  count(*) filter (where p.method = 'kexec') as n,"
	"  count(*) filter (where p.method = 'firmware') as n_firmware,"
	"  100 * (exp(avg(ln(e.estimate + me.floor)) filter (where p.method = 'kexec')"
	"   - avg(ln(e.estimate + me.floor)) filter (where p.method = 'firmware')) - 1) as percent"
	"  from boot_estimates e join m on m.id = e.machine join classes c on c.id = m.class"
	"  join series se on se.id = e.series join setups p on p.id = se.setup"
	"  join metrics me on me.id = se.metric"
	"  where e.purpose = 'canary' and e.image = c.canary and e.estimate + me.floor > 0"
	"  and me.direction <> 'none' group by 1, 2, 3, 4"
	"  having count(*) filter (where p.method = 'firmware') > 0"
	"  and count(*) filter (where p.method = 'kexec') > 0 order by 1, 2, 3)"
	" select json_build_object('canaries', (select coalesce(json_agg(k), '[]') from k),"
	"  'offsets', (select coalesce(json_agg(o), '[]') from o)) as doc";

bool health_show_read(struct db *db, const char *machine, json_t **out, struct err *err)
{
	AUTO_ROWS *rows = NULL;
	const char *text;

	if (!db_query(db, show_sql, DBV(dbv_text(machine)), DB_ONE, &rows, err))
		return false;
	text = row_text(rows, 0, "doc");
	return js_parse(text, strlen(text), out, err);
}

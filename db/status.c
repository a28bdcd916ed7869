// SPDX-License-Identifier: GPL-2.0-or-later
/* The state of everything, as JSON. */
#include "db/status.h"

#include <string.h>

#include "db/row.h"

/* The daemons answer each other's rows within a moment: an end this young may start something. */
#define SETTLED_S 5.0

/* The one row's column "doc", which is text of JSON. */
static bool read_doc(struct db *db, const char *sql, const struct dbv *values, json_t **out,
		     struct err *err)
{
	AUTO_ROWS *rows = NULL;
	const char *text;

	if (!db_query(db, sql, values, DB_ONE, &rows, err))
		return false;
	text = row_text(rows, 0, "doc");
	return js_parse(text, strlen(text), out, err);
}

bool status_machines(struct db *db, json_t **out, struct err *err)
{
	static const char sql[] =
		"with m as (select m.name, c.name as class, c.driver, c.emulated, h.name as host, "
		"  m.state, m.note, m.failures, "
		"  case when a.id is not null then j.purpose || ': ' "
		"    || coalesce(left(co.oid, 12), 'the running kernel') end as doing, "
		"  extract(epoch from now() - a.started_at)::float8 as doing_s, "
		"  extract(epoch from now() - m.last_seen)::float8 as seen_s "
		"  from machines m join classes c on c.id = m.class join hosts h on h.id = m.host "
		"  left join leases l on l.machine = m.id and l.expires_at > now() "
		"  left join attempts a on a.id = l.attempt and a.outcome = 'running' "
		"  left join jobs j on j.id = a.job left join commits co on co.id = j.commit "
		"  order by m.name) "
		"select coalesce(json_agg(m), '[]') as doc from m";

	return read_doc(db, sql, DBV_NONE, out, err);
}

bool status_queue(struct db *db, json_t **out, struct err *err)
{
	static const char sql[] =
		"with q as (select kind, purpose, count(*) filter (where state = 'queued') as "
		"queued, "
		"  count(*) filter (where state = 'running') as running "
		"  from jobs where state in ('queued', 'running') group by kind, purpose "
		"  order by min(priority), kind) "
		"select coalesce(json_agg(q), '[]') as doc from q";

	return read_doc(db, sql, DBV_NONE, out, err);
}

bool status_totals(struct db *db, json_t **out, struct err *err)
{
	static const char sql[] =
		"select json_build_object( "
		"  'built', (select count(*) from builds where outcome = 'built'), "
		"  'failed', (select count(*) from builds where outcome = 'failed'), "
		"  'pending', (select count(*) from builds where outcome = 'pending'), "
		"  'images', (select count(*) from images), "
		"  'boots', (select count(*) from boots where outcome = 'ok'), "
		"  'snapshots', (select count(*) from snapshots), "
		"  'regressions', (select count(*) from regressions), "
		"  'outbox_queued', (select count(*) from outbox where state in ('queued', "
		"'sending')), "
		"  'outbox_sent', (select count(*) from outbox where state = 'sent'), "
		"  'outbox_unsure', (select count(*) from outbox where state in ('unsure', "
		"'refused')) "
		") as doc";

	return read_doc(db, sql, DBV_NONE, out, err);
}

bool status_alarms(struct db *db, json_t **out, struct err *err)
{
	static const char sql[] =
		"with t as (select w.series, w.suspected,"
		"   coalesce(bool_or(c.state = 'confirming'), false) as open,"
		"   coalesce(bool_or(c.state = 'confirmed'), false) as confirmed"
		"  from twins w left join candidates c on c.twin and c.after_image = w.image"
		"   and exists (select from series s join setups p on p.id = s.setup"
		"    where s.id = c.series and p.class = w.class)"
		"  group by w.image, w.class),"
		" twins as (select json_build_object('judged', count(*) filter (where not open),"
		"   'open', count(*) filter (where open),"
		"   'suspected', count(*) filter (where not open and suspected > 0),"
		"   'confirmed', count(*) filter (where not open and confirmed),"
		"   'series', coalesce(sum(series) filter (where not open), 0),"
		"   'series_suspected', coalesce(sum(suspected) filter (where not open), 0))"
		"   as doc from t)"
		"select json_build_object('clusters', count(*),"
		"  'confirmed', count(*) filter (where state = 'confirmed'),"
		"  'refuted', count(*) filter (where state = 'refuted'),"
		"  'confirming', count(*) filter (where state = 'confirming'),"
		"  'expected_false', coalesce(sum(alpha), 0),"
		"  'twins', (select doc from twins)) as doc from candidates"
		" where leader is null and not twin and alpha is not null"
		"  and created_at > now() - interval '7 days'";

	return read_doc(db, sql, DBV_NONE, out, err);
}

bool status_bisections(struct db *db, bool current, json_t **out, struct err *err)
{
	static const char sql[] =
		"with b as (select b.id, t.name as tree, c.name as class, s.name as suite, m.name "
		"as metric, "
		"  b.state, b.outcome, b.reason, g.oid as good, d.oid as bad, cu.oid as culprit, "
		"  (select count(*) from jobs j where j.bisection = b.id and j.kind = 'boot' "
		"   and j.state = 'done') as boots, "
		"  b.budget_boots as budget, coalesce(cu.oid, hc.oid) as best, "
		"  coalesce(cu.subject, hc.subject) as best_subject, "
		"  coalesce(b.posterior, h.mass) as posterior, "
		"  extract(epoch from coalesce(b.ended_at, now()) - b.created_at)::float8 as age_s "
		"  from bisections b join trees t on t.id = b.tree join classes c on c.id = "
		"b.class "
		"  join suites s on s.id = b.suite join series se on se.id = b.series "
		"  join metrics m on m.id = se.metric "
		"  join commits g on g.id = b.good join commits d on d.id = b.bad "
		"  left join commits cu on cu.id = b.culprit "
		"  left join lateral (select x.commit, x.mass from hypotheses x where x.bisection "
		"= b.id "
		"    order by x.mass desc limit 1) h on true "
		"  left join commits hc on hc.id = h.commit "
		"  where not $1 or b.state in ('searching', 'proving') "
		"  order by b.id desc limit 50) "
		"select coalesce(json_agg(b), '[]') as doc from b";

	return read_doc(db, sql, DBV(dbv_bool(current)), out, err);
}

bool status_bisection(struct db *db, int64_t id, json_t **out, struct err *err)
{
	static const char sql[] =
		"select json_build_object('id', b.id, 'tree', t.name, 'class', c.name, 'suite', "
		"s.name, "
		"  'metric', m.name, 'state', b.state, 'outcome', b.outcome, 'reason', b.reason, "
		"  'good', g.oid, 'bad', d.oid, 'merge_base', mb.oid, 'culprit', cu.oid, "
		"  'culprit_subject', cu.subject, 'posterior', b.posterior, 'request', b.request, "
		"  'candidate', b.candidate, 'budget', b.budget_boots, 'min_effect', b.min_effect, "
		"  'beside', b.beside, 'second', (select s.id from bisections s where s.beside = "
		"b.id), "
		"  'seed', b.seed, 'regression', (select r.id from regressions r where r.bisection "
		"= b.id), "
		"  'boots', (select count(*) from jobs j where j.bisection = b.id and j.kind = "
		"'boot' "
		"    and j.state = 'done'), "
		"  'hypotheses', (select coalesce(json_agg(h), '[]') from (select h.n, h.kind, "
		"hc.oid, "
		"    hc.subject, h.prior, h.mass, "
		"    case when g.first is not null then sum(h.mass) over (partition by g.first) "
		"end "
		"      as series_mass, "
		"    case when g.first is not null then count(*) over (partition by g.first) end "
		"      as series_patches, (select count(*) from jobs j where j.bisection = "
		"b.id "
		"      and j.commit = h.commit and j.kind = 'boot' and j.state = 'done') as boots "
		"    from hypotheses h left join commits hc on hc.id = h.commit "
		"    left join lateral (select sc.group_first as first from snapshot_commits sc "
		"      where sc.commit = h.commit and sc.snapshot = (select max(x.snapshot) "
		"        from snapshot_commits x where x.commit = b.bad)) g on true "
		"    where h.bisection = b.id order by h.n) h), "
		"  'steps', (select coalesce(json_agg(x), '[]') from (select st.n, sc.oid, "
		"st.reason, "
		"    j.state, (select bo.outcome from boots bo join attempts a on a.id = "
		"bo.attempt "
		"      where a.job = j.id order by a.n desc limit 1) as outcome "
		"    from steps st join commits sc on sc.id = st.commit left join jobs j on j.id = "
		"st.job "
		"    where st.bisection = b.id order by st.n) x)) as doc "
		"from bisections b join trees t on t.id = b.tree join classes c on c.id = b.class "
		"join suites s on s.id = b.suite join series se on se.id = b.series "
		"join metrics m on m.id = se.metric join commits g on g.id = b.good "
		"join commits d on d.id = b.bad join commits mb on mb.id = b.merge_base "
		"left join commits cu on cu.id = b.culprit where b.id = $1";

	bool ok = read_doc(db, sql, DBV(dbv_i64(id)), out, err);

	if (!ok && err->kind == ERR_NOTFOUND)
		return err_set(err, ERR_NOTFOUND,
			       "there is no bisection %lld; `mmperf bisect list` shows them",
			       (long long)id);
	return ok;
}

bool status_histories(struct db *db, json_t **out, struct err *err)
{
	static const char sql[] =
		"with h as (select t.name as tree, b.name as branch, c.name as class, s.benchmark,"
		"  s.pass, m.name as metric, h.heads, h.sd, h.down_to, h.mode_apart, h.mode_upper,"
		"  (select count(*) from segments g where g.series = h.series"
		"   and g.branch = h.branch) as levels, l.step, k.oid as step_at,"
		"  (select coalesce(json_agg(json_build_object('oid', c.oid, 'subject', c.subject,"
		"    'found', (select x.state from candidates x where x.series = h.series"
		"     and x.after_commit = c.id and not x.twin order by x.id desc limit 1),"
		"    'down_to', nullif(u.down_to, 'Infinity')) order by u.n desc), '[]')"
		"   from unnest(h.head_commits, h.head_down_to) with ordinality u(commit, down_to, "
		"n)"
		"   join commits c on c.id = u.commit where u.n > cardinality(h.head_commits) - 10)"
		"   as commits,"
		"  to_char(h.made_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as made"
		"  from histories h join branches b on b.id = h.branch join trees t on t.id = "
		"b.tree"
		"  join series s on s.id = h.series join metrics m on m.id = s.metric"
		"  join setups p on p.id = s.setup join classes c on c.id = p.class"
		"  left join lateral (select g.step, g.first_commit from segments g"
		"   where g.series = h.series and g.branch = h.branch and g.step is not null"
		"   order by g.n desc limit 1) l on true"
		"  left join commits k on k.id = l.first_commit"
		"  order by t.name, b.name, c.name, s.benchmark, m.name, s.pass, h.series)"
		" select coalesce(json_agg(h), '[]') as doc from h";

	return read_doc(db, sql, DBV_NONE, out, err);
}

bool status_utilisation(struct db *db, double window_s, json_t **out, struct err *err)
{
	static const char sql[] =
		"with w as (select tstzmultirange(tstzrange(now() - make_interval(secs => $1), "
		"now())) as w), "
		"work as (select coalesce(range_agg(tstzrange(created_at, "
		"    greatest(created_at, coalesce(ended_at, now())))), '{}') as r from jobs "
		"  where coalesce(ended_at, now()) > now() - make_interval(secs => $1)), "
		"busy as (select h.id, h.name, "
		"  coalesce(range_agg(tstzrange(a.started_at, greatest(a.started_at, "
		"    coalesce(a.ended_at, now())))) filter (where j.kind <> 'boot'), '{}') as "
		"building, "
		"  coalesce(range_agg(tstzrange(a.started_at, greatest(a.started_at, "
		"    coalesce(a.ended_at, now())))) filter (where j.kind = 'boot'), '{}') as "
		"measuring "
		"  from hosts h left join attempts a on a.host = h.id "
		"    and coalesce(a.ended_at, now()) > now() - make_interval(secs => $1) "
		"  left join jobs j on j.id = a.job group by h.id, h.name), "
		"parts as (select b.name as host, work.r * w.w as work, work.r * w.w * b.building "
		"as building, "
		"  work.r * w.w * b.measuring as measuring, "
		"  work.r * w.w - b.building - b.measuring as idle from busy b, work, w), "
		"s as (select host, "
		"  (select coalesce(sum(extract(epoch from upper(x) - lower(x))), 0)::float8 "
		"   from unnest(work) x) as work_s, "
		"  (select coalesce(sum(extract(epoch from upper(x) - lower(x))), 0)::float8 "
		"   from unnest(building) x) as building_s, "
		"  (select coalesce(sum(extract(epoch from upper(x) - lower(x))), 0)::float8 "
		"   from unnest(measuring) x) as measuring_s, "
		"  (select coalesce(sum(extract(epoch from upper(x) - lower(x))), 0)::float8 "
		"   from unnest(idle) x) as idle_s from parts), "
		"u as (select s.*, case when work_s > 0 then idle_s / work_s end as idle_share "
		"  from s order by host) "
		"select coalesce(json_agg(u), '[]') as doc from u";

	return read_doc(db, sql, DBV(dbv_f64(window_s)), out, err);
}

bool status_failures(struct db *db, double window_s, json_t **out, struct err *err)
{
	static const char sql[] =
		"with f as (select 'build' as what, 'does not build' as outcome, j.ended_at as at, "
		"  left(c.oid, 12) || ': ' || coalesce(b.error, '') as last "
		"  from jobs j join builds b on b.id = j.build join commits c on c.id = b.commit "
		"  where j.kind = 'build' and j.state = 'done' and b.outcome = 'failed' "
		"  union all select 'boot', bo.outcome, bo.ended_at, "
		"  m.name || coalesce(', ' || left(c.oid, 12), '') || ': ' || coalesce(bo.reason, "
		"'') "
		"  from boots bo join machines m on m.id = bo.machine join attempts a on a.id = "
		"bo.attempt "
		"  join jobs j on j.id = a.job left join commits c on c.id = j.commit "
		"  where bo.outcome not in ('ok', 'running') "
		"  union all select j.kind, a.outcome, a.ended_at, coalesce(a.error, '') "
		"  from attempts a join jobs j on j.id = a.job "
		"  where a.outcome in ('machine', 'infra', 'lost') "
		"  and not exists (select from boots bo where bo.attempt = a.id)), "
		"g as (select what, outcome, count(*) as count, (array_agg(last order by at "
		"desc))[1] as last "
		"  from f where at > now() - make_interval(secs => $1) group by what, outcome "
		"  order by what, outcome) "
		"select coalesce(json_agg(g), '[]') as doc from g";

	return read_doc(db, sql, DBV(dbv_f64(window_s)), out, err);
}

bool status_log(struct db *db, int64_t limit, const char *after, json_t **out, struct err *err)
{
	static const char sql[] =
		"with e(at, kind, text) as ( "
		"  select s.fetched_at, 'snapshot', format('%s/%s: snapshot %s, %s commits, head "
		"%s %s', t.name, "
		"    b.name, s.seq, (select count(*) - 1 from snapshot_commits x where x.snapshot "
		"= s.id), "
		"    left(h.oid, 12), h.subject) "
		"  from snapshots s join branches b on b.id = s.branch join trees t on t.id = "
		"b.tree "
		"  join commits h on h.id = s.head "
		"  union all select j.ended_at, 'build', format('%s does not build: %s (%s)', "
		"left(c.oid, 12), "
		"    coalesce(b.error, 'no message'), c.subject) "
		"  from jobs j join builds b on b.id = j.build join commits c on c.id = b.commit "
		"  where j.kind = 'build' and j.state = 'done' and b.outcome = 'failed' "
		"  union all select bo.ended_at, 'boot', format('%s on %s: %s: %s', "
		"    coalesce(left(c.oid, 12), 'the running kernel'), m.name, bo.outcome, "
		"coalesce(bo.reason, '')) "
		"  from boots bo join machines m on m.id = bo.machine join attempts a on a.id = "
		"bo.attempt "
		"  join jobs j on j.id = a.job left join commits c on c.id = j.commit "
		"  where bo.outcome not in ('ok', 'running') "
		"  union all select a.ended_at, 'attempt', format('%s %s, attempt %s: %s: %s', "
		"j.kind, j.key, "
		"    a.n, a.outcome, coalesce(a.error, '')) "
		"  from attempts a join jobs j on j.id = a.job "
		"  where a.outcome in ('machine', 'infra', 'lost') "
		"  and not exists (select from boots bo where bo.attempt = a.id) "
		"  union all select j.ended_at, 'job', format('%s %s failed: %s', j.kind, j.key, "
		"    coalesce(j.error, '')) from jobs j where j.state = 'failed' "
		"  union all select ca.created_at, 'candidate', format( "
		"    '%s: %s: %s changed by %s %% between %s and %s (z %s)%s', ca.id, s.benchmark, "
		"    m.name, to_char(100 * (exp(case m.direction when 'higher' then -1 else 1 end "
		"* "
		"    ca.detect_effect) - 1), 'FMSG999999990.0'), "
		"    left(x.oid, 12), left(y.oid, 12), round(ca.detect_z::numeric, 1), "
		"    case when ca.twin then '; a twin' else '' end || "
		"    case when ca.leader is null and ca.state <> 'better' then '; confirming' else "
		"'' "
		"    end) "
		"  from candidates ca join series s on s.id = ca.series join metrics m on m.id = "
		"s.metric "
		"  join commits x on x.id = ca.before_commit join commits y on y.id = "
		"ca.after_commit "
		"  union all select ca.decided_at, 'candidate', format('%s: %s: %s', ca.id, "
		"    ca.state, ca.reason) from candidates ca where ca.decided_at is not null "
		"    and ca.reason is not null "
		"  union all select bi.created_at, 'bisection', format('%s: %s, %s: good %s, bad "
		"%s, %s suspects', "
		"    bi.id, su.name, m.name, left(g.oid, 12), left(d.oid, 12), "
		"    (select count(*) from hypotheses h where h.bisection = bi.id and h.kind <> "
		"'none')) "
		"  from bisections bi join suites su on su.id = bi.suite join series s on s.id = "
		"bi.series "
		"  join metrics m on m.id = s.metric join commits g on g.id = bi.good "
		"  join commits d on d.id = bi.bad "
		"  union all select bi.ended_at, 'bisection', format('%s: %s%s', bi.id, "
		"    coalesce(bi.outcome, bi.state), coalesce(': ' || bi.reason, '')) "
		"  from bisections bi where bi.ended_at is not null "
		"  union all select r.created_at, 'regression', format('%s: %s %s (posterior %s)', "
		"r.id, "
		"    left(c.oid, 12), c.subject, round(r.posterior::numeric, 4)) "
		"  from regressions r join commits c on c.id = r.culprit "
		"  union all select sc.at, 'setup', format('class %s: its environment is another "
		"one "
		"now, numbers begin anew: %s', cl.name, (select string_agg(format('%s: %s -> %s', "
		"d->>'what', d->>'before', d->>'after'), ', ') "
		"from jsonb_array_elements(sc.differences) d)) from setup_changes sc "
		"  join setups s on s.id = sc.setup join classes cl on cl.id = s.class "
		"  union all select o.sent_at, 'mail', format('%s: %s', o.state, o.subject) "
		"  from outbox o where o.sent_at is not null "
		"  union all select q.created_at, 'request', format('%s: %s, asked by %s', q.id, "
		"q.kind, "
		"    q.asked_by) from requests q "
		"  union all select q.ended_at, 'request', format('%s: %s%s', q.id, q.state, "
		"    coalesce(': ' || q.error, '')) from requests q where q.ended_at is not null), "
		"l as (select at, kind, text from e where at is not null "
		"  and ($2::text is null or at > $2::timestamptz) order by at desc limit $1) "
		"select coalesce(json_agg(json_build_object( "
		"  'at', to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') || '+00', "
		"  'kind', kind, 'text', text) order by at, kind, text), '[]') as doc from l";

	return read_doc(db, sql, DBV(dbv_i64(limit), dbv_text(after)), out, err);
}

bool status_time(struct db *db, double ago_s, char **out, struct err *err)
{
	static const char sql[] =
		"select to_char((now() - make_interval(secs => $1)) at time zone 'UTC', "
		"'YYYY-MM-DD HH24:MI:SS.US') || '+00' as t";

	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_f64(ago_s)), DB_ONE, &rows, err))
		return false;
	*out = row_dup(rows, 0, "t");
	return true;
}

bool status_idle(struct db *db, bool *idle, struct err *err)
{
	static const char sql[] =
		"select not (exists (select from jobs where state in ('queued', 'running')) "
		"or exists (select from requests where state in ('queued', 'running')) "
		"or exists (select from candidates where state = 'confirming') "
		"or exists (select from candidates c where state = 'confirmed' and leader is null "
		"  and not twin and not exists (select from bisections b where b.candidate = "
		"c.id)) "
		"or exists (select from bisections where state in ('searching', 'proving')) "
		"or exists (select from regressions r where state = 'proved' "
		"  and not exists (select from outbox o where o.regression = r.id)) "
		"or exists (select from outbox where state in ('queued', 'sending')) "
		"or exists (select from branches b join lateral (select head from snapshots s "
		"  where s.branch = b.id order by seq desc limit 1) n on true "
		"  join commits c on c.id = n.head where b.active "
		"  and exists (select from classes where driver <> 'local') and not exists "
		"  (select from builds bu where bu.tree_oid = c.tree_oid)) "
		"or coalesce(greatest((select max(ended_at) from jobs), (select max(fetched_at) "
		"from snapshots), "
		"  (select max(decided_at) from candidates), (select max(ended_at) from "
		"bisections), "
		"  (select max(created_at) from regressions), (select max(ended_at) from "
		"requests)), '-infinity') "
		"  > now() - make_interval(secs => $1)) as idle";

	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_f64(SETTLED_S)), DB_ONE, &rows, err))
		return false;
	*idle = row_bool(rows, 0, "idle");
	return true;
}

bool status_followed(struct db *db, const char *tree, const char *branch, bool *yes,
		     struct err *err)
{
	static const char sql[] =
		"select exists (select from snapshots s join branches b on b.id = s.branch "
		"join trees t on t.id = b.tree where t.name = $1 and b.name = $2) as yes";

	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(tree), dbv_text(branch)), DB_ONE, &rows, err))
		return false;
	*yes = row_bool(rows, 0, "yes");
	return true;
}

bool status_machine_set(struct db *db, const char *machine, const char *state, const char *note,
			struct err *err)
{
	static const char sql[] =
		"update machines set state = $2, note = $3,"
		" failures = case when $2 = 'up' then 0 else failures end, probed = false"
		" where name = $1";

	if (!db_exec(db, sql, DBV(dbv_text(machine), dbv_text(state), dbv_text(note)), err))
		return false;
	if (!db_changed(db))
		return err_set(err, ERR_NOTFOUND,
			       "there is no machine \"%s\"; `mmperf machines` lists them", machine);
	return true;
}

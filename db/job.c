// SPDX-License-Identifier: GPL-2.0-or-later
/* The job queue. */
#include "db/job.h"

#include <stdlib.h>

#include "db/lease.h"
#include "db/row.h"

/* After this many lost attempts a job is taken for the cause of the losses. */
#define LOST_MAX 10

void job_release(struct job *job)
{
	free(job->key);
	free(job->kind);
	free(job->purpose);
	free(job->role);
	free(job->suites);
	*job = (struct job){0};
}

void job_lease_release(struct job_lease *lease)
{
	job_release(&lease->job);
	free(lease->machine_name);
	*lease = (struct job_lease){0};
}

static bool job_find(struct db *db, const char *key, int64_t *id, struct err *err)
{
	static const char sql[] = "select id from jobs where key = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(key)), DB_ONE, &rows, err))
		return false;
	*id = row_i64(rows, 0, "id");
	return true;
}

bool job_add(struct db *db, const struct job *job, int64_t *id, bool *fresh, struct err *err)
{
	static const char sql[] =
		"insert into jobs (key, kind, purpose, role, priority, build, image, commit, class,"
		" suites, candidate, bisection, request, max_attempts, only_machine)"
		" values ($1, $2, $3, $4, $5::bigint, $6::bigint, $7::bigint, $8::bigint,"
		" $9::bigint, $10::bigint[], $11::bigint, $12::bigint, $13::bigint, $14::bigint,"
		" $15::bigint)"
		" on conflict (key) do nothing returning id";
	int max_attempts = job->max_attempts ? job->max_attempts : 3;
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_text(job->key), dbv_text(job->kind), dbv_text(job->purpose),
			  dbv_text(job->role), dbv_i64(job->priority), dbv_id(job->build),
			  dbv_id(job->image), dbv_id(job->commit), dbv_id(job->class_id),
			  dbv_i64s(job->suites, job->n_suites), dbv_id(job->candidate),
			  dbv_id(job->bisection), dbv_id(job->request), dbv_i64(max_attempts),
			  dbv_id(job->only_machine)),
		      DB_MAYBE, &rows, err))
		return err_wrap(err, "job %s", job->key);
	*fresh = rows_n(rows) == 1;
	if (!*fresh)
		return job_find(db, job->key, id, err);
	*id = row_i64(rows, 0, "id");
	return true;
}

bool job_cancel(struct db *db, int64_t candidate, int64_t bisection, int64_t request,
		const char *why, struct err *err)
{
	static const char sql[] =
		"update jobs set state = 'cancelled', error = $4, ended_at = now()"
		" where state in ('queued', 'running')"
		" and (candidate = $1::bigint or bisection = $2::bigint or request = $3::bigint)";

	return db_exec(db, sql,
		       DBV(dbv_id(candidate), dbv_id(bisection), dbv_id(request), dbv_text(why)),
		       err);
}

static void job_read(const struct rows *rows, struct job_lease *lease)
{
	struct job *job = &lease->job;

	job->id = row_i64(rows, 0, "id");
	job->key = row_dup(rows, 0, "key");
	job->kind = row_dup(rows, 0, "kind");
	job->purpose = row_dup(rows, 0, "purpose");
	job->role = row_dup(rows, 0, "role");
	job->priority = (int)row_i64(rows, 0, "priority");
	job->build = row_id(rows, 0, "build");
	job->image = row_id(rows, 0, "image");
	job->commit = row_id(rows, 0, "commit");
	job->class_id = row_id(rows, 0, "class");
	job->n_suites = row_i64s(rows, 0, "suites", &job->suites);
	job->candidate = row_id(rows, 0, "candidate");
	job->bisection = row_id(rows, 0, "bisection");
	job->request = row_id(rows, 0, "request");
	job->max_attempts = (int)row_i64(rows, 0, "max_attempts");
	lease->attempt = row_i64(rows, 0, "attempt");
	lease->n = (int)row_i64(rows, 0, "n");
	lease->token = row_i64(rows, 0, "token");
	lease->machine = row_id(rows, 0, "machine");
	lease->machine_name = row_dup(rows, 0, "machine_name");
}

static const char claim_sql[] =
	"with pick as ("
	"  select j.id, m.id as machine, m.name as machine_name"
	"  from jobs j left join lateral ("
	"    select m.id, m.name from machines m"
	"    where j.kind = 'boot' and m.class = j.class and m.host = $1::bigint"
	"    and (m.state = 'up' and coalesce(j.only_machine, m.id) = m.id"
	"      or m.state = 'quarantined' and m.id = j.only_machine and j.purpose = 'canary')"
	"    and not exists (select from leases l where l.machine = m.id)"
	"    order by m.last_seen, m.id limit 1) m on true"
	"  where j.state = 'queued' and j.not_before <= now()"
	"  and ((j.kind = 'boot' and $3::boolean and m.id is not null)"
	"    or (j.kind <> 'boot' and $2::boolean and exists ("
	"      select from builds b join hosts h on h.toolchain = b.toolchain"
	"      where b.id = j.build and h.id = $1::bigint)))"
	"  order by j.priority, j.id limit 1 for update of j skip locked"
	"), taken as ("
	"  update jobs j set state = 'running' from pick where j.id = pick.id"
	"  returning j.*, pick.machine, pick.machine_name"
	"), attempt as ("
	"  insert into attempts (job, n, host, token, expires_at)"
	"  select id, 1 + (select count(*) from attempts a where a.job = taken.id),"
	"    $1::bigint, nextval('lease_tokens'), now() + make_interval(secs => $4::float8)"
	"  from taken returning id, n, token, expires_at"
	"), leased as ("
	"  insert into leases (machine, token, attempt, expires_at)"
	"  select taken.machine, attempt.token, attempt.id, attempt.expires_at"
	"  from taken, attempt where taken.machine is not null"
	"), seen as ("
	"  update machines m set last_seen = now() from taken where m.id = taken.machine"
	") select taken.*, attempt.id as attempt, attempt.n, attempt.token"
	" from taken, attempt";

bool job_claim(struct db *db, const struct job_offer *offer, struct job_lease *lease, bool *got,
	       struct err *err)
{
	AUTO_ROWS *rows = NULL;

	*got = false;
	if (!db_query(db, claim_sql,
		      DBV(dbv_i64(offer->host), dbv_bool(offer->build), dbv_bool(offer->boot),
			  dbv_f64(offer->lease_s)),
		      DB_MAYBE, &rows, err))
		/* Somebody else took the machine between our look and our insert. */
		return err->kind == ERR_CONFLICT;
	if (!rows_n(rows))
		return true;
	*lease = (struct job_lease){0};
	job_read(rows, lease);
	*got = true;
	return true;
}

bool job_lease_read(struct db *db, int64_t attempt, int64_t token, struct job_lease *lease,
		    struct err *err)
{
	static const char sql[] =
		"select j.*, a.id as attempt, a.n, a.token, m.id as machine, m.name as machine_name"
		" from attempts a join jobs j on j.id = a.job"
		" left join leases l on l.token = a.token left join machines m on m.id = l.machine"
		" where a.id = $1::bigint and a.token = $2::bigint and a.outcome = 'running'";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(attempt), dbv_i64(token)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_CONFLICT,
			       "attempt %lld: its lease (token %lld) no longer holds",
			       (long long)attempt, (long long)token);
	*lease = (struct job_lease){0};
	job_read(rows, lease);
	return true;
}

bool job_refresh(struct db *db, int64_t token, double lease_s, int pid, struct err *err)
{
	static const char sql[] =
		"with held as ("
		"  update attempts a set expires_at = now() + make_interval(secs => $2::float8),"
		"    pid = $3::bigint"
		"  from jobs j where a.token = $1::bigint and a.outcome = 'running'"
		"  and j.id = a.job and j.state = 'running' returning a.token, a.expires_at"
		"), machine as ("
		"  update leases l set expires_at = held.expires_at from held"
		"  where l.token = held.token"
		") select token from held";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(token), dbv_f64(lease_s), dbv_i64(pid)), DB_MAYBE, &rows,
		      err))
		return false;
	if (rows_n(rows))
		return true;
	return err_set(err, ERR_CONFLICT, "the lease (token %lld) was lost or the job cancelled",
		       (long long)token);
}

/* The counts do not see this attempt's own end (one snapshot), so it is added to them. */
static const char finish_sql[] =
	"with ended as ("
	"  update attempts set outcome = $2, error = $3, ended_at = now()"
	"  where token = $1::bigint and outcome = 'running' returning id, job"
	"), freed as ("
	"  delete from leases where token = $1::bigint returning machine"
	"), health as ("
	"  update machines m set"
	"    failures = case $2 when 'ok' then 0 when 'machine' then failures + 1"
	"      else failures end,"
	"    note = case when $2 = 'machine' and failures >= 2 then"
	"      'quarantined after 3 failures in a row: ' || coalesce($3, '') else note end,"
	"    state = case when $2 = 'machine' and failures >= 2 and state = 'up'"
	"      then 'quarantined' else state end,"
	"    probed = probed or ($2 = 'machine' and failures >= 2 and state = 'up')"
	"  from freed where m.id = freed.machine"
	"), boot as ("
	"  update boots b set ended_at = now(), reason = coalesce(reason, $3),"
	"    outcome = case when $2 in ('machine', 'lost') then $2 else 'infra' end"
	"  from ended where b.attempt = ended.id and b.outcome = 'running'"
	"), tally as ("
	"  select e.job, ($2 = 'lost')::int + count(a.id) filter (where a.outcome = 'lost')"
	"    as lost,"
	"    ($2 = 'kernel')::int + count(a.id) filter (where a.outcome = 'kernel')"
	"    as kernel,"
	"    ($2 in ('kernel', 'machine', 'infra'))::int + count(a.id) filter"
	"      (where a.outcome in ('kernel', 'machine', 'infra')) as tried"
	"  from ended e left join attempts a on a.job = e.job group by e.job"
	"), verdict as ("
	"  select j.id, case when $2 = 'ok' then 'done'"
	"      when t.kernel >= 2 or t.tried >= j.max_attempts or t.lost >= $4::bigint"
	"      then 'failed' else 'queued' end as state,"
	"    case when $2 in ('machine', 'infra') then 4 ^ (t.tried - 1) else 0 end"
	"      as pause_s"
	"  from tally t join jobs j on j.id = t.job"
	"), moved as ("
	"  update jobs j set state = v.state, error = $3,"
	"    ended_at = case when v.state <> 'queued' then now() end,"
	"    not_before = now() + make_interval(secs => v.pause_s)"
	"  from verdict v where j.id = v.id and j.state = 'running'"
	") select id from ended";

bool job_retry_builds(struct db *db, double after_s, int *n, struct err *err)
{
	static const char sql[] = "update jobs j set state = 'queued', ended_at = null, "
				  "max_attempts = max_attempts + 3"
				  " from builds b where j.kind = 'build' and j.state = 'failed'"
				  " and b.id = j.build and b.outcome = 'pending'"
				  " and j.ended_at <= now() - make_interval(secs => $1)"
				  " and j.created_at > now() - interval '1 day' returning j.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_f64(after_s)), DB_MANY, &rows, err))
		return false;
	*n = (int)rows_n(rows);
	return true;
}

bool job_finish(struct db *db, int64_t token, const char *outcome, const char *error,
		struct err *err)
{
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, finish_sql,
		      DBV(dbv_i64(token), dbv_text(outcome), dbv_text(error), dbv_i64(LOST_MAX)),
		      DB_MAYBE, &rows, err))
		return false;
	if (rows_n(rows))
		return true;
	return err_set(err, ERR_CONFLICT,
		       "the lease (token %lld) was lost: the result is thrown "
		       "away",
		       (long long)token);
}

bool job_reap(struct db *db, int64_t host, bool all_of_host, int *n, struct err *err)
{
	static const char sql[] =
		"select token from attempts where outcome = 'running'"
		" and (expires_at < now() or ($2::boolean and host = $1::bigint)) order by token";
	AUTO_ROWS *rows = NULL;

	*n = 0;
	if (!leases_reap(db, err) ||
	    !db_query(db, sql, DBV(dbv_i64(host), dbv_bool(all_of_host)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		const char *why = all_of_host ? "the runner was restarted" : "the lease ran out";

		if (job_finish(db, row_i64(rows, i, "token"), "lost", why, err))
			(*n)++;
		else if (err->kind != ERR_CONFLICT)
			return false;
	}
	return true;
}

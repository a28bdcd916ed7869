// SPDX-License-Identifier: GPL-2.0-or-later
/* What is asked for. */
#include "db/work.h"

#include <stdlib.h>
#include <string.h>

#include "db/job.h"
#include "db/row.h"

static enum build_state state_of(const char *outcome, const char *job)
{
	if (!outcome)
		return BUILD_ABSENT;
	if (!strcmp(outcome, "built"))
		return BUILD_BUILT;
	if (!strcmp(outcome, "failed"))
		return BUILD_FAILED;
	if (job && (!strcmp(job, "failed") || !strcmp(job, "cancelled")))
		return BUILD_BROKEN;
	return job ? BUILD_PENDING : BUILD_ABSENT;
}

bool build_look(struct db *db, const struct build_key *key, struct build_look *out, struct err *err)
{
	static const char sql[] =
		"select b.id, b.outcome, b.image, b.clean_verified_at is not null as verified,"
		"  coalesce(b.error, j.error, '') as error, j.state"
		" from builds b left join jobs j on j.key = 'build:' || b.id"
		" where b.tree_oid = $1 and b.recipe = $2 and b.toolchain = $3 and b.layout_seed = "
		"$4";
	AUTO_ROWS *rows = NULL;

	*out = (struct build_look){.state = BUILD_ABSENT};
	if (!db_query(db, sql,
		      DBV(dbv_text(key->tree_oid), dbv_i64(key->recipe), dbv_i64(key->toolchain),
			  dbv_i64(key->layout_seed)),
		      DB_MAYBE, &rows, err))
		return err_wrap(err, "build of tree %.12s", key->tree_oid);
	if (!rows_n(rows))
		return true;
	out->id = row_i64(rows, 0, "id");
	out->image = row_id(rows, 0, "image");
	out->clean_verified = row_bool(rows, 0, "verified");
	out->state = state_of(row_text(rows, 0, "outcome"), row_text(rows, 0, "state"));
	strncpy(out->error, row_text(rows, 0, "error"), sizeof(out->error) - 1);
	return true;
}

static bool insert_build(struct db *db, const struct build_key *key, int64_t commit, int64_t *id,
			 struct err *err)
{
	static const char sql[] =
		"with fresh as (insert into builds (tree_oid, recipe, toolchain, commit, "
		"layout_seed)"
		"  values ($1, $2, $3, $4, $5) on conflict do nothing returning id)"
		" select id from fresh union all select id from builds"
		"  where tree_oid = $1 and recipe = $2 and toolchain = $3 and layout_seed = $5";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_text(key->tree_oid), dbv_i64(key->recipe), dbv_i64(key->toolchain),
			  dbv_i64(commit), dbv_i64(key->layout_seed)),
		      DB_ONE, &rows, err))
		return false;
	*id = row_i64(rows, 0, "id");
	return true;
}

static bool raise_priority(struct db *db, int64_t build, int priority, struct err *err)
{
	static const char sql[] = "update jobs set priority = $2"
				  " where key = 'build:' || $1::bigint and state = 'queued'"
				  " and priority > $2";

	return db_exec(db, sql, DBV(dbv_i64(build), dbv_i64(priority)), err);
}

bool build_ensure(struct db *db, const struct build_key *key, int64_t commit, int priority,
		  const char *purpose, struct build_look *out, struct err *err)
{
	struct job job = {
		.kind = (char *)"build", .purpose = (char *)purpose, .priority = priority};
	AUTO_FREE char *name = NULL;
	int64_t id, build;
	bool fresh;

	if (!build_look(db, key, out, err))
		return false;
	if (out->state == BUILD_PENDING)
		return raise_priority(db, out->id, priority, err);
	if (out->state != BUILD_ABSENT)
		return true;
	if (!insert_build(db, key, commit, &build, err))
		return err_wrap(err, "build of tree %.12s", key->tree_oid);
	name = xasprintf("build:%lld", (long long)build);
	job.key = name;
	job.build = build;
	if (!job_add(db, &job, &id, &fresh, err))
		return err_wrap(err, "build of tree %.12s", key->tree_oid);
	return build_look(db, key, out, err);
}

bool builds_of_layouts(struct db *db, const int64_t *commits, const int64_t *seeds, size_t n,
		       int64_t recipe, int64_t toolchain, struct built **out, struct err *err)
{
	static const char sql[] = "select u.commit, b.id as build, b.image, b.outcome, j.state"
				  " from unnest($1::bigint[], $4::bigint[])"
				  "  with ordinality u(commit, seed, i)"
				  " join commits c on c.id = u.commit"
				  " left join builds b on b.tree_oid = c.tree_oid and b.recipe = $2"
				  "  and b.toolchain = $3 and b.layout_seed = u.seed"
				  " left join jobs j on j.key = 'build:' || b.id order by u.i";
	AUTO_ROWS *rows = NULL;
	struct built *v;

	if (!db_query(db, sql,
		      DBV(dbv_i64s(commits, n), dbv_i64(recipe), dbv_i64(toolchain),
			  dbv_i64s(seeds, n)),
		      DB_MANY, &rows, err))
		return false;
	if (rows_n(rows) != n)
		return err_set(err, ERR_FAILED, "builds: %zu of %zu commits are not stored",
			       n - rows_n(rows), n);
	v = xcalloc(n, sizeof(*v));
	for (size_t i = 0; i < n; i++)
		v[i] = (struct built){
			.commit = row_i64(rows, i, "commit"),
			.build = row_id(rows, i, "build"),
			.image = row_id(rows, i, "image"),
			.state = state_of(row_text(rows, i, "outcome"), row_text(rows, i, "state")),
		};
	*out = v;
	return true;
}

bool builds_of_commits(struct db *db, const int64_t *commits, size_t n, int64_t recipe,
		       int64_t toolchain, struct built **out, struct err *err)
{
	AUTO_FREE int64_t *plain = xcalloc(n + 1, sizeof(*plain));

	return builds_of_layouts(db, commits, plain, n, recipe, toolchain, out, err);
}

void classes_release(struct classes *classes)
{
	for (size_t i = 0; i < classes->n; i++)
		free(classes->v[i].name);
	free(classes->v);
	*classes = (struct classes){0};
}

static bool read_classes(struct db *db, bool all, struct classes *out, struct err *err)
{
	static const char sql[] = "select c.id, c.name, c.emulated, c.driver = 'local' as running,"
				  "  count(m.id) as machines,"
				  "  count(m.id) filter (where m.state = 'up') as up,"
				  "  (select count(*) from jobs j where j.class = c.id and j.state "
				  "= 'queued') as queued"
				  " from classes c join machines m on m.class = c.id"
				  " where $1::boolean or c.driver <> 'local'"
				  " group by c.id order by c.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_bool(all)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct class_info){
			.id = row_i64(rows, i, "id"),
			.name = row_dup(rows, i, "name"),
			.emulated = row_bool(rows, i, "emulated"),
			.running = row_bool(rows, i, "running"),
			.machines = (int)row_i64(rows, i, "machines"),
			.up = (int)row_i64(rows, i, "up"),
			.queued = (int)row_i64(rows, i, "queued"),
		};
	return true;
}

bool classes_read(struct db *db, struct classes *out, struct err *err)
{
	return read_classes(db, true, out, err);
}

bool classes_read_booting(struct db *db, struct classes *out, struct err *err)
{
	return read_classes(db, false, out, err);
}

bool toolchain_current(struct db *db, int64_t *id, struct err *err)
{
	static const char sql[] = "select toolchain from hosts where toolchain is not null"
				  " order by last_seen desc, id limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_MAYBE, &rows, err))
		return false;
	*id = rows_n(rows) ? row_i64(rows, 0, "toolchain") : 0;
	return true;
}

void work_jobs_release(struct work_jobs *jobs)
{
	for (size_t i = 0; i < jobs->n; i++) {
		free(jobs->v[i].key);
		free(jobs->v[i].kind);
		free(jobs->v[i].state);
		free(jobs->v[i].role);
		free(jobs->v[i].error);
	}
	free(jobs->v);
	*jobs = (struct work_jobs){0};
}

bool work_jobs_read(struct db *db, int64_t candidate, int64_t bisection, int64_t request,
		    const char *purpose, struct work_jobs *out, struct err *err)
{
	static const char sql[] =
		"select j.id, j.key, j.kind, j.state, coalesce(j.role, '') as role, j.commit, "
		"j.image,"
		"  j.build, coalesce(j.error, '') as error, j.ended_at is not null as ended,"
		"  j.state = 'failed' and coalesce((select a.outcome = 'kernel' from attempts a"
		"   where a.job = j.id order by a.n desc limit 1), false) as kernel_bad"
		" from jobs j where ($1::bigint is null or j.candidate = $1)"
		"  and ($2::bigint is null or j.bisection = $2)"
		"  and ($3::bigint is null or j.request = $3)"
		"  and ($4::text is null or j.purpose = $4) order by j.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_id(candidate), dbv_id(bisection), dbv_id(request), dbv_text(purpose)),
		      DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct work_job){
			.id = row_i64(rows, i, "id"),
			.key = row_dup(rows, i, "key"),
			.kind = row_dup(rows, i, "kind"),
			.state = row_dup(rows, i, "state"),
			.role = row_dup(rows, i, "role"),
			.commit = row_id(rows, i, "commit"),
			.image = row_id(rows, i, "image"),
			.build = row_id(rows, i, "build"),
			.ended = row_bool(rows, i, "ended"),
			.kernel_bad = row_bool(rows, i, "kernel_bad"),
			.error = row_dup(rows, i, "error"),
		};
	return true;
}

bool unbootable_images(struct db *db, int64_t class_id, const int64_t *images, size_t n,
		       int64_t **out, size_t *n_out, struct err *err)
{
	static const char sql[] =
		"select array(select distinct j.image from jobs j"
		"  join attempts a on a.job = j.id and a.outcome = 'kernel'"
		"  where j.image = any($2::bigint[]) and j.class = $1 and j.kind = 'boot'"
		"   and j.state = 'failed' and not exists (select from jobs d"
		"    where d.image = j.image and d.class = $1 and d.kind = 'boot'"
		"     and d.state = 'done')) as images";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(class_id), dbv_i64s(images, n)), DB_ONE, &rows, err))
		return false;
	*n_out = row_i64s(rows, 0, "images", out);
	return true;
}

void routines_release(struct routines *routines)
{
	free(routines->v);
	*routines = (struct routines){0};
}

bool routines_read(struct db *db, int64_t image, int64_t class_id, struct routines *out,
		   struct err *err)
{
	static const char sql[] =
		"select s.suite, (select count(*) from jobs where kind = 'boot' and image = $1"
		"   and class = $2 and purpose = 'detect') as jobs,"
		"  count(*) filter (where j.state in ('queued', 'running', 'done')) as alive,"
		"  count(*) filter (where j.state in ('queued', 'running')) as open,"
		"  count(*) filter (where j.state = 'failed') as failed"
		" from jobs j cross join unnest(j.suites) s(suite)"
		" where j.kind = 'boot' and j.image = $1 and j.class = $2 and j.purpose = 'detect'"
		" group by s.suite";
	AUTO_ROWS *rows = NULL;
	AUTO_FREE int64_t *bad = NULL;
	size_t n_bad;

	if (!db_query(db, sql, DBV(dbv_i64(image), dbv_i64(class_id)), DB_MANY, &rows, err) ||
	    !unbootable_images(db, class_id, &image, 1, &bad, &n_bad, err))
		return false;
	out->unbootable = n_bad > 0;
	for (size_t i = 0; i < rows_n(rows); i++) {
		out->jobs = (int)row_i64(rows, i, "jobs");
		*array_push(out->v, out->n, out->cap) = (struct routine){
			.suite = row_i64(rows, i, "suite"),
			.alive = (int)row_i64(rows, i, "alive"),
			.open = (int)row_i64(rows, i, "open"),
			.failed = (int)row_i64(rows, i, "failed"),
		};
	}
	return true;
}

bool routine_images(struct db *db, const int64_t *images, size_t n, int64_t **out, size_t *n_out,
		    struct err *err)
{
	static const char sql[] =
		"select array(select distinct image from jobs where kind = 'boot'"
		"  and purpose = 'detect' and image = any($1::bigint[])) as images";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64s(images, n)), DB_ONE, &rows, err))
		return false;
	*n_out = row_i64s(rows, 0, "images", out);
	return true;
}

bool work_is_urgent(struct db *db, bool *urgent, struct err *err)
{
	static const char sql[] =
		"select exists (select from requests where state in ('queued', 'running'))"
		"  or exists (select from candidates where state = 'confirming')"
		"  or exists (select from bisections where ended_at is null) as urgent";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_ONE, &rows, err))
		return false;
	*urgent = row_bool(rows, 0, "urgent");
	return true;
}

bool work_times(struct db *db, double *boot_s, double *build_s, struct err *err)
{
	static const char sql[] =
		"select percentile_cont(0.5) within group (order by s)"
		"   filter (where kind = 'build') as build_s,"
		"  percentile_cont(0.5) within group (order by s)"
		"   filter (where kind = 'boot') as boot_s"
		" from (select j.kind, extract(epoch from a.ended_at - a.started_at)::float8 as s"
		"  from attempts a join jobs j on j.id = a.job where a.outcome = 'ok'"
		"  order by a.id desc limit 100) x";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_ONE, &rows, err))
		return false;
	*boot_s = row_f64_or_nan(rows, 0, "boot_s");
	*build_s = row_f64_or_nan(rows, 0, "build_s");
	return true;
}

void made_builds_release(struct made_builds *made)
{
	for (size_t i = 0; i < made->n; i++)
		free(made->v[i].tree_oid);
	free(made->v);
	*made = (struct made_builds){0};
}

bool made_builds_read(struct db *db, int64_t recipe, struct made_builds *out, struct err *err)
{
	/* an answer of a cache takes a small part of what the build itself took */
	static const char sql[] =
		"select b.tree_oid, a.host, coalesce(b.incremental, false) as incremental,"
		"  case when j.kind = 'build' and a.outcome = 'ok' then a.s end as seconds"
		" from (select *, extract(epoch from ended_at - started_at)::float8 as s"
		"   from attempts order by id desc limit 1000) a"
		" join jobs j on j.id = a.job and j.kind in ('build', 'rebuild')"
		" join builds b on b.id = j.build and b.recipe = $1"
		" where (a.s >= b.seconds / 2) is not false order by a.id desc limit 200";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(recipe)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct made_build){
			.tree_oid = row_dup(rows, i, "tree_oid"),
			.host = row_i64(rows, i, "host"),
			.incremental = row_bool(rows, i, "incremental"),
			.seconds = row_f64_or_nan(rows, i, "seconds"),
		};
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Storing a boot's results. */
#include "db/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/environment.h"
#include "db/job.h"
#include "db/result_copy.h"
#include "db/result_series.h"
#include "db/row.h"

static void run_release(struct result_run *run)
{
	free(run->benchmark);
	free(run->params);
	free(run->params_hash);
	free(run->pass);
	free(run->outcome);
	free(run->reason);
	for (size_t i = 0; i < run->metrics.n; i++) {
		free(run->metrics.v[i].name);
		free(run->metrics.v[i].unit);
		free(run->metrics.v[i].direction);
		free(run->metrics.v[i].values);
	}
	for (size_t i = 0; i < run->counters.n; i++) {
		free(run->counters.v[i].name);
		free(run->counters.v[i].reason);
	}
	for (size_t i = 0; i < run->histograms.n; i++) {
		free(run->histograms.v[i].name);
		free(run->histograms.v[i].unit);
		free(run->histograms.v[i].buckets);
	}
	for (size_t i = 0; i < run->locks.n; i++) {
		free(run->locks.v[i].class_name);
		free(run->locks.v[i].site);
		free(run->locks.v[i].hist);
	}
	free(run->metrics.v);
	free(run->counters.v);
	free(run->histograms.v);
	free(run->locks.v);
	free(run->health.reason);
	free(run->profile.source);
	free(run->profile.stacks);
}

void result_drop_run(struct result *result)
{
	run_release(&result->runs.v[--result->runs.n]);
}

void result_release(struct result *result)
{
	for (size_t i = 0; i < result->runs.n; i++)
		run_release(&result->runs.v[i]);
	free(result->runs.v);
	free(result->boot_uuid);
	free(result->build_id);
	free(result->environment);
	free(result->environment_hash);
	free(result->facts);
	*result = (struct result){0};
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double result_estimate(const double *values, size_t n)
{
	AUTO_FREE double *sorted = xcalloc(n, sizeof(*sorted));

	memcpy(sorted, values, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), by_value);
	return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

bool boot_begin(struct db *db, int64_t attempt, int64_t machine, int64_t image, const char *method,
		struct err *err)
{
	static const char sql[] =
		"insert into boots (attempt, machine, image, method)"
		" values ($1::bigint, $2::bigint, $3::bigint, $4) on conflict (attempt) do nothing";

	return db_exec(db, sql,
		       DBV(dbv_i64(attempt), dbv_i64(machine), dbv_id(image), dbv_text(method)),
		       err);
}

bool boot_uuid_seen(struct db *db, const char *boot_uuid, bool *seen, struct err *err)
{
	static const char sql[] = "select exists (select from boots where boot_uuid = $1) as seen";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(boot_uuid)), DB_ONE, &rows, err))
		return false;
	*seen = row_bool(rows, 0, "seen");
	return true;
}

bool suite_definitions(struct db *db, const int64_t *ids, size_t n, json_t **out, struct err *err)
{
	static const char sql[] =
		"select coalesce(jsonb_agg(jsonb_build_object('id', s.id, 'name', s.name,"
		"  'definition', s.definition) order by x.n), '[]')::text as list"
		" from unnest($1::bigint[]) with ordinality as x(id, n) join suites s on s.id = "
		"x.id";
	AUTO_ROWS *rows = NULL;
	const char *text;

	if (!db_query(db, sql, DBV(dbv_i64s(ids, n)), DB_ONE, &rows, err))
		return false;
	text = row_text(rows, 0, "list");
	return js_parse(text, strlen(text), out, err) || err_wrap(err, "suites");
}

/* What the rows of this boot refer to. */
struct storing {
	struct db *db;
	int64_t boot;
	int64_t class_id;
	int64_t recipe;
	int64_t toolchain;
	int64_t setup; /* 0 while the environment is not known */
	char method[16];
};

static bool find_boot(struct storing *s, int64_t token, struct err *err)
{
	static const char sql[] =
		"select b.id, b.method, m.class, bu.recipe, bu.toolchain"
		" from attempts a join boots b on b.attempt = a.id"
		" join machines m on m.id = b.machine join jobs j on j.id = a.job"
		" left join builds bu on bu.id = j.build and j.image is not null"
		" where a.token = $1::bigint and a.outcome = 'running' for update of a";
	AUTO_ROWS *rows = NULL;

	if (!db_query(s->db, sql, DBV(dbv_i64(token)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_CONFLICT,
			       "the lease (token %lld) was lost: the result is thrown away",
			       (long long)token);
	s->boot = row_i64(rows, 0, "id");
	s->class_id = row_i64(rows, 0, "class");
	s->recipe = row_id(rows, 0, "recipe");
	s->toolchain = row_id(rows, 0, "toolchain");
	snprintf(s->method, sizeof(s->method), "%s", row_text(rows, 0, "method"));
	return true;
}

/* The row's id; inserted when new. A conflict with another runner is met by looking again. */
static bool find_or_insert(struct db *db, const char *find, const char *insert,
			   const struct dbv *values, int64_t *id, bool *made, struct err *err)
{
	for (int round = 0; round < 3; round++) {
		AUTO_ROWS *rows = NULL;

		if (!db_query(db, find, values, DB_MAYBE, &rows, err))
			return false;
		if (rows_n(rows)) {
			*id = row_i64(rows, 0, "id");
			return true;
		}
		if (!db_exec(db, insert, values, err))
			return false;
		*made = db_changed(db) > 0;
	}
	return err_set(err, ERR_FAILED, "a row that was just inserted cannot be found");
}

static bool find_setup(struct storing *s, const struct result *result, struct err *err)
{
	static const char find_env[] = "select id from environments where hash = $1"
				       " and $2::text is not null";
	static const char add_env[] = "insert into environments (hash, facts)"
				      " values ($1, $2::text::jsonb) on conflict do nothing";
	static const char find_sql[] =
		"select id from setups where class = $1::bigint and method = $2"
		" and coalesce(recipe, 0) = coalesce($3::bigint, 0)"
		" and coalesce(toolchain, 0) = coalesce($4::bigint, 0)"
		" and environment = $5::bigint";
	static const char add_sql[] =
		"insert into setups (class, method, recipe, toolchain, environment)"
		" values ($1::bigint, $2, $3::bigint, $4::bigint, $5::bigint)"
		" on conflict do nothing";
	bool made = false;
	int64_t env;

	if (!result->environment)
		return true;
	if (!find_or_insert(s->db, find_env, add_env,
			    DBV(dbv_text(result->environment_hash), dbv_text(result->environment)),
			    &env, &made, err))
		return err_wrap(err, "environment");
	made = false;
	if (!find_or_insert(s->db, find_sql, add_sql,
			    DBV(dbv_i64(s->class_id), dbv_text(s->method), dbv_id(s->recipe),
				dbv_id(s->toolchain), dbv_i64(env)),
			    &s->setup, &made, err))
		return err_wrap(err, "setup");
	return !made || setup_note_change(s->db, s->setup, err);
}

static bool end_boot(struct storing *s, const struct boot_end *end, const struct result *result,
		     struct err *err)
{
	static const char sql[] =
		"update boots set outcome = $2, reason = $3, setup = $4::bigint, boot_uuid = $5,"
		" build_id = $6, console = $7::bigint, facts = $8::text::jsonb,"
		" guest_s = $9::float8, ended_at = now() where id = $1::bigint";
	int64_t console;

	if (!artifact_upsert(s->db, &end->console, "console", &console, err))
		return false;
	return db_exec(s->db, sql,
		       DBV(dbv_i64(s->boot), dbv_text(end->outcome), dbv_text(end->reason),
			   dbv_id(s->setup), dbv_text(result->boot_uuid),
			   dbv_text(result->build_id), dbv_id(console), dbv_text(result->facts),
			   dbv_f64(end->guest_s)),
		       err);
}

static json_t *run_json(const struct result_run *run)
{
	json_t *o = json_object();

	js_set_i64(o, "seq", run->seq);
	js_set_str(o, "benchmark", run->benchmark);
	js_set_i64(o, "version", run->version);
	js_set_str(o, "params", run->params);
	js_set_str(o, "params_hash", run->params_hash);
	js_set_str(o, "pass", run->pass);
	js_set_str(o, "outcome", run->outcome ? run->outcome : "failed");
	js_set_str(o, "reason", run->outcome ? run->reason : "it did not come to its end");
	js_set_i64(o, "operations", run->operations);
	js_set_i64(o, "threads", run->threads);
	js_set_f64(o, "seconds", run->seconds);
	return o;
}

static bool add_runs(struct storing *s, const struct result *result, int64_t *ids, struct err *err)
{
	static const char sql[] =
		"insert into runs (boot, seq, benchmark, version, params, params_hash, pass,"
		" outcome, reason, operations, threads, seconds)"
		" select $1::bigint, x.seq, x.benchmark, x.version, x.params::jsonb, x.params_hash,"
		"  x.pass, x.outcome, x.reason, x.operations, x.threads, x.seconds"
		" from jsonb_to_recordset($2::text::jsonb) as x(seq integer, benchmark text,"
		"  version integer, params text, params_hash text, pass text, outcome text,"
		"  reason text, operations bigint, threads integer, seconds double precision)"
		" order by x.seq returning id, seq";
	AUTO_JSON *list = json_array();
	AUTO_FREE char *text = NULL;
	AUTO_ROWS *rows = NULL;

	for (size_t i = 0; i < result->runs.n; i++)
		json_array_append_new(list, run_json(&result->runs.v[i]));
	text = js_text(list);
	if (!db_query(s->db, sql, DBV(dbv_i64(s->boot), dbv_text(text)), DB_MANY, &rows, err))
		return err_wrap(err, "runs");
	for (size_t i = 0; i < rows_n(rows); i++)
		for (size_t k = 0; k < result->runs.n; k++)
			if (result->runs.v[k].seq == row_i64(rows, i, "seq"))
				ids[k] = row_i64(rows, i, "id");
	return true;
}

static bool copy_samples(struct storing *s, const struct result *result, const int64_t *runs,
			 const int64_t *series, struct err *err)
{
	CLEANUP(copy_release)
	struct copy copy =
		copy_into(s->db, "copy samples (run, series, estimate, values) from stdin");

	for (size_t i = 0; i < result->runs.n; i++) {
		for (size_t k = 0; k < result->runs.v[i].metrics.n; k++) {
			const struct result_metric *m = &result->runs.v[i].metrics.v[k];

			copy_i64(&copy, runs[i]);
			copy_i64(&copy, *series++);
			copy_f64(&copy, result_estimate(m->values, m->n));
			copy_f64s(&copy, m->values, m->n);
			if (!copy_row(&copy, err))
				return false;
		}
	}
	return copy_end(&copy, err);
}

static bool add_samples(struct storing *s, const struct result *result, const int64_t *runs,
			struct err *err)
{
	AUTO_FREE int64_t *series = NULL;

	return result_series(s->db, s->setup, result, runs, &series, err) &&
	       (copy_samples(s, result, runs, series, err) || err_wrap(err, "samples"));
}

static bool add_results(struct storing *s, const struct result *result, struct err *err)
{
	AUTO_FREE int64_t *runs = xcalloc(result->runs.n, sizeof(*runs));

	if (!result->runs.n)
		return true;
	if (!s->setup)
		return err_set(err, ERR_FAILED, "runs without an environment");
	return add_runs(s, result, runs, err) && add_samples(s, result, runs, err) &&
	       result_copy_details(s->db, result, runs, err);
}

/* The numbers count; the machine has failed once, which the next boot on it or a canary makes good or worse. */
static bool leave_machine(struct storing *s, const struct boot_end *end, struct err *err)
{
	static const char boot_sql[] = "update attempts a set error = $2 from boots b"
				       " where b.id = $1::bigint and a.id = b.attempt";
	static const char machine_sql[] = "update machines m set failures = 1 from boots b"
					  " where b.id = $1::bigint and m.id = b.machine";

	return !end->left ||
	       (db_exec(s->db, boot_sql, DBV(dbv_i64(s->boot), dbv_text(end->left)), err) &&
		db_exec(s->db, machine_sql, DBV(dbv_i64(s->boot)), err));
}

bool result_store(struct db *db, const struct boot_end *end, const struct result *result,
		  struct err *err)
{
	CLEANUP(db_tx_end) struct db *tx = NULL;
	struct storing s = {.db = db};

	return db_tx_begin(db, &tx, err) && find_boot(&s, end->token, err) &&
	       find_setup(&s, result, err) && end_boot(&s, end, result, err) &&
	       add_results(&s, result, err) &&
	       job_finish(db, end->token, end->attempt_outcome, end->reason, err) &&
	       leave_machine(&s, end, err) && db_tx_commit(&tx, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Storing a boot's results. */
#include "db/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/job.h"
#include "db/result_copy.h"
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
			   const struct dbv *values, int64_t *id, struct err *err)
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
	int64_t env;

	if (!result->environment)
		return true;
	if (!find_or_insert(s->db, find_env, add_env,
			    DBV(dbv_text(result->environment_hash), dbv_text(result->environment)),
			    &env, err))
		return err_wrap(err, "environment");
	if (!find_or_insert(s->db, find_sql, add_sql,
			    DBV(dbv_i64(s->class_id), dbv_text(s->method), dbv_id(s->recipe),
				dbv_id(s->toolchain), dbv_i64(env)),
			    &s->setup, err))
		return err_wrap(err, "setup");
	return true;
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

/* All metrics of all runs, as columns for one statement. */
struct flat {
	size_t n;
	const struct result_metric **metric;
	int64_t *run;
	double *floor;
	int64_t *series;
	char *names, *units, *directions; /* joined by blanks */
};

static void flat_release(struct flat *flat)
{
	free(flat->metric);
	free(flat->run);
	free(flat->floor);
	free(flat->series);
	free(flat->names);
	free(flat->units);
	free(flat->directions);
}

static void flatten(struct flat *flat, const struct result *result, const int64_t *runs)
{
	AUTO_STR names = str_new(), units = str_new(), directions = str_new();

	for (size_t i = 0; i < result->runs.n; i++)
		flat->n += result->runs.v[i].metrics.n;
	flat->metric = xcalloc(flat->n, sizeof(*flat->metric));
	flat->run = xcalloc(flat->n, sizeof(*flat->run));
	flat->floor = xcalloc(flat->n, sizeof(*flat->floor));
	flat->series = xcalloc(flat->n, sizeof(*flat->series));
	for (size_t i = 0, at = 0; i < result->runs.n; i++) {
		const struct result_run *run = &result->runs.v[i];

		for (size_t k = 0; k < run->metrics.n; k++, at++) {
			flat->metric[at] = &run->metrics.v[k];
			flat->run[at] = runs[i];
			flat->floor[at] = run->metrics.v[k].floor;
			str_addf(&names, "%s%s", at ? " " : "", run->metrics.v[k].name);
			str_addf(&units, "%s%s", at ? " " : "", run->metrics.v[k].unit);
			str_addf(&directions, "%s%s", at ? " " : "", run->metrics.v[k].direction);
		}
	}
	flat->names = str_take(&names);
	flat->units = str_take(&units);
	flat->directions = str_take(&directions);
}

static bool check_metric(const struct result_metric *m, const struct rows *rows, size_t i,
			 struct err *err)
{
	const char *unit = row_text(rows, i, "unit"), *direction = row_text(rows, i, "direction");

	if (!strcmp(unit, m->unit) && !strcmp(direction, m->direction))
		return true;
	return err_set(err, ERR_FAILED,
		       "metric %s: is in %s (%s is better) here and in %s (%s) until now; give the "
		       "benchmark a new version",
		       m->name, m->unit, m->direction, unit, direction);
}

/*
 * `offset 0` keeps the look-ups one by one, each by its unique key: a planner without statistics
 * (a young database) joined all with all, and took 100 times as long.
 */
#define EACH_BY_ITS_KEY                                                                \
	" cross join lateral (select * from metrics m where m.benchmark = r.benchmark" \
	"  and m.version = r.version and m.name = x.name offset 0) m"                  \
	" cross join lateral (select * from series s where s.setup = $1::bigint"       \
	"  and s.benchmark = r.benchmark and s.version = r.version"                    \
	"  and s.params_hash = r.params_hash and s.pass = r.pass and s.metric = m.id"  \
	"  offset 0) s"

/* Nearly always all series are there, and their metrics are as ever: one row tells. */
static bool known_series(struct storing *s, struct flat *flat, bool *all, struct err *err)
{
	static const char sql[] =
		"select coalesce(array_agg(s.id order by x.i), '{}') as series,"
		" coalesce(bool_and(m.unit = x.unit and m.direction = x.direction), false) as same"
		" from unnest(string_to_array($2, ' '), $3::bigint[], string_to_array($4, ' '),"
		"  string_to_array($5, ' ')) with ordinality as x(name, run, unit, direction, i)"
		" join runs r on r.id = x.run" EACH_BY_ITS_KEY;
	AUTO_FREE int64_t *ids = NULL;
	AUTO_ROWS *rows = NULL;

	if (!db_query(s->db, sql,
		      DBV(dbv_i64(s->setup), dbv_text(flat->names), dbv_i64s(flat->run, flat->n),
			  dbv_text(flat->units), dbv_text(flat->directions)),
		      DB_ONE, &rows, err))
		return err_wrap(err, "series");
	*all = row_i64s(rows, 0, "series", &ids) == flat->n && row_bool(rows, 0, "same");
	if (*all && flat->n)
		memcpy(flat->series, ids, flat->n * sizeof(*ids));
	return true;
}

/* Fills flat->series; *all is false when some are not there yet. */
static bool look_up_series(struct storing *s, struct flat *flat, bool *all, struct err *err)
{
	static const char sql[] =
		"select x.i, m.unit, m.direction, s.id as series"
		" from unnest(string_to_array($2, ' '), $3::bigint[]) with ordinality"
		"  as x(name, run, i) join runs r on r.id = x.run" EACH_BY_ITS_KEY;
	AUTO_ROWS *rows = NULL;

	if (!db_query(s->db, sql,
		      DBV(dbv_i64(s->setup), dbv_text(flat->names), dbv_i64s(flat->run, flat->n)),
		      DB_MANY, &rows, err))
		return err_wrap(err, "series");
	for (size_t i = 0; i < rows_n(rows); i++) {
		size_t at = (size_t)row_i64(rows, i, "i") - 1;

		if (!check_metric(flat->metric[at], rows, i, err))
			return false;
		flat->series[at] = row_i64(rows, i, "series");
	}
	*all = rows_n(rows) == flat->n;
	return true;
}

static bool add_metrics(struct storing *s, const struct flat *flat, struct err *err)
{
	static const char sql[] =
		"insert into metrics (benchmark, version, name, unit, direction, floor)"
		" select distinct on (r.benchmark, r.version, x.name)"
		"  r.benchmark, r.version, x.name, x.unit, x.direction, x.floor"
		" from unnest(string_to_array($1, ' '), string_to_array($2, ' '),"
		"  string_to_array($3, ' '), $4::float8[], $5::bigint[])"
		"  as x(name, unit, direction, floor, run) join runs r on r.id = x.run"
		" where not exists (select from metrics m where m.benchmark = r.benchmark"
		"  and m.version = r.version and m.name = x.name) on conflict do nothing";

	return db_exec(s->db, sql,
		       DBV(dbv_text(flat->names), dbv_text(flat->units), dbv_text(flat->directions),
			   dbv_f64s(flat->floor, flat->n), dbv_i64s(flat->run, flat->n)),
		       err) ||
	       err_wrap(err, "metrics");
}

static bool add_series(struct storing *s, const struct flat *flat, struct err *err)
{
	static const char sql[] =
		"insert into series (setup, benchmark, version, params_hash, pass, metric)"
		" select distinct $1::bigint, r.benchmark, r.version, r.params_hash, r.pass, m.id"
		" from unnest(string_to_array($2, ' '), $3::bigint[]) as x(name, run)"
		" join runs r on r.id = x.run join metrics m on m.benchmark = r.benchmark"
		"  and m.version = r.version and m.name = x.name"
		" where not exists (select from series s where s.setup = $1::bigint"
		"  and s.benchmark = r.benchmark and s.version = r.version"
		"  and s.params_hash = r.params_hash and s.pass = r.pass and s.metric = m.id)"
		" on conflict do nothing";

	return db_exec(s->db, sql,
		       DBV(dbv_i64(s->setup), dbv_text(flat->names), dbv_i64s(flat->run, flat->n)),
		       err) ||
	       err_wrap(err, "series");
}

static bool find_series(struct storing *s, struct flat *flat, struct err *err)
{
	bool all;

	if (!known_series(s, flat, &all, err))
		return false;
	if (all)
		return true;
	if (!add_metrics(s, flat, err) || !add_series(s, flat, err) ||
	    !look_up_series(s, flat, &all, err))
		return false;
	return all || err_set(err, ERR_FAILED, "series: some could not be made");
}

static bool copy_samples(struct storing *s, const struct flat *flat, struct err *err)
{
	CLEANUP(copy_release)
	struct copy copy =
		copy_into(s->db, "copy samples (run, series, estimate, values) from stdin");

	for (size_t i = 0; i < flat->n; i++) {
		const struct result_metric *m = flat->metric[i];

		copy_i64(&copy, flat->run[i]);
		copy_i64(&copy, flat->series[i]);
		copy_f64(&copy, result_estimate(m->values, m->n));
		copy_f64s(&copy, m->values, m->n);
		if (!copy_row(&copy, err))
			return err_wrap(err, "samples");
	}
	return copy_end(&copy, err) || err_wrap(err, "samples");
}

static bool add_samples(struct storing *s, const struct result *result, const int64_t *runs,
			struct err *err)
{
	CLEANUP(flat_release) struct flat flat = {0};

	flatten(&flat, result, runs);
	if (!flat.n)
		return true;
	return find_series(s, &flat, err) && copy_samples(s, &flat, err);
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

bool result_store(struct db *db, const struct boot_end *end, const struct result *result,
		  struct err *err)
{
	CLEANUP(db_tx_end) struct db *tx = NULL;
	struct storing s = {.db = db};

	return db_tx_begin(db, &tx, err) && find_boot(&s, end->token, err) &&
	       find_setup(&s, result, err) && end_boot(&s, end, result, err) &&
	       add_results(&s, result, err) &&
	       job_finish(db, end->token, end->attempt_outcome, end->reason, err) &&
	       db_tx_commit(&tx, err);
}

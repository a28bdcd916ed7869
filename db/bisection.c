// SPDX-License-Identifier: GPL-2.0-or-later
/* Searches and their steps. */
#include "db/bisection.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"

static const char *const kinds[] = {
	[HYPOTHESIS_NONE] = "none",
	[HYPOTHESIS_COMMIT] = "commit",
	[HYPOTHESIS_DROPPED] = "dropped",
};

static struct dbv f64_or_null(double f)
{
	return isfinite(f) ? dbv_f64(f) : dbv_null();
}

bool bisection_add(struct db *db, struct bisection *b, struct err *err)
{
	static const char sql[] =
		"insert into bisections (candidate, request, tree, series, suite, class, recipe,"
		"  toolchain, good, bad, merge_base, seed, min_effect, budget_boots,"
		"  past_level, past_sd, past_heads) values ($1, $2, $3, $4, $5, $6, $7, $8, $9,"
		"  $10, $11, $12, $13, $14, $15, $16, $17) returning id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_id(b->candidate), dbv_id(b->request), dbv_i64(b->tree),
			  dbv_i64(b->series), dbv_i64(b->suite), dbv_i64(b->class_id),
			  dbv_i64(b->recipe), dbv_i64(b->toolchain), dbv_i64(b->good),
			  dbv_i64(b->bad), dbv_i64(b->merge_base), dbv_i64((int64_t)b->seed),
			  dbv_f64(b->min_effect), dbv_i64(b->budget_boots),
			  b->past_sd > 0 ? dbv_f64(b->past_level) : dbv_null(),
			  b->past_sd > 0 ? dbv_f64(b->past_sd) : dbv_null(), dbv_id(b->past_heads)),
		      DB_ONE, &rows, err))
		return err_wrap(err, "new bisection");
	b->id = row_i64(rows, 0, "id");
	return true;
}

bool hypotheses_add(struct db *db, int64_t bisection, const struct hypotheses *hypotheses,
		    struct err *err)
{
	static const char sql[] = "insert into hypotheses (bisection, n, kind, commit, prior, mass)"
				  " values ($1, $2, $3, $4, $5, $5)";

	for (size_t i = 0; i < hypotheses->n; i++) {
		const struct hypothesis *h = &hypotheses->v[i];

		if (!db_exec(db, sql,
			     DBV(dbv_i64(bisection), dbv_i64((int64_t)i), dbv_text(kinds[h->kind]),
				 dbv_id(h->commit), dbv_f64(h->prior)),
			     err))
			return err_wrap(err, "bisection %lld", (long long)bisection);
	}
	return true;
}

static enum hypothesis_kind kind_of(const char *text)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(kinds[i], text))
			return (enum hypothesis_kind)i;
	return HYPOTHESIS_NONE;
}

bool hypotheses_read(struct db *db, int64_t bisection, struct hypotheses *out, struct err *err)
{
	static const char sql[] = "select kind, commit, prior, mass from hypotheses"
				  " where bisection = $1 order by n";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(bisection)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct hypothesis){
			.kind = kind_of(row_text(rows, i, "kind")),
			.commit = row_id(rows, i, "commit"),
			.prior = row_f64(rows, i, "prior"),
			.mass = row_f64(rows, i, "mass"),
		};
	return true;
}

bool hypotheses_set_mass(struct db *db, int64_t bisection, const double *mass, size_t n,
			 struct err *err)
{
	static const char sql[] =
		"update hypotheses h set mass = u.mass"
		" from unnest($2::float8[]) with ordinality u(mass, i)"
		" where h.bisection = $1 and h.n = u.i - 1 and h.mass is distinct from u.mass";

	return db_exec(db, sql, DBV(dbv_i64(bisection), dbv_f64s(mass, n)), err);
}

static void take(const struct rows *rows, size_t i, struct bisection *b)
{
	*b = (struct bisection){
		.id = row_i64(rows, i, "id"),
		.candidate = row_id(rows, i, "candidate"),
		.request = row_id(rows, i, "request"),
		.tree = row_i64(rows, i, "tree"),
		.series = row_i64(rows, i, "series"),
		.suite = row_i64(rows, i, "suite"),
		.class_id = row_i64(rows, i, "class"),
		.recipe = row_i64(rows, i, "recipe"),
		.toolchain = row_i64(rows, i, "toolchain"),
		.good = row_i64(rows, i, "good"),
		.bad = row_i64(rows, i, "bad"),
		.merge_base = row_i64(rows, i, "merge_base"),
		.culprit = row_id(rows, i, "culprit"),
		.posterior = row_f64_or_nan(rows, i, "posterior"),
		.seed = (uint64_t)row_i64(rows, i, "seed"),
		.min_effect = row_f64(rows, i, "min_effect"),
		.budget_boots = (int)row_i64(rows, i, "budget_boots"),
		.age_s = row_f64(rows, i, "age_s"),
		.past_level = row_is_null(rows, i, "past_sd") ? 0 : row_f64(rows, i, "past_level"),
		.past_sd = row_is_null(rows, i, "past_sd") ? 0 : row_f64(rows, i, "past_sd"),
		.past_heads = (int)row_id(rows, i, "past_heads"),
	};
	strncpy(b->state, row_text(rows, i, "state"), sizeof(b->state) - 1);
}

bool bisections_open(struct db *db, struct bisections *out, struct err *err)
{
	static const char sql[] =
		"select *, extract(epoch from now() - begun_at)::float8 as age_s from bisections"
		" where state in ('searching', 'proving') order by id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		take(rows, i, array_push(out->v, out->n, out->cap));
	return true;
}

bool bisection_of(struct db *db, int64_t candidate, int64_t request, struct bisection *out,
		  struct err *err)
{
	static const char sql[] = "select *, extract(epoch from now() - begun_at)::float8 as age_s"
				  " from bisections where candidate = $1 or request = $2";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_id(candidate), dbv_id(request)), DB_MAYBE, &rows, err))
		return false;
	*out = (struct bisection){0};
	if (rows_n(rows))
		take(rows, 0, out);
	return true;
}

bool steps_count(struct db *db, int64_t bisection, int *n, struct err *err)
{
	static const char sql[] = "select count(*) as n from steps where bisection = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(bisection)), DB_ONE, &rows, err))
		return false;
	*n = (int)row_i64(rows, 0, "n");
	return true;
}

bool step_add(struct db *db, int64_t bisection, int n, int64_t commit, int64_t job,
	      const char *reason, struct err *err)
{
	static const char sql[] = "insert into steps (bisection, n, commit, job, reason)"
				  " values ($1, $2, $3, $4, $5)";

	return db_exec(
		db, sql,
		DBV(dbv_i64(bisection), dbv_i64(n), dbv_i64(commit), dbv_id(job), dbv_text(reason)),
		err);
}

bool bisection_start_proof(struct db *db, int64_t id, int64_t culprit, double posterior,
			   const char *reason, const char *notes, struct err *err)
{
	static const char sql[] = "update bisections set state = 'proving', culprit = $2,"
				  "  posterior = $3, reason = $4 || $5, notes = $5"
				  " where id = $1 and state = 'searching'";

	return db_exec(db, sql,
		       DBV(dbv_i64(id), dbv_i64(culprit), dbv_f64(posterior), dbv_text(reason),
			   dbv_text(notes)),
		       err);
}

static bool copy_hypotheses(struct db *db, int64_t from, int64_t to, const double *masses, size_t n,
			    struct err *err)
{
	static const char sql[] =
		"insert into hypotheses (bisection, n, kind, commit, prior, mass)"
		" select $2, h.n, h.kind, h.commit, h.prior, u.mass from hypotheses h"
		" join unnest($3::float8[]) with ordinality u(mass, i) on h.n = u.i - 1"
		" where h.bisection = $1";

	return db_exec(db, sql, DBV(dbv_i64(from), dbv_i64(to), dbv_f64s(masses, n)), err);
}

bool bisection_add_beside(struct db *db, int64_t of, int64_t culprit, const double *masses,
			  size_t n, double posterior, const char *reason, bool *fresh,
			  struct err *err)
{
	static const char sql[] =
		"insert into bisections (beside, tree, series, suite, class, recipe, toolchain,"
		"  good, bad, merge_base, seed, min_effect, budget_boots, state, culprit,"
		"  posterior, reason)"
		" select id, tree, series, suite, class, recipe, toolchain, good, bad, merge_base,"
		"  seed, min_effect, budget_boots, 'proving', $2, $3, $4"
		" from bisections where id = $1 on conflict (beside) do nothing returning id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_i64(of), dbv_i64(culprit), dbv_f64(posterior), dbv_text(reason)),
		      DB_MAYBE, &rows, err))
		return err_wrap(err, "second culprit");
	*fresh = rows_n(rows) == 1;
	return !*fresh || copy_hypotheses(db, of, row_i64(rows, 0, "id"), masses, n, err);
}

bool bisection_finish(struct db *db, int64_t id, const struct bisection_end *end, struct err *err)
{
	static const char sql[] =
		"update bisections set state = 'done', outcome = $2,"
		"  reason = $3 || coalesce(notes, ''),"
		"  culprit = coalesce($4, culprit), posterior = coalesce($5, posterior),"
		"  ended_at = now() where id = $1 and state in ('searching', 'proving')";

	return db_exec(db, sql,
		       DBV(dbv_i64(id), dbv_text(end->outcome), dbv_text(end->reason),
			   dbv_id(end->culprit), f64_or_null(end->posterior)),
		       err);
}

bool bisection_cancel(struct db *db, int64_t id, const char *reason, struct err *err)
{
	static const char sql[] =
		"update bisections set state = 'cancelled', outcome = 'unfinished', reason = $2,"
		"  ended_at = now() where id = $1 and state in ('searching', 'proving')";

	return db_exec(db, sql, DBV(dbv_i64(id), dbv_text(reason)), err);
}

/* Boots of the proof have keys of their own, so those that were cancelled are queued again. */
static bool requeue_proof(struct db *db, int64_t id, struct err *err)
{
	static const char sql[] =
		"update jobs set state = 'queued', ended_at = null, error = null"
		" where bisection = $1 and purpose = 'prove' and state = 'cancelled'";

	return db_exec(db, sql, DBV(dbv_i64(id)), err);
}

bool bisection_reopen(struct db *db, int64_t id, int more_boots, bool *found, struct err *err)
{
	static const char sql[] =
		"update bisections set budget_boots = budget_boots + $2::int, outcome = null,"
		"  begun_at = now(), ended_at = null,"
		"  reason = case when ended_at is null then reason end,"
		"  state = case when ended_at is null then state"
		"   when culprit is null then 'searching' else 'proving' end"
		" where id = $1 and (state in ('searching', 'proving', 'cancelled')"
		"  or (outcome in ('narrowed', 'unfinished') and culprit is null)) returning id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id), dbv_i64(more_boots)), DB_MAYBE, &rows, err))
		return false;
	*found = rows_n(rows) == 1;
	return !*found || requeue_proof(db, id, err);
}

void bisection_summary_release(struct bisection_summary *summary)
{
	free(summary->state);
	free(summary->outcome);
	free(summary->reason);
	free(summary->culprit_oid);
	free(summary->culprit_subject);
	free(summary->second_oid);
	*summary = (struct bisection_summary){0};
}

bool bisection_summary_read(struct db *db, int64_t id, struct bisection_summary *out,
			    struct err *err)
{
	static const char sql[] =
		"select b.state, b.outcome, b.reason, b.posterior, c.oid, c.subject,"
		"  r.id as regression, s.id as second, sc.oid as second_oid, (select count(*) from "
		"jobs j where j.bisection = b.id"
		"   and j.kind = 'boot' and j.state = 'done') as boots"
		" from bisections b left join commits c on c.id = b.culprit"
		" left join bisections s on s.beside = b.id"
		" left join commits sc on sc.id = s.culprit"
		" left join regressions r on r.tree = b.tree and r.patch ="
		"  (select coalesce(p.lineage, p.id) from patches p where p.id = c.patch)"
		" where b.id = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id)), DB_ONE, &rows, err))
		return err_wrap(err, "bisection %lld", (long long)id);
	*out = (struct bisection_summary){
		.state = row_dup(rows, 0, "state"),
		.outcome = row_dup(rows, 0, "outcome"),
		.reason = row_dup(rows, 0, "reason"),
		.culprit_oid = row_dup(rows, 0, "oid"),
		.culprit_subject = row_dup(rows, 0, "subject"),
		.posterior = row_f64_or_nan(rows, 0, "posterior"),
		.regression = row_id(rows, 0, "regression"),
		.second = row_id(rows, 0, "second"),
		.second_oid = row_dup(rows, 0, "second_oid"),
		.boots = (int)row_i64(rows, 0, "boots"),
	};
	return true;
}

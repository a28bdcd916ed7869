// SPDX-License-Identifier: GPL-2.0-or-later
/* Proved regressions, written. */
#include "db/regression.h"

#include <math.h>
#include <stdlib.h>

#include "db/row.h"

bool regression_find(struct db *db, int64_t tree, int64_t patch, int64_t *id, struct err *err)
{
	static const char sql[] = "select id from regressions where tree = $1 and patch = $2";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(tree), dbv_i64(patch)), DB_MAYBE, &rows, err))
		return false;
	*id = rows_n(rows) ? row_i64(rows, 0, "id") : 0;
	return true;
}

bool regression_between(struct db *db, int64_t snapshot, int from, int to, bool *yes,
			struct err *err)
{
	static const char sql[] =
		"select exists (select from snapshot_commits s join commits c on c.id = s.commit"
		"  join patches p on p.id = c.patch"
		"  join regressions r on r.patch = coalesce(p.lineage, p.id)"
		"  where s.snapshot = $1 and s.pos > $2 and s.pos <= $3) as yes";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(snapshot), dbv_i64(from), dbv_i64(to)), DB_ONE, &rows,
		      err))
		return false;
	*yes = row_bool(rows, 0, "yes");
	return true;
}

static struct dbv finite_or_null(double x)
{
	return isfinite(x) ? dbv_f64(x) : dbv_null();
}

void regression_functions_release(struct regression_functions *functions)
{
	free(functions->names);
	free(functions->reason);
	*functions = (struct regression_functions){0};
}

static struct dbv count_or_null(const struct regression_functions *f, size_t n)
{
	return f->known ? dbv_i64((int64_t)n) : dbv_null();
}

bool regression_add(struct db *db, struct regression *regression, struct err *err)
{
	static const char sql[] =
		"insert into regressions (tree, patch, culprit, parent, bisection, state, "
		"posterior,"
		"  revert_effect, revert_reason, revert_lo, revert_hi, layout_suspect,"
		"  functions_differ, functions_hot, functions_hot_differ, functions_names,"
		"  functions_reason)"
		" values ($1, $2, $3, $4, $5, 'proved', $6, $7, $8, $9, $10, $11::boolean,"
		"  $12::bigint, $13::bigint, $14::bigint, $15, $16)"
		" returning id";
	const struct regression_functions *f = regression->functions;
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_i64(regression->tree), dbv_i64(regression->patch),
			  dbv_i64(regression->culprit), dbv_i64(regression->parent),
			  dbv_i64(regression->bisection), dbv_f64(regression->posterior),
			  finite_or_null(regression->revert_effect),
			  dbv_text(regression->revert_reason),
			  finite_or_null(regression->revert_lo),
			  finite_or_null(regression->revert_hi),
			  f->known ? dbv_bool(f->suspect) : dbv_null(), count_or_null(f, f->differ),
			  count_or_null(f, f->hot), count_or_null(f, f->hot_differ),
			  dbv_text(f->known ? f->names : NULL), dbv_text(f->reason)),
		      DB_ONE, &rows, err))
		return err_wrap(err, "regression of bisection %lld",
				(long long)regression->bisection);
	regression->id = row_i64(rows, 0, "id");
	return true;
}

bool regression_series_add(struct db *db, int64_t regression,
			   const struct regression_series *series, struct err *err)
{
	static const char sql[] =
		"insert into regression_series (regression, series, is_primary, before_n,"
		"  before_mean, after_n, after_mean, effect, lo, hi, significant)"
		" values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";

	return db_exec(db, sql,
		       DBV(dbv_i64(regression), dbv_i64(series->series),
			   dbv_bool(series->is_primary), dbv_i64((int64_t)series->before_n),
			   dbv_f64(series->before_mean), dbv_i64((int64_t)series->after_n),
			   dbv_f64(series->after_mean), dbv_f64(series->effect),
			   dbv_f64(series->lo), dbv_f64(series->hi), dbv_bool(series->significant)),
		       err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Pilots and what they gave. */
#include "db/noise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"

void noise_boots_release(struct noise_boots *boots)
{
	for (size_t i = 0; i < boots->n; i++)
		free(boots->v[i].values);
	free(boots->v);
	*boots = (struct noise_boots){0};
}

bool noise_boots_read(struct db *db, int64_t request, struct noise_boots *out, struct err *err)
{
	static const char sql[] =
		"select e.series, e.boot, coalesce(e.role, '') as role, e.estimate, s.values,"
		"  r.seconds as run_s, extract(epoch from a.ended_at - a.started_at)::float8"
		"   - (select sum(x.seconds) from runs x where x.boot = e.boot) as others_s"
		" from boot_estimates e join runs r on r.boot = e.boot"
		" join samples s on s.series = e.series and s.run = r.id"
		" join boots b on b.id = e.boot join attempts a on a.id = b.attempt"
		" where e.request = $1::bigint and e.purpose = 'request'"
		" order by e.series, e.boot";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(request)), DB_MANY, &rows, err))
		return err_wrap(err, "boots of request %lld", (long long)request);
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct noise_boot *b = array_push(out->v, out->n, out->cap);

		*b = (struct noise_boot){
			.series = row_i64(rows, i, "series"),
			.boot = row_i64(rows, i, "boot"),
			.number = row_f64(rows, i, "estimate"),
			.run_s = row_f64_or_nan(rows, i, "run_s"),
			.others_s = row_f64_or_nan(rows, i, "others_s"),
		};
		strncpy(b->role, row_text(rows, i, "role"), sizeof(b->role) - 1);
		b->n = row_f64s(rows, i, "values", &b->values);
	}
	return true;
}

static struct dbv or_null(double x)
{
	return isfinite(x) ? dbv_f64(x) : dbv_null();
}

bool noise_add(struct db *db, const struct noise_row *row, struct err *err)
{
	static const char sql[] =
		"insert into noise (request, series, layouts, boots, iterations, sd_iteration, "
		"sd_boot,"
		"  sd_layout, sd, df, boot_s, iteration_s, best_iterations, last_boot)"
		" values ($1::bigint, $2::bigint, $3::bigint, $4::bigint, $5::float8, $6::float8,"
		"  $7::float8, $8::float8, $9::float8, $10::bigint, $11::float8, $12::float8,"
		"  $13::bigint, $14::bigint)";

	return db_exec(db, sql,
		       DBV(dbv_i64(row->request), dbv_i64(row->series),
			   dbv_i64((int64_t)row->layouts), dbv_i64((int64_t)row->boots),
			   dbv_f64(row->iterations), or_null(row->sd_iteration),
			   or_null(row->sd_boot), or_null(row->sd_layout), dbv_f64(row->sd),
			   dbv_i64((int64_t)row->df), or_null(row->boot_s),
			   or_null(row->iteration_s), dbv_id(row->best_iterations),
			   dbv_i64(row->last_boot)),
		       err);
}

bool noise_layout(struct db *db, int64_t series, double *layout, double *boot, struct err *err)
{
	static const char sql[] = "select sd_layout, sd from noise where series = $1::bigint and "
				  "sd_layout is not null"
				  " order by last_boot desc limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(series)), DB_MAYBE, &rows, err))
		return false;
	*layout = rows_n(rows) ? row_f64(rows, 0, "sd_layout") : 0;
	*boot = rows_n(rows) ? row_f64(rows, 0, "sd") : 0;
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* One number per boot. */
#include "db/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <string.h>

#include "db/row.h"

void series_release(struct series *series)
{
	free(series->benchmark);
	free(series->pass);
	free(series->metric);
	free(series->unit);
	free(series->direction);
	*series = (struct series){0};
}

void series_list_release(struct series_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		series_release(&list->v[i]);
	free(list->v);
	*list = (struct series_list){0};
}

const struct series *series_find(const struct series_list *list, int64_t id)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i].id == id)
			return &list->v[i];
	return NULL;
}

bool series_is_boots(const struct series *series)
{
	return !strcmp(series->benchmark, "boot");
}

bool series_of_boots(struct db *db, int64_t class_id, int64_t recipe, int64_t toolchain,
		     int64_t *id, struct err *err)
{
	static const char sql[] = "select boot_series($1, $2, $3) as id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(class_id), dbv_i64(recipe), dbv_i64(toolchain)), DB_ONE,
		      &rows, err))
		return err_wrap(err, "series of boots");
	*id = row_i64(rows, 0, "id");
	return true;
}

bool series_read(struct db *db, const int64_t *ids, size_t n, struct series_list *out,
		 struct err *err)
{
	/* A suite names some parameters, a run has all of them: the closest suite is its own. */
	static const char sql[] =
		"select s.id, s.setup, p.class, p.recipe, p.toolchain, s.benchmark, s.pass,"
		"  m.name, m.unit, m.direction, m.floor, m.real_cpus, c.emulated, (select u.id "
		"from suites u"
		"   where u.definition->>'benchmark' = s.benchmark order by coalesce((select"
		"    r.params @> coalesce(u.definition->'params', '{}') from samples x"
		"    join runs r on r.id = x.run where x.series = s.id limit 1), false) desc,"
		"   u.version desc, u.id desc limit 1) as suite"
		" from series s join setups p on p.id = s.setup join metrics m on m.id = s.metric"
		" join classes c on c.id = p.class where s.id = any($1::bigint[]) order by s.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64s(ids, n)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct series){
			.id = row_i64(rows, i, "id"),
			.setup = row_i64(rows, i, "setup"),
			.class_id = row_i64(rows, i, "class"),
			.recipe = row_id(rows, i, "recipe"),
			.toolchain = row_id(rows, i, "toolchain"),
			.suite = row_id(rows, i, "suite"),
			.benchmark = row_dup(rows, i, "benchmark"),
			.pass = row_dup(rows, i, "pass"),
			.metric = row_dup(rows, i, "name"),
			.unit = row_dup(rows, i, "unit"),
			.direction = row_dup(rows, i, "direction"),
			.floor = row_f64(rows, i, "floor"),
			.emulated = row_bool(rows, i, "emulated"),
			.real_cpus = row_bool(rows, i, "real_cpus"),
		};
	return true;
}

bool estimates_read(struct db *db, const struct estimate_filter *filter, struct estimates *out,
		    struct err *err)
{
	static const char sql[] =
		"select e.series, e.boot, e.machine, e.image, e.commit, coalesce(e.role, '') as "
		"role,"
		"  e.estimate, coalesce(substring((select key from jobs where id = e.job)"
		"   from ':([0-9]{1,9})(?:/[0-9]{1,9})?$')::bigint, 0) as block"
		" from boot_estimates e where ($1::bigint is null or e.candidate = $1)"
		"  and ($2::bigint is null or e.bisection = $2)"
		"  and ($3::bigint is null or e.request = $3)"
		"  and ($4::text is null or e.purpose = $4)"
		"  and ($5::bigint is null or e.series = $5)"
		"  and ($6::bigint is null or e.series in (select s.id from series s"
		"   join setups p on p.id = s.setup where p.class = $6))"
		"  and ($7::bigint is null or e.image in ($7, $8))"
		" order by e.series, e.boot";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_id(filter->candidate), dbv_id(filter->bisection),
			  dbv_id(filter->request), dbv_text(filter->purpose),
			  dbv_id(filter->series), dbv_id(filter->class_id), dbv_id(filter->image_a),
			  dbv_id(filter->image_b)),
		      DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct estimate *e = array_push(out->v, out->n, out->cap);

		e->series = row_i64(rows, i, "series");
		e->boot = row_i64(rows, i, "boot");
		e->machine = row_i64(rows, i, "machine");
		e->image = row_id(rows, i, "image");
		e->commit = row_id(rows, i, "commit");
		strncpy(e->role, row_text(rows, i, "role"), sizeof(e->role) - 1);
		e->block = row_i64(rows, i, "block");
		e->value = row_f64(rows, i, "estimate");
	}
	return true;
}

bool estimates_series(struct db *db, const struct estimates *estimates, struct series_list *out,
		      struct err *err)
{
	AUTO_FREE int64_t *ids = xcalloc(estimates->n, sizeof(*ids));
	size_t n = 0;

	for (size_t i = 0; i < estimates->n; i++)
		if (!n || ids[n - 1] != estimates->v[i].series)
			ids[n++] = estimates->v[i].series;
	return series_read(db, ids, n, out, err);
}

bool series_noise(struct db *db, const struct series *series, int64_t image_a, int64_t image_b,
		  int64_t before_boot, double *sd, double *df, struct err *err)
{
	static const char sql[] =
		"with last as (select image, ln(estimate + $2) as y from boot_estimates"
		"  where series = $1 and purpose = 'detect' and image is not null"
		"   and image is distinct from $3 and image is distinct from $4"
		"   and ($5::bigint is null or boot < $5) and estimate + $2 > 0"
		"  order by boot desc limit 200),"
		" per as (select count(*) - 1 as df, var_samp(y) * (count(*) - 1) as sse"
		"  from last group by image having count(*) > 1),"
		" pilot as (select df, sd * sd * df as sse from noise where series = $1"
		"  and ($5::bigint is null or last_boot < $5) order by last_boot desc limit 1)"
		" select coalesce(sum(df), 0) as df, coalesce(sum(sse), 0) as sse"
		"  from (select * from per union all select * from pilot) both_of_them";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_i64(series->id), dbv_f64(series->floor), dbv_id(image_a),
			  dbv_id(image_b), dbv_id(before_boot)),
		      DB_ONE, &rows, err))
		return false;
	*df = row_f64(rows, 0, "df");
	*sd = *df > 0 ? sqrt(row_f64(rows, 0, "sse") / *df) : 0;
	return true;
}

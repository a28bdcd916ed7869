// SPDX-License-Identifier: GPL-2.0-or-later
/* Spans of commits. */
#include "db/span.h"

#include <string.h>

#include "db/row.h"

bool span_points_read(struct db *db, const struct series *series, int64_t snapshot, int most,
		      struct span_points *out, struct err *err)
{
	static const char sql[] =
		"with points as (select x.pos, b.image from snapshot_commits x"
		"  join commits k on k.id = x.commit"
		"  join builds b on b.tree_oid = k.tree_oid and b.recipe = $3 and b.toolchain = $4"
		"   and b.layout_seed = 0 and b.image is not null where x.snapshot = $2),"
		" counted as (select e.image, least(count(*), $5) as boots from boot_estimates e"
		"  where e.series = $1 and e.purpose = 'detect'"
		"   and e.image in (select image from points) group by e.image)"
		" select p.pos, p.image, c.boots from points p join counted c on c.image = p.image"
		"  order by p.pos";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_i64(series->id), dbv_i64(snapshot), dbv_id(series->recipe),
			  dbv_id(series->toolchain), dbv_i64(most)),
		      DB_MANY, &rows, err))
		return err_wrap(err, "commits of series %lld", (long long)series->id);
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct span_point){
			.pos = (int)row_i64(rows, i, "pos"),
			.image = row_i64(rows, i, "image"),
			.boots = (size_t)row_i64(rows, i, "boots"),
		};
	return true;
}

bool spans_store(struct db *db, int64_t series, int64_t branch, int64_t snapshot,
		 const struct db_span *spans, size_t n, struct err *err)
{
	static const char clear[] = "delete from spans where series = $1 and branch = $2";
	static const char add[] =
		"insert into spans (series, branch, first_pos, last_pos, snapshot,"
		" down_to) values ($1, $2, $3, $4, $5, $6)";

	if (!db_exec(db, clear, DBV(dbv_i64(series), dbv_i64(branch)), err))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!db_exec(db, add,
			     DBV(dbv_i64(series), dbv_i64(branch), dbv_i64(spans[i].first_pos),
				 dbv_i64(spans[i].last_pos), dbv_i64(snapshot),
				 dbv_f64(spans[i].down_to)),
			     err))
			return err_wrap(err, "spans of series %lld", (long long)series);
	return true;
}

bool span_commits(struct db *db, const char *oid, json_t **out, struct err *err)
{
	static const char sql[] =
		"with r as (select t.name as tree, b.name as branch, c.name as class, s.benchmark,"
		"   m.name as metric, k.oid, k.subject, x.last_pos - x.first_pos as beside,"
		"   (select a.state from candidates a"
		"     join snapshot_commits z on z.snapshot = x.snapshot and z.commit = "
		"a.after_commit"
		"     left join snapshot_commits y on y.snapshot = x.snapshot"
		"      and y.commit = a.before_commit"
		"     left join bisections i on i.candidate = coalesce(a.leader, a.id)"
		"      and i.outcome = 'culprit'"
		"     left join snapshot_commits q on q.snapshot = x.snapshot and q.commit = "
		"i.culprit"
		"    where a.series = x.series and not a.twin"
		"     and case when q.pos is not null then q.pos between x.first_pos and x.last_pos"
		"      else z.pos >= x.first_pos and coalesce(y.pos, 0) < x.last_pos end"
		"    order by a.id desc limit 1) as found,"
		"   nullif(x.down_to, 'Infinity') as down_to"
		"  from spans x join snapshot_commits w on w.snapshot = x.snapshot"
		"   and w.pos between x.first_pos and x.last_pos"
		"  join commits k on k.id = w.commit and ($1::text is null or starts_with(k.oid, "
		"$1))"
		"  join branches b on b.id = x.branch join trees t on t.id = b.tree"
		"  join series s on s.id = x.series join metrics m on m.id = s.metric"
		"  join setups p on p.id = s.setup join classes c on c.id = p.class"
		"  order by t.name, b.name, w.pos desc, c.name, s.benchmark, m.name, s.pass, s.id)"
		" select coalesce(json_agg(r), '[]') as doc from r";
	AUTO_ROWS *rows = NULL;
	const char *text;

	if (!db_query(db, sql, DBV(dbv_text(oid)), DB_ONE, &rows, err))
		return err_wrap(err, "commits");
	text = row_text(rows, 0, "doc");
	return js_parse(text, strlen(text), out, err);
}

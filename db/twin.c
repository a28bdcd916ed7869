// SPDX-License-Identifier: GPL-2.0-or-later
/* The standing A/A. */
#include "db/twin.h"

#include "db/row.h"

bool twins_unjudged(struct db *db, int64_t branch, int snapshots, int64_t recipe, int64_t toolchain,
		    struct twins *out, struct err *err)
{
	static const char sql[] =
		"select s.id, s.head, c.id as class, p.id as own_build, p.image as own_image,"
		"  t.id as twin_build, t.image as twin_image"
		" from (select * from snapshots where branch = $1 order by seq desc limit $2) s"
		" join commits k on k.id = s.head"
		" join builds p on p.tree_oid = k.tree_oid and p.recipe = $3 and p.toolchain = $4"
		"  and p.layout_seed = 0"
		" join builds t on t.tree_oid = k.tree_oid and t.recipe = $3 and t.toolchain = $4"
		"  and t.layout_seed = s.id and t.image <> p.image"
		" cross join classes c where not exists (select from twins w"
		"  where w.image = t.image and w.class = c.id) order by s.seq, c.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_i64(branch), dbv_i64(snapshots), dbv_i64(recipe), dbv_i64(toolchain)),
		      DB_MANY, &rows, err))
		return err_wrap(err, "twins");
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct twin){
			.snapshot = row_i64(rows, i, "id"),
			.head = row_i64(rows, i, "head"),
			.class_id = row_i64(rows, i, "class"),
			.own_build = row_i64(rows, i, "own_build"),
			.own_image = row_i64(rows, i, "own_image"),
			.twin_build = row_i64(rows, i, "twin_build"),
			.twin_image = row_i64(rows, i, "twin_image"),
		};
	return true;
}

bool twin_judged(struct db *db, const struct twin *twin, size_t series, size_t suspected,
		 struct err *err)
{
	static const char sql[] =
		"insert into twins (image, class, snapshot, build, series, suspected)"
		" values ($1, $2, $3, $4, $5, $6) on conflict do nothing";

	return db_exec(db, sql,
		       DBV(dbv_i64(twin->twin_image), dbv_i64(twin->class_id),
			   dbv_i64(twin->snapshot), dbv_i64(twin->twin_build),
			   dbv_i64((int64_t)series), dbv_i64((int64_t)suspected)),
		       err);
}

bool twin_build(struct db *db, int64_t image, int64_t class_id, int64_t *build, struct err *err)
{
	static const char sql[] = "select build from twins where image = $1 and class = $2";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(image), dbv_i64(class_id)), DB_ONE, &rows, err))
		return err_wrap(err, "twin of image %lld", (long long)image);
	*build = row_i64(rows, 0, "build");
	return true;
}

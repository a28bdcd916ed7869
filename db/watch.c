// SPDX-License-Identifier: GPL-2.0-or-later
/* Histories of series. */
#include "db/watch.h"

#include <stdlib.h>
#include <string.h>

#include "db/row.h"

void watched_release(struct watched_list *list)
{
	free(list->v);
	free(list->ends);
	*list = (struct watched_list){0};
}

static bool read_ends(struct db *db, int64_t series, struct watched_list *out, struct err *err)
{
	static const char sql[] =
		"select before_image, after_image, state from candidates where series = $1"
		" order by id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(series)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct watched_end *e = array_push(out->ends, out->n_ends, out->cap_ends);

		e->before_image = row_i64(rows, i, "before_image");
		e->after_image = row_i64(rows, i, "after_image");
		strncpy(e->state, row_text(rows, i, "state"), sizeof(e->state) - 1);
	}
	return true;
}

bool watched_read(struct db *db, const struct series *series, int64_t branch, int boots,
		  const struct watched_twin *twin, struct watched_list *out, struct err *err)
{
	static const char sql[] =
		"with heads as (select b.image, min(s.seq) as seq,"
		"   (array_agg(s.head order by s.seq))[1] as head"
		"  from (select * from snapshots where branch = $2 order by seq desc limit 300) s"
		"  join commits c on c.id = s.head"
		"  join builds b on b.tree_oid = c.tree_oid and b.recipe = $3 and b.toolchain = $4"
		"   and b.layout_seed = 0 and b.image is not null"
		"  group by b.image),"
		" shown as (select *, 0 as behind from heads union all"
		"  select $6, seq, head, 1 from heads where image = $7),"
		" numbered as (select h.seq, h.behind, h.image, h.head, e.boot, e.estimate,"
		"   row_number() over (partition by h.image order by e.boot) as n"
		"  from shown h join boot_estimates e on e.image = h.image and e.series = $1"
		"   and e.purpose = 'detect')"
		" select image, head, estimate from numbered where n <= $5"
		" order by seq, behind, boot";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_i64(series->id), dbv_i64(branch), dbv_id(series->recipe),
			  dbv_id(series->toolchain), dbv_i64(boots), dbv_i64(twin->image),
			  dbv_i64(twin->of)),
		      DB_MANY, &rows, err))
		return err_wrap(err, "history of series %lld", (long long)series->id);
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct watched){
			.image = row_i64(rows, i, "image"),
			.commit = row_i64(rows, i, "head"),
			.value = row_f64(rows, i, "estimate"),
		};
	return read_ends(db, series->id, out, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Boots to replay. */
#include "db/tape.h"

#include <stdlib.h>

#include "db/row.h"

void tape_boots_release(struct tape_boots *boots)
{
	free(boots->class_name);
	free(boots->image);
	free(boots->value);
	*boots = (struct tape_boots){0};
}

bool tape_boots_read(struct db *db, const struct tape_query *query, int most,
		     struct tape_boots *out, struct err *err)
{
	static const char sql[] =
		"with pick as (select e.series, c.name as class from boot_estimates e join series "
		"s on s.id = e.series"
		"  join metrics m on m.id = s.metric join setups p on p.id = s.setup"
		"  join classes c on c.id = p.class where m.name = $1 and e.image is not null"
		"   and ($2::text is null or c.name = $2) and ($3::text is null or s.benchmark = "
		"$3)"
		"  group by e.series, c.name order by count(*) desc, e.series desc limit 1),"
		" last as (select pick.*, e.image, e.estimate, e.boot from boot_estimates e"
		"  join pick on pick.series = e.series where e.image is not null"
		"  order by e.boot desc limit $4)"
		" select * from last order by boot";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_text(query->metric), dbv_text(query->class_name),
			  dbv_text(query->benchmark), dbv_i64(most)),
		      DB_MANY, &rows, err))
		return err_wrap(err, "boots of %s", query->metric);
	if (!rows_n(rows))
		return err_set(err, ERR_NOTFOUND, "no good boot of %s is stored%s", query->metric,
			       query->class_name || query->benchmark
				       ? " for that class and benchmark"
				       : "; `mmperf status --history` names what is measured");
	out->image = xcalloc(rows_n(rows), sizeof(*out->image));
	out->value = xcalloc(rows_n(rows), sizeof(*out->value));
	for (; out->n < rows_n(rows); out->n++) {
		out->image[out->n] = row_i64(rows, out->n, "image");
		out->value[out->n] = row_f64(rows, out->n, "estimate");
	}
	out->series = row_i64(rows, 0, "series");
	out->class_name = row_dup(rows, 0, "class");
	return true;
}

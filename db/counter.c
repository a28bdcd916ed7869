// SPDX-License-Identifier: GPL-2.0-or-later
/* Counters of two images. */
#include "db/counter.h"

#include <stdlib.h>

#include "db/row.h"

void compared_counters_release(struct compared_counters *counters)
{
	for (size_t i = 0; i < counters->n; i++) {
		free(counters->v[i].benchmark);
		free(counters->v[i].params);
		free(counters->v[i].name);
		free(counters->v[i].before);
		free(counters->v[i].after);
	}
	free(counters->v);
	*counters = (struct compared_counters){0};
}

bool compared_counters_read(struct db *db, const struct compare_key *key,
			    struct compared_counters *out, struct err *err)
{
	static const char sql[] =
		"with chosen as (select r.id as run, b.id as boot, b.image, r.benchmark, r.version,"
		"  r.params_hash, r.params"
		"  from runs r join boots b on b.id = r.boot and b.outcome = 'ok'"
		"  join attempts a on a.id = b.attempt and a.outcome = 'ok'"
		"  join jobs j on j.id = a.job join setups s on s.id = b.setup"
		"  where r.outcome = 'ok' and r.pass = 'clean' and b.image in ($1, $2)"
		"  and ($3::bigint is null or s.class = $3)"
		"  and ($4::bigint is null or j.request = $4)),"
		" names as (select c.benchmark, c.version, c.params_hash, x.name from chosen c"
		"  join counters x on x.run = c.run group by 1, 2, 3, 4"
		"  having bool_and(x.value is not null))"
		" select n.benchmark, n.name,"
		"  (select string_agg(kv.key || '=' || kv.value, ' ' order by kv.key)"
		"   from jsonb_each_text(max(c.params::text)::jsonb) kv) as params,"
		"  coalesce(array_agg(coalesce(x.value, 0)::float8 order by c.boot)"
		"   filter (where c.image = $1), '{}') as before,"
		"  coalesce(array_agg(coalesce(x.value, 0)::float8 order by c.boot)"
		"   filter (where c.image = $2), '{}') as after"
		" from names n join chosen c using (benchmark, version, params_hash)"
		" left join counters x on x.run = c.run and x.name = n.name"
		" group by n.benchmark, n.version, n.params_hash, n.name"
		" order by n.benchmark, n.params_hash, n.name";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_i64(key->before_image), dbv_i64(key->after_image),
			  dbv_id(key->class_id), dbv_id(key->request)),
		      DB_MANY, &rows, err))
		return err_wrap(err, "counters");
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct compared_counter *c = array_push(out->v, out->n, out->cap);

		c->benchmark = row_dup(rows, i, "benchmark");
		c->params = row_dup(rows, i, "params");
		c->name = row_dup(rows, i, "name");
		c->before_n = row_f64s(rows, i, "before", &c->before);
		c->after_n = row_f64s(rows, i, "after", &c->after);
	}
	return true;
}

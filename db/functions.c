// SPDX-License-Identifier: GPL-2.0-or-later
/* Functions of kernels. */
#include "db/functions.h"

#include "db/row.h"

bool functions_artifact(struct db *db, int64_t build, char sha256[HASH_HEX_SIZE], struct err *err)
{
	static const char sql[] = "select coalesce(a.sha256, '') as sha256 from builds b"
				  " left join artifacts a on a.id = b.functions where b.id = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(build)), DB_ONE, &rows, err))
		return err_wrap(err, "functions of build %lld", (long long)build);
	snprintf(sha256, HASH_HEX_SIZE, "%s", row_text(rows, 0, "sha256"));
	return true;
}

bool functions_hot(struct db *db, int64_t bisection, double share, struct strs *out,
		   struct err *err)
{
	/* Twenty profiles have some ten thousand samples. */
	static const char sql[] =
		"with mine as (select p.stacks, p.samples from bisections x"
		"  join series s on s.id = x.series join runs r on r.benchmark = s.benchmark"
		"   and r.version = s.version and r.params_hash = s.params_hash and r.outcome = "
		"'ok'"
		"  join profiles p on p.run = r.id join boots b on b.id = r.boot and b.outcome = "
		"'ok'"
		"  join setups e on e.id = b.setup and e.class = x.class"
		"  where x.id = $1 order by p.run desc limit 20),"
		" tops as (select regexp_replace(k.key, '^.*;', '') as name, sum(k.value::bigint) "
		"as n"
		"  from mine, jsonb_each_text(stacks) k group by 1),"
		" sites as (select distinct w.site as name from bisections x"
		"  join series s on s.id = x.series"
		"  join jobs j on j.bisection = x.id and j.purpose = 'prove'"
		"  join attempts a on a.job = j.id join boots b on b.attempt = a.id and b.outcome "
		"= 'ok'"
		"  join runs r on r.boot = b.id and r.benchmark = s.benchmark and r.outcome = 'ok'"
		"  join lock_waits w on w.run = r.id where x.id = $1 and exists (select from mine))"
		" select split_part(name, '.', 1) as name from tops"
		"  where n >= $2 * (select sum(samples) from mine) union"
		" select split_part(name, '.', 1) from sites order by 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(bisection), dbv_f64(share)), DB_MANY, &rows, err))
		return err_wrap(err, "hot functions");
	for (size_t i = 0; i < rows_n(rows); i++)
		strs_push(out, row_text(rows, i, "name"));
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Levels of series, stored. */
#include "db/segment.h"

#include <math.h>
#include <stdlib.h>

#include "db/row.h"

static struct dbv finite_or_null(double x)
{
	return isfinite(x) ? dbv_f64(x) : dbv_null();
}

bool history_due(struct db *db, int64_t branch, double every_s, int64_t **series, size_t *n,
		 struct err *err)
{
	static const char sql[] =
		"with heads as (select head from snapshots where branch = $1"
		"   order by seq desc limit 3),"
		" images as (select distinct b.image from heads h join commits c on c.id = h.head"
		"  join builds b on b.tree_oid = c.tree_oid and b.layout_seed = 0"
		"   and b.image is not null)"
		" select array(select distinct e.series from boot_estimates e"
		"  join images i on i.image = e.image where e.purpose = 'detect'"
		"  and not exists (select from histories h where h.series = e.series"
		"   and h.branch = $1 and h.made_at > now() - make_interval(secs => $2))) as "
		"series";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(branch), dbv_f64(every_s)), DB_ONE, &rows, err))
		return err_wrap(err, "histories");
	*n = row_i64s(rows, 0, "series", series);
	return true;
}

static bool store_segments(struct db *db, const struct db_history *h, struct err *err)
{
	static const char sql[] =
		"insert into segments (series, branch, n, first_commit, last_commit, heads, level,"
		"  step) values ($1, $2, $3, $4, $5, $6, $7, $8)";

	for (size_t i = 0; i < h->n; i++) {
		const struct db_segment *s = &h->segments[i];

		if (!db_exec(db, sql,
			     DBV(dbv_i64(h->series), dbv_i64(h->branch), dbv_i64((int64_t)i),
				 dbv_i64(s->first_commit), dbv_i64(s->last_commit),
				 dbv_i64((int64_t)s->heads), dbv_f64(s->level),
				 finite_or_null(s->step)),
			     err))
			return false;
	}
	return true;
}

bool history_store(struct db *db, const struct db_history *h, struct err *err)
{
	static const char history[] =
		"insert into histories (series, branch, heads, sd, rho, down_to, head_commits,"
		"  head_down_to, mode_apart, mode_upper)"
		" values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
		" on conflict (series, branch) do update set"
		"  heads = excluded.heads, sd = excluded.sd, rho = excluded.rho,"
		"  down_to = excluded.down_to, head_commits = excluded.head_commits,"
		"  head_down_to = excluded.head_down_to, mode_apart = excluded.mode_apart,"
		"  mode_upper = excluded.mode_upper, made_at = now()";
	static const char clear[] = "delete from segments where series = $1 and branch = $2";

	return (db_exec(db, history,
			DBV(dbv_i64(h->series), dbv_i64(h->branch), dbv_i64((int64_t)h->heads),
			    dbv_f64(h->sd), dbv_f64(h->rho), finite_or_null(h->down_to),
			    dbv_i64s(h->head_commits, h->heads),
			    dbv_f64s(h->head_down_to, h->heads), finite_or_null(h->mode_apart),
			    finite_or_null(h->mode_upper)),
			err) &&
		db_exec(db, clear, DBV(dbv_i64(h->series), dbv_i64(h->branch)), err) &&
		store_segments(db, h, err)) ||
	       err_wrap(err, "history of series %lld", (long long)h->series);
}

bool history_merge(struct db *db, int64_t branch, int64_t **ended, size_t *n, struct err *err)
{
	/* place: the sequence number at which the largest step between its commits starts */
	static const char sql[] =
		"with pos as (select head, min(seq) as seq from snapshots where branch = $1"
		"  group by head),"
		" step as (select g.series, p.seq, g.step from segments g"
		"  join pos p on p.head = g.first_commit where g.branch = $1 and g.step > 0),"
		" placed as (select c.id, c.state, c.leader, s.setup, (select t.seq from step t"
		"   where t.series = c.series and t.seq <= a.seq"
		"   and t.seq > coalesce(b.seq, 0) order by t.step desc limit 1) as place"
		"  from candidates c join series s on s.id = c.series"
		"  join pos a on a.head = c.after_commit"
		"  left join pos b on b.head = c.before_commit"
		"  where c.branch = $1 and not c.twin and c.state in ('confirming', 'confirmed')),"
		" same as (select y.id, min(o.id) as older from placed y join placed o"
		"  on o.setup = y.setup and o.place = y.place and o.id < y.id"
		"  and o.leader is null where y.state = 'confirming' and y.leader is null"
		"  group by y.id),"
		" gone as (update candidates c set state = 'abandoned', decided_at = now(),"
		"   reason = 'its step is that of candidate ' || same.older from same"
		"  where c.id = same.id or (c.leader = same.id and c.state = 'confirming')"
		"  returning c.id, c.leader)"
		" select array(select id from gone where leader is null) as ended";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(branch)), DB_ONE, &rows, err))
		return err_wrap(err, "candidates of one step");
	*n = row_i64s(rows, 0, "ended", ended);
	return true;
}

bool history_regressions(struct db *db, int64_t series, int64_t branch,
			 struct db_open_regression **out, size_t *n, struct err *err)
{
	static const char sql[] =
		"select r.id, x.before_mean, x.after_mean from regressions r"
		" join regression_series x on x.regression = r.id and x.is_primary"
		" join branches b on b.tree = r.tree and b.id = $2"
		" where x.series = $1 and r.state in ('proved', 'reported', 'muted') order by r.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(series), dbv_i64(branch)), DB_MANY, &rows, err))
		return err_wrap(err, "regressions of series %lld", (long long)series);
	*n = rows_n(rows);
	*out = xcalloc(*n, sizeof(**out));
	for (size_t i = 0; i < *n; i++)
		(*out)[i] = (struct db_open_regression){
			.id = row_i64(rows, i, "id"),
			.before = row_f64(rows, i, "before_mean"),
			.after = row_f64(rows, i, "after_mean"),
		};
	return true;
}

bool history_is_after(struct db *db, int64_t regression, int64_t image, bool *yes, struct err *err)
{
	static const char sql[] =
		"select coalesce((select min(b.started_at) from boots b where b.image = $2"
		"  and b.outcome = 'ok') > r.created_at, false) as yes"
		" from regressions r where r.id = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(regression), dbv_i64(image)), DB_ONE, &rows, err))
		return false;
	*yes = row_bool(rows, 0, "yes");
	return true;
}

bool history_fixed(struct db *db, int64_t regression, int64_t commit, struct err *err)
{
	static const char sql[] = "update regressions set state = 'fixed', fixed_commit = $2,"
				  "  fixed_at = now() where id = $1 and state <> 'fixed'";

	return db_exec(db, sql, DBV(dbv_i64(regression), dbv_i64(commit)), err);
}

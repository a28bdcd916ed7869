// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspected changes. */
#include "db/candidate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"

static struct dbv f64_or_null(double f)
{
	return isfinite(f) ? dbv_f64(f) : dbv_null();
}

bool candidate_add(struct db *db, struct candidate *candidate, bool *fresh, struct err *err)
{
	static const char sql[] =
		"with fresh as (insert into candidates (series, before_image, after_image,"
		"  before_commit, after_commit, branch, leader, state, seed, detect_effect, "
		"detect_z,"
		"  raised_by, twin, decided_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
		"$11,"
		"  $12, $13, case when $8 = 'better' then now() end) on conflict do nothing "
		"returning "
		"id)"
		" select id, true as fresh from fresh union all"
		" select id, false from candidates"
		"  where series = $1 and before_image = $2 and after_image = $3";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql,
		      DBV(dbv_i64(candidate->series), dbv_i64(candidate->before_image),
			  dbv_i64(candidate->after_image), dbv_i64(candidate->before_commit),
			  dbv_i64(candidate->after_commit), dbv_id(candidate->branch),
			  dbv_id(candidate->leader), dbv_text(candidate->state),
			  dbv_i64((int64_t)candidate->seed), dbv_f64(candidate->effect),
			  dbv_f64(candidate->z),
			  dbv_text(candidate->by_history ? "history" : "head"),
			  dbv_bool(candidate->twin)),
		      DB_ONE, &rows, err))
		return err_wrap(err, "candidate in series %lld", (long long)candidate->series);
	candidate->id = row_i64(rows, 0, "id");
	*fresh = row_bool(rows, 0, "fresh");
	return true;
}

bool candidate_pair_known(struct db *db, int64_t before_image, int64_t after_image,
			  int64_t class_id, bool *known, struct err *err)
{
	static const char sql[] =
		"select exists (select from candidates c join series s on s.id = c.series"
		"  join setups p on p.id = s.setup"
		"  where c.before_image = $1 and c.after_image = $2 and p.class = $3) as known";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(before_image), dbv_i64(after_image), dbv_i64(class_id)),
		      DB_ONE, &rows, err))
		return false;
	*known = row_bool(rows, 0, "known");
	return true;
}

static void take(const struct rows *rows, struct candidates *out)
{
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct candidate *c = array_push(out->v, out->n, out->cap);

		c->id = row_i64(rows, i, "id");
		c->series = row_i64(rows, i, "series");
		c->before_image = row_i64(rows, i, "before_image");
		c->after_image = row_i64(rows, i, "after_image");
		c->before_commit = row_i64(rows, i, "before_commit");
		c->after_commit = row_i64(rows, i, "after_commit");
		c->branch = row_id(rows, i, "branch");
		c->leader = row_id(rows, i, "leader");
		c->seed = (uint64_t)row_i64(rows, i, "seed");
		c->effect = row_f64(rows, i, "detect_effect");
		c->z = row_f64(rows, i, "detect_z");
		c->twin = row_bool(rows, i, "twin");
		strncpy(c->state, row_text(rows, i, "state"), sizeof(c->state) - 1);
	}
}

bool candidates_confirming(struct db *db, struct candidates *out, struct err *err)
{
	static const char sql[] = "select * from candidates where state = 'confirming'"
				  " and leader is null order by id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_MANY, &rows, err))
		return false;
	take(rows, out);
	return true;
}

bool candidates_followers(struct db *db, int64_t leader, struct candidates *out, struct err *err)
{
	static const char sql[] = "select * from candidates where leader = $1"
				  " and state = 'confirming' order by detect_z desc, id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(leader)), DB_MANY, &rows, err))
		return false;
	take(rows, out);
	return true;
}

bool candidate_read(struct db *db, int64_t id, struct candidate *out, struct err *err)
{
	static const char sql[] = "select * from candidates where id = $1";
	struct candidates one = {0};
	AUTO_FREE struct candidate *v = NULL;
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id)), DB_ONE, &rows, err))
		return err_wrap(err, "candidate %lld", (long long)id);
	take(rows, &one);
	v = one.v;
	*out = v[0];
	return true;
}

bool candidate_decide(struct db *db, int64_t id, const struct candidate_end *end, struct err *err)
{
	static const char sql[] =
		"update candidates set state = $2, reason = $3, confirm_effect = $4,"
		"  confirm_lo = $5, confirm_hi = $6, decided_at = now()"
		" where id = $1 and state = 'confirming'";

	return db_exec(db, sql,
		       DBV(dbv_i64(id), dbv_text(end->state), dbv_text(end->reason),
			   f64_or_null(end->effect), f64_or_null(end->lo), f64_or_null(end->hi)),
		       err);
}

bool candidate_promote(struct db *db, int64_t old, int64_t leader, struct err *err)
{
	static const char sql[] = "update candidates set leader = nullif($2::bigint, id)"
				  " where (leader = $1 or id = $1) and state = 'confirming'";

	return db_exec(db, sql, DBV(dbv_i64(old), dbv_i64(leader)), err);
}

void candidate_week_release(struct candidate_week *week)
{
	free(week->log_e);
	*week = (struct candidate_week){0};
}

bool candidate_week_read(struct db *db, int64_t leader, struct candidate_week *out, struct err *err)
{
	static const char sql[] =
		"select id = $1 as own, alpha, coalesce(log_e, 0) as log_e from candidates"
		" where leader is null and alpha is not null"
		"  and (id = $1 or (not twin and created_at > now() - interval '7 days')) order by "
		"id";
	AUTO_ROWS *rows = NULL;

	*out = (struct candidate_week){.own = NAN};
	if (!db_query(db, sql, DBV(dbv_i64(leader)), DB_MANY, &rows, err))
		return err_wrap(err, "clusters of the week");
	out->log_e = xcalloc(rows_n(rows), sizeof(*out->log_e));
	for (size_t i = 0; i < rows_n(rows); i++) {
		if (row_bool(rows, i, "own")) {
			out->own = row_f64(rows, i, "alpha");
			continue;
		}
		out->spent += row_f64(rows, i, "alpha");
		out->log_e[out->n++] = row_f64(rows, i, "log_e");
	}
	return true;
}

bool candidate_set_evidence(struct db *db, int64_t leader, double alpha, double log_e,
			    struct err *err)
{
	static const char sql[] = "update candidates set alpha = $2, log_e = $3 where id = $1";

	return db_exec(db, sql, DBV(dbv_i64(leader), dbv_f64(alpha), dbv_f64(log_e)), err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Lock waits, two sides. */
#include "db/locks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/row.h"

void lock_changes_release(struct lock_changes *changes)
{
	for (size_t i = 0; i < changes->n; i++) {
		free(changes->v[i].class_name);
		free(changes->v[i].site);
	}
	free(changes->v);
	free(changes->doubt);
	*changes = (struct lock_changes){0};
}

/* The chosen runs; both statements below read from it. */
#define CHOSEN                                                                             \
	"with chosen as ("                                                                 \
	" select r.id as run, r.operations, r.threads, r.seconds, h.measurable, h.reason," \
	"  h.lost <= 0.01 * greatest(h.begins, 1) as whole,"                               \
	"  case when $1::bigint is null"                                                   \
	"   then case b.image when $2::bigint then 0 when $3::bigint then 1 end"           \
	"   else case j.role when 'before' then 0 when 'after' then 1 end end as side"     \
	" from jobs j join attempts a on a.job = j.id and a.outcome = 'ok'"                \
	" join boots b on b.attempt = a.id and b.outcome = 'ok'"                           \
	" join runs r on r.boot = b.id and r.outcome = 'ok' and r.pass = 'instrumented'"   \
	" join lock_health h on h.run = r.id"                                              \
	" where ($1::bigint is null or (j.bisection = $1 and j.purpose = 'prove'))"        \
	"  and ($1::bigint is not null or b.image in ($2, $3))"                            \
	"  and ($4::bigint is null or j.request = $4)"                                     \
	"  and r.benchmark = $5 and r.version = $6 and r.params_hash = $7"                 \
	"  and r.operations > 0 and r.threads > 0 and r.seconds > 0) "

#define PICKED(p)                                                                        \
	DBV(dbv_id((p)->bisection), dbv_id((p)->before_image), dbv_id((p)->after_image), \
	    dbv_id((p)->request), dbv_text((p)->benchmark), dbv_i64((p)->version),       \
	    dbv_text((p)->params_hash))

static bool read_boots(struct db *db, const struct lock_pick *pick, struct lock_changes *out,
		       struct err *err)
{
	static const char sql[] =
		CHOSEN "select count(*) filter (where side = 0 and measurable and whole) as before,"
		       " count(*) filter (where side = 1 and measurable and whole) as after,"
		       " count(*) filter (where measurable and not whole) as lossy,"
		       " max(reason) as reason from chosen where side is not null";
	AUTO_ROWS *rows = NULL;
	AUTO_STR doubt = str_new();

	if (!db_query(db, sql, PICKED(pick), DB_ONE, &rows, err))
		return false;
	out->boots[0] = (int)row_i64(rows, 0, "before");
	out->boots[1] = (int)row_i64(rows, 0, "after");
	if (row_text(rows, 0, "reason"))
		str_add(&doubt, row_text(rows, 0, "reason"));
	if (row_i64(rows, 0, "lossy") > 0)
		str_addf(&doubt,
			 "%s%lld runs lost more than 1 %% of their lock events and do not "
			 "count",
			 doubt.len ? "; " : "", (long long)row_i64(rows, 0, "lossy"));
	if (doubt.len)
		out->doubt = str_take(&doubt);
	return true;
}

static bool same(const struct lock_change *change, const char *class_name, const char *site)
{
	if (strcmp(change->class_name, class_name) || !change->site != !site)
		return false;
	return !site || !strcmp(change->site, site);
}

/* The row of (class, site): the last one when the statement's order holds, else a new one. */
static struct lock_change *change_of(struct lock_changes *out, const char *class_name,
				     const char *site)
{
	struct lock_change *change;

	if (out->n && same(&out->v[out->n - 1], class_name, site))
		return &out->v[out->n - 1];
	change = array_push(out->v, out->n, out->cap);
	change->class_name = xstrdup(class_name);
	change->site = xstrdup_null(site);
	for (int side = 0; side < 2; side++)
		change->spread_ns[side] = out->boots[side] > 1 ? 0 : NAN;
	return change;
}

/* Mean and deviation over n boots from sums over those that saw the lock: the others are zeros. */
static void fill_side(struct lock_change *change, int side, int n, const struct rows *rows,
		      size_t i)
{
	double sum = row_f64(rows, i, "per_op"), squares = row_f64(rows, i, "per_op2");
	double spread = n > 1 ? (squares - sum * sum / n) / (n - 1) : NAN;

	change->wait_per_op_ns[side] = sum / n;
	change->spread_ns[side] = spread < 0 ? 0 : sqrt(spread);
	change->share[side] = row_f64(rows, i, "share") / n;
	change->count[side] = row_f64(rows, i, "events") / n;
	change->max_ns[side] = row_f64(rows, i, "max_ns");
}

static bool read_waits(struct db *db, const struct lock_pick *pick, struct lock_changes *out,
		       struct err *err)
{
	static const char sql[] = CHOSEN
		", each_run as ("
		" select c.side, c.run, w.class, w.site, sum(w.count)::float8 as events,"
		"  max(w.max_ns)::float8 as max_ns,"
		"  sum(w.wait_ns)::float8 / c.operations as per_op,"
		"  sum(w.wait_ns)::float8 / (c.threads * c.seconds * 1e9) as share"
		" from chosen c join lock_waits w on w.run = c.run"
		" where c.side is not null and c.measurable and c.whole"
		" group by grouping sets"
		"  ((c.side, c.run, c.operations, c.threads, c.seconds, w.class),"
		"   (c.side, c.run, c.operations, c.threads, c.seconds, w.class, w.site))),"
		" sides as ("
		" select class, site, side, sum(per_op) as per_op,"
		"  sum(per_op * per_op) as per_op2, sum(share) as share,"
		"  sum(events) as events, max(max_ns) as max_ns"
		" from each_run group by class, site, side)"
		" select *, max(per_op) over (partition by class) as class_weight,"
		"  max(per_op) over (partition by class, site) as weight"
		" from sides order by class_weight desc, class, site is not null, weight desc,"
		"  site, side";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, PICKED(pick), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		int side = (int)row_i64(rows, i, "side");
		struct lock_change *change =
			change_of(out, row_text(rows, i, "class"), row_text(rows, i, "site"));

		fill_side(change, side, out->boots[side], rows, i);
	}
	return true;
}

bool lock_changes_read(struct db *db, const struct lock_pick *pick, struct lock_changes *out,
		       struct err *err)
{
	CLEANUP(lock_changes_release) struct lock_changes changes = {0};

	if (!read_boots(db, pick, &changes, err) || !read_waits(db, pick, &changes, err))
		return false;
	*out = changes;
	changes = (struct lock_changes){0};
	return true;
}

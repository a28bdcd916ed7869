// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles of two images. */
#include "db/profile.h"

#include <stdlib.h>
#include <string.h>

#include "db/row.h"

void profile_pairs_release(struct profile_pairs *pairs)
{
	for (size_t i = 0; i < pairs->n; i++) {
		struct profile_pair *pair = &pairs->v[i];

		for (size_t k = 0; k < pair->n; k++)
			free(pair->v[k].text);
		free(pair->v);
		free(pair->benchmark);
		free(pair->params);
		free(pair->source);
	}
	free(pairs->v);
	*pairs = (struct profile_pairs){0};
}

#define CHOSEN                                                                         \
	"with chosen as (select p.run, r.boot, r.benchmark, r.version, r.params_hash," \
	"  r.params, p.source, p.samples, p.stacks,"                                   \
	"  case b.image when $1::bigint then 0 else 1 end as side"                     \
	" from profiles p join runs r on r.id = p.run and r.outcome = 'ok'"            \
	" join boots b on b.id = r.boot and b.outcome = 'ok' and b.image in ($1, $2)"  \
	" join attempts a on a.id = b.attempt and a.outcome = 'ok'"                    \
	" join jobs j on j.id = a.job join setups s on s.id = b.setup"                 \
	" where ($3::bigint is null or s.class = $3)"                                  \
	" and ($4::bigint is null or j.request = $4)) "

#define PICKED(key)                                                                             \
	DBV(dbv_i64((key)->before_image), dbv_i64((key)->after_image), dbv_id((key)->class_id), \
	    dbv_id((key)->request))

static bool read_pairs(struct db *db, const struct compare_key *key, struct profile_pairs *out,
		       struct err *err)
{
	static const char sql[] =
		CHOSEN "select benchmark, source, params_hash,"
		       " (select string_agg(kv.key || '=' || kv.value, ' ' order by kv.key)"
		       "  from jsonb_each_text(max(params::text)::jsonb) kv) as params,"
		       " coalesce(sum(samples) filter (where side = 0), 0) as samples0,"
		       " coalesce(sum(samples) filter (where side = 1), 0) as samples1,"
		       " count(distinct boot) filter (where side = 0) as boots0,"
		       " count(distinct boot) filter (where side = 1) as boots1"
		       " from chosen group by benchmark, version, params_hash, source"
		       " having count(distinct side) = 2 order by benchmark, params_hash, source";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, PICKED(key), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct profile_pair *pair = array_push(out->v, out->n, out->cap);

		pair->benchmark = row_dup(rows, i, "benchmark");
		pair->params = row_dup(rows, i, "params");
		pair->source = row_dup(rows, i, "source");
		pair->samples[0] = row_i64(rows, i, "samples0");
		pair->samples[1] = row_i64(rows, i, "samples1");
		pair->boots[0] = row_i64(rows, i, "boots0");
		pair->boots[1] = row_i64(rows, i, "boots1");
	}
	return true;
}

static struct profile_pair *pair_of(struct profile_pairs *pairs, const struct rows *rows, size_t i)
{
	for (size_t k = 0; k < pairs->n; k++) {
		struct profile_pair *pair = &pairs->v[k];
		const char *params = row_text(rows, i, "params");

		if (!strcmp(pair->benchmark, row_text(rows, i, "benchmark")) &&
		    !strcmp(pair->source, row_text(rows, i, "source")) &&
		    !strcmp(pair->params ? pair->params : "", params ? params : ""))
			return pair;
	}
	return NULL;
}

static bool read_stacks(struct db *db, const struct compare_key *key, struct profile_pairs *pairs,
			struct err *err)
{
	static const char sql[] = CHOSEN
		", sums as (select benchmark, source, params_hash, max(params::text)::jsonb as p,"
		"  x.key as stack,"
		"  coalesce(sum(x.value::bigint) filter (where side = 0), 0) as n0,"
		"  coalesce(sum(x.value::bigint) filter (where side = 1), 0) as n1"
		"  from chosen, jsonb_each_text(stacks) x"
		"  group by benchmark, version, params_hash, source, x.key)"
		" select benchmark, source, stack, n0, n1,"
		" (select string_agg(kv.key || '=' || kv.value, ' ' order by kv.key)"
		"  from jsonb_each_text(p) kv) as params"
		" from sums order by benchmark, stack";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, PICKED(key), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct profile_pair *pair = pair_of(pairs, rows, i);
		struct profile_stack *stack;

		if (!pair)
			continue;
		stack = array_push(pair->v, pair->n, pair->cap);
		stack->text = row_dup(rows, i, "stack");
		stack->count[0] = row_i64(rows, i, "n0");
		stack->count[1] = row_i64(rows, i, "n1");
	}
	return true;
}

bool profile_pairs_read(struct db *db, const struct compare_key *key, struct profile_pairs *out,
			struct err *err)
{
	if (read_pairs(db, key, out, err) && read_stacks(db, key, out, err))
		return true;
	return err_wrap(err, "profiles");
}

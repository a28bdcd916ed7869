// SPDX-License-Identifier: GPL-2.0-or-later
/* Snapshots, commits, parents. */
#include "db/history.h"

#include <stdlib.h>

#include "db/row.h"

void history_commit_release(struct history_commit *commit)
{
	free(commit->oid);
	free(commit->tree_oid);
	free(commit->subject);
	free(commit->paths);
	free(commit->parents);
	*commit = (struct history_commit){0};
}

void history_release(struct history *history)
{
	for (size_t i = 0; i < history->n; i++)
		history_commit_release(&history->v[i]);
	free(history->v);
	*history = (struct history){0};
}

void snapshots_release(struct snapshots *snapshots)
{
	for (size_t i = 0; i < snapshots->n; i++) {
		free(snapshots->v[i].tree_name);
		free(snapshots->v[i].branch_name);
	}
	free(snapshots->v);
	*snapshots = (struct snapshots){0};
}

bool snapshots_read(struct db *db, int per_branch, struct snapshots *out, struct err *err)
{
	static const char sql[] =
		"select s.id, s.branch, s.seq, s.head, s.base, b.tree, b.name as branch_name,"
		"  t.name as tree_name"
		" from branches b join trees t on t.id = b.tree"
		" cross join lateral (select * from snapshots where branch = b.id"
		"  order by seq desc limit $1) s"
		" where b.active order by b.id, s.seq desc";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(per_branch)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct snapshot){
			.id = row_i64(rows, i, "id"),
			.branch = row_i64(rows, i, "branch"),
			.tree = row_i64(rows, i, "tree"),
			.tree_name = row_dup(rows, i, "tree_name"),
			.branch_name = row_dup(rows, i, "branch_name"),
			.seq = (int)row_i64(rows, i, "seq"),
			.head = row_i64(rows, i, "head"),
			.base = row_i64(rows, i, "base"),
		};
	return true;
}

bool snapshot_points_read(struct db *db, int64_t snapshot, struct snapshot_points *out,
			  struct err *err)
{
	static const char sql[] =
		"select commit, pos, group_first is distinct from lead(group_first)"
		"  over (order by pos) as boundary"
		" from snapshot_commits where snapshot = $1 order by pos";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(snapshot)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		*array_push(out->v, out->n, out->cap) = (struct snapshot_point){
			.commit = row_i64(rows, i, "commit"),
			.pos = (int)row_i64(rows, i, "pos"),
			.boundary = row_bool(rows, i, "boundary"),
		};
	return true;
}

static void take_commit(const struct rows *rows, size_t i, struct history_commit *out)
{
	*out = (struct history_commit){
		.id = row_i64(rows, i, "id"),
		.oid = row_dup(rows, i, "oid"),
		.tree_oid = row_dup(rows, i, "tree_oid"),
		.subject = row_dup(rows, i, "subject"),
		.paths = row_dup(rows, i, "paths"),
		.patch = row_id(rows, i, "patch"),
		.lineage = row_id(rows, i, "lineage"),
	};
	out->n_parents = row_i64s(rows, i, "parents", &out->parents);
}

bool commit_read(struct db *db, int64_t id, struct history_commit *out, struct err *err)
{
	static const char sql[] =
		"select c.id, c.oid, c.tree_oid, c.subject, c.paths, c.patch, coalesce(p.lineage, "
		"p.id) as "
		"lineage,"
		"  array(select parent from commit_parents where commit = c.id order by n) as "
		"parents"
		" from commits c left join patches p on p.id = c.patch where c.id = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id)), DB_ONE, &rows, err))
		return err_wrap(err, "commit row %lld", (long long)id);
	take_commit(rows, 0, out);
	return true;
}

bool commit_find(struct db *db, const char *oid, int64_t *id, struct err *err)
{
	static const char sql[] = "select id from commits where oid = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(oid)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_NOTFOUND,
			       "commit %s is on no followed branch; see `mmperf status`", oid);
	*id = row_i64(rows, 0, "id");
	return true;
}

bool commit_first_parent(struct db *db, int64_t id, int64_t *parent, struct err *err)
{
	static const char sql[] =
		"select parent from commit_parents where commit = $1 order by n limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id)), DB_MAYBE, &rows, err))
		return false;
	*parent = rows_n(rows) ? row_i64(rows, 0, "parent") : 0;
	return true;
}

bool history_merge_base(struct db *db, int64_t a, int64_t b, int64_t *base, struct err *err)
{
	/* Common ancestors are closed under "parent of", so the best ones have no common child. */
	static const char sql[] =
		"with recursive of_a(id) as (values ($1::bigint)"
		"  union select p.parent from of_a join commit_parents p on p.commit = of_a.id),"
		" of_b(id) as (values ($2::bigint)"
		"  union select p.parent from of_b join commit_parents p on p.commit = of_b.id),"
		" common as (select id from of_a intersect select id from of_b)"
		" select c.id from common c where not exists (select from commit_parents p"
		"  join common d on d.id = p.commit where p.parent = c.id)"
		" order by c.id desc limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(a), dbv_i64(b)), DB_MAYBE, &rows, err))
		return false;
	*base = rows_n(rows) ? row_i64(rows, 0, "id") : 0;
	return true;
}

bool history_read(struct db *db, int64_t a, int64_t b, int64_t stop, struct history *out,
		  struct err *err)
{
	static const char sql[] =
		"with recursive line(id) as (select unnest(array[$1, $2, $3]::bigint[])"
		"  union select p.parent from line join commit_parents p on p.commit = line.id"
		"  where line.id <> $3),"
		" below(id) as (select parent from commit_parents where commit = $3"
		"  union select p.parent from below join commit_parents p on p.commit = below.id)"
		" select c.id, c.oid, c.tree_oid, c.subject, c.paths, c.patch,"
		"  coalesce(p.lineage, p.id) as lineage,"
		"  array(select parent from commit_parents where commit = c.id order by n) as "
		"parents"
		" from line join commits c on c.id = line.id"
		" left join patches p on p.id = c.patch"
		" where c.id not in (select id from below) order by c.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(a), dbv_i64(b), dbv_i64(stop)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		take_commit(rows, i, array_push(out->v, out->n, out->cap));
	return true;
}

bool commit_tree(struct db *db, int64_t commit, int64_t *tree, char **name, int64_t *base,
		 struct err *err)
{
	static const char sql[] =
		"select t.id, t.name, s.base from snapshot_commits c"
		" join snapshots s on s.id = c.snapshot join branches b on b.id = s.branch"
		" join trees t on t.id = b.tree where c.commit = $1 order by s.id desc limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(commit)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_NOTFOUND, "commit row %lld is in no snapshot",
			       (long long)commit);
	*tree = row_i64(rows, 0, "id");
	*name = row_dup(rows, 0, "name");
	*base = row_i64(rows, 0, "base");
	return true;
}

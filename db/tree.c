// SPDX-License-Identifier: GPL-2.0-or-later
/* Storing followed trees. */
#include "db/tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/js.h"
#include "db/row.h"

/* Rows of one statement; keeps the JSON that carries them to a few megabytes. */
#define BATCH 500

#define LAST_SECOND INT64_C(253402300799) /* of the year 9999 */

bool tree_upsert(struct db *db, const char *name, const char *url, int64_t *id, struct err *err)
{
	static const char sql[] =
		"insert into trees (name, url) values ($1, $2)"
		" on conflict (name) do update set url = excluded.url returning id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name), dbv_text(url)), DB_ONE, &rows, err))
		return err_wrap(err, "tree %s", name);
	*id = row_i64(rows, 0, "id");
	return true;
}

bool branch_upsert(struct db *db, int64_t tree, const char *name, const char *base_ref, int64_t *id,
		   struct err *err)
{
	static const char sql[] =
		"insert into branches (tree, name, base_ref) values ($1::bigint, $2, $3)"
		" on conflict (tree, name) do update set base_ref = excluded.base_ref, active = "
		"true"
		" returning id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(tree), dbv_text(name), dbv_text(base_ref)), DB_ONE,
		      &rows, err))
		return err_wrap(err, "branch %s", name);
	*id = row_i64(rows, 0, "id");
	return true;
}

bool branch_retire(struct db *db, int64_t tree, const struct strs *names, struct err *err)
{
	static const char sql[] =
		"update branches set active = false where tree = $1::bigint and active"
		" and name <> all (string_to_array($2, ' '))";
	AUTO_FREE char *joined = strs_join(names, " ");

	return db_exec(db, sql, DBV(dbv_i64(tree), dbv_text(joined)), err);
}

bool branch_newest(struct db *db, int64_t branch, int *seq, char head[REPO_OID_SIZE],
		   struct err *err)
{
	static const char sql[] =
		"select s.seq, c.oid from snapshots s join commits c on c.id = s.head"
		" where s.branch = $1::bigint order by s.seq desc limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(branch)), DB_MAYBE, &rows, err))
		return false;
	*seq = rows_n(rows) ? (int)row_i64(rows, 0, "seq") : 0;
	snprintf(head, REPO_OID_SIZE, "%s", rows_n(rows) ? row_text(rows, 0, "oid") : "");
	return true;
}

void tree_commits_release(struct tree_commits *commits)
{
	for (size_t i = 0; i < commits->n; i++)
		repo_commit_release(&commits->v[i].commit);
	free(commits->v);
	*commits = (struct tree_commits){0};
}

bool commits_missing(struct db *db, const struct strs *oids, struct strs *missing, struct err *err)
{
	static const char sql[] =
		"select x.oid from unnest(string_to_array($1, ' ')) with ordinality as x(oid, n)"
		" where not exists (select from commits c where c.oid = x.oid) order by x.n";
	AUTO_FREE char *joined = strs_join(oids, " ");
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(joined)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		strs_push(missing, row_text(rows, i, "oid"));
	return true;
}

static bool add_patch(struct db *db, const struct tree_commit *c, struct err *err)
{
	static const char sql[] =
		"insert into patches (patch_id, message_id, author_email, subject, lineage)"
		" values ($1, $2, $3, $4, coalesce("
		"  (select coalesce(p.lineage, p.id) from patches p where p.message_id = $2"
		"   order by p.id limit 1),"
		"  (select coalesce(p.lineage, p.id) from patches p"
		"   where p.author_email = $3 and p.subject = $4 order by p.id limit 1)))"
		" on conflict (patch_id) do nothing";

	if (!*c->patch_id)
		return true;
	return db_exec(db, sql,
		       DBV(dbv_text(c->patch_id), dbv_text(c->commit.message_id),
			   dbv_text(c->commit.author_email), dbv_text(c->commit.subject)),
		       err);
}

static int64_t storable_time(int64_t t)
{
	return t < 0 ? 0 : t > LAST_SECOND ? LAST_SECOND : t;
}

/* One a line, as text that any database takes; NULL for none. A path with a newline in it becomes two, neither of
 * which says less than the whole: what reads them asks what is touched. */
static char *paths_text(const struct strs *paths)
{
	AUTO_STR text = str_new();

	for (size_t i = 0; i < paths->n; i++) {
		str_add_utf8(&text, paths->v[i], strlen(paths->v[i]));
		str_addc(&text, '\n');
	}
	return paths->n ? str_take(&text) : NULL;
}

static json_t *commit_json(const struct tree_commit *c)
{
	json_t *o = json_object();
	AUTO_FREE char *paths = paths_text(&c->commit.paths);

	js_set_str(o, "oid", c->commit.oid);
	js_set_str(o, "tree", c->commit.tree);
	js_set_str(o, "patch_id", *c->patch_id ? c->patch_id : NULL);
	js_set_str(o, "author_name", c->commit.author_name);
	js_set_str(o, "author_email", c->commit.author_email);
	js_set_i64(o, "authored", storable_time(c->commit.author_time_s));
	js_set_str(o, "subject", c->commit.subject);
	js_set_str(o, "body", c->commit.body);
	js_set_str(o, "message_id", c->commit.message_id);
	js_set_str(o, "link", c->commit.link);
	js_set_str(o, "paths", paths);
	return o;
}

static bool add_batch(struct db *db, const struct tree_commit *v, size_t n, struct err *err)
{
	static const char sql[] =
		"insert into commits (oid, tree_oid, patch, author_name, author_email, authored_at,"
		" subject, body, message_id, link, paths)"
		" select x.oid, x.tree, p.id, x.author_name, x.author_email,"
		"  to_timestamp(x.authored), x.subject, x.body, x.message_id, x.link, x.paths"
		" from jsonb_to_recordset($1::jsonb) as x(oid text, tree text, patch_id text,"
		"  author_name text, author_email text, authored bigint, subject text, body text,"
		"  message_id text, link text, paths text)"
		" left join patches p on p.patch_id = x.patch_id on conflict (oid) do nothing";
	AUTO_JSON *list = json_array();
	AUTO_FREE char *text = NULL;

	for (size_t i = 0; i < n; i++) {
		if (!add_patch(db, &v[i], err))
			return err_wrap(err, "commit %.12s", v[i].commit.oid);
		json_array_append_new(list, commit_json(&v[i]));
	}
	text = js_text(list);
	return db_exec(db, sql, DBV(dbv_text(text)), err);
}

static bool add_parents(struct db *db, const struct tree_commit *v, size_t n, struct err *err)
{
	static const char sql[] =
		"insert into commit_parents (commit, n, parent)"
		" select c.id, x.n, p.id from jsonb_to_recordset($1::jsonb)"
		"  as x(oid text, n integer, parent text)"
		" join commits c on c.oid = x.oid join commits p on p.oid = x.parent"
		" on conflict do nothing";
	AUTO_JSON *list = json_array();
	AUTO_FREE char *text = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct strs *parents = &v[i].commit.parents;

		for (size_t k = 0; k < parents->n; k++) {
			json_t *o = json_object();

			js_set_str(o, "oid", v[i].commit.oid);
			js_set_i64(o, "n", (int64_t)k);
			js_set_str(o, "parent", parents->v[k]);
			json_array_append_new(list, o);
		}
	}
	text = js_text(list);
	return db_exec(db, sql, DBV(dbv_text(text)), err);
}

static bool in_batches(struct db *db, const struct tree_commits *commits,
		       bool (*add)(struct db *db, const struct tree_commit *v, size_t n,
				   struct err *err),
		       struct err *err)
{
	for (size_t i = 0; i < commits->n; i += BATCH) {
		size_t n = commits->n - i < BATCH ? commits->n - i : BATCH;

		if (!add(db, commits->v + i, n, err))
			return false;
	}
	return true;
}

bool commits_add(struct db *db, const struct tree_commits *commits, struct err *err)
{
	return in_batches(db, commits, add_batch, err) && in_batches(db, commits, add_parents, err);
}

void tree_texts_free(struct tree_text *texts, size_t n)
{
	for (size_t i = 0; texts && i < n; i++) {
		free(texts[i].subject);
		free(texts[i].body);
	}
	free(texts);
}

bool commits_texts(struct db *db, const struct strs *oids, struct tree_text **out, struct err *err)
{
	static const char sql[] =
		"select c.subject, c.body"
		" from unnest(string_to_array($1, ' ')) with ordinality as x(oid, n)"
		" join commits c on c.oid = x.oid order by x.n";
	AUTO_FREE char *joined = strs_join(oids, " ");
	AUTO_ROWS *rows = NULL;
	struct tree_text *texts;

	if (!db_query(db, sql, DBV(dbv_text(joined)), DB_MANY, &rows, err))
		return false;
	if (rows_n(rows) != oids->n)
		return err_set(err, ERR_FAILED, "only %zu of %zu commits are stored", rows_n(rows),
			       oids->n);
	texts = xcalloc(oids->n, sizeof(*texts));
	for (size_t i = 0; i < oids->n; i++) {
		texts[i].subject = row_dup(rows, i, "subject");
		texts[i].body = row_dup(rows, i, "body");
	}
	*out = texts;
	return true;
}

static bool add_positions(struct db *db, int64_t snapshot, const struct strs *oids,
			  const int *group_first, struct err *err)
{
	static const char sql[] =
		"insert into snapshot_commits (snapshot, pos, commit, group_first)"
		" select $1::bigint, x.n - 1, c.id, x.first"
		" from unnest(string_to_array($2, ' '), $3::bigint[]) with ordinality"
		"  as x(oid, first, n) join commits c on c.oid = x.oid";
	AUTO_FREE char *joined = strs_join(oids, " ");
	AUTO_FREE int64_t *first = xcalloc(oids->n, sizeof(*first));

	for (size_t i = 0; i < oids->n; i++)
		first[i] = group_first[i];
	return db_exec(db, sql, DBV(dbv_i64(snapshot), dbv_text(joined), dbv_i64s(first, oids->n)),
		       err);
}

bool snapshot_add(struct db *db, int64_t branch, int seq, const struct strs *oids,
		  const int *group_first, struct err *err)
{
	static const char sql[] =
		"insert into snapshots (branch, seq, head, base)"
		" select $1::bigint, $2::bigint, h.id, b.id from commits h, commits b"
		" where h.oid = $3 and b.oid = $4 returning id";
	const char *head = oids->v[oids->n - 1], *base = oids->v[0];
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(branch), dbv_i64(seq), dbv_text(head), dbv_text(base)),
		      DB_ONE, &rows, err))
		return err_wrap(err, "snapshot %d", seq);
	return add_positions(db, row_i64(rows, 0, "id"), oids, group_first, err);
}

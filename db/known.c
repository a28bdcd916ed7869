// SPDX-License-Identifier: GPL-2.0-or-later
/* Words that a person may use. */
#include "db/known.h"

#include <stdlib.h>
#include <string.h>

#include "db/row.h"

bool known_commit(struct db *db, const char *oid, int64_t *id, char **tree, struct err *err)
{
	static const char sql[] =
		"select c.id, t.name from commits c join snapshot_commits sc on sc.commit = c.id "
		"join snapshots s on s.id = sc.snapshot join branches b on b.id = s.branch "
		"join trees t on t.id = b.tree where c.oid = $1 order by s.id desc limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(oid)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_NOTFOUND,
			       "commit %.12s is in none of the followed branches; follow a branch "
			       "that holds it ([tree] in the settings)",
			       oid);
	*id = row_i64(rows, 0, "id");
	*tree = row_dup(rows, 0, "name");
	return true;
}

bool known_commits(struct db *db, const struct strs *oids, char **tree, struct err *err)
{
	static const char sql[] =
		"select w.oid from unnest(string_to_array($1, ',')) with ordinality w(oid, n) "
		"where not exists (select from commits c join snapshot_commits sc "
		"on sc.commit = c.id where c.oid = w.oid) order by w.n limit 1";
	AUTO_FREE char *joined = strs_join(oids, ",");
	AUTO_ROWS *rows = NULL;
	int64_t id;

	if (!db_query(db, sql, DBV(dbv_text(joined)), DB_MAYBE, &rows, err))
		return false;
	return known_commit(db, rows_n(rows) ? row_text(rows, 0, "oid") : oids->v[oids->n - 1], &id,
			    tree, err);
}

/* Names of one kind: all for the message, and whether the wanted one is among them. */
struct names {
	struct strs all;
	const char *kind;   /* "suite" */
	const char *plural; /* "suites" */
	const char *option; /* "--bench" */
};

static bool pick(const struct names *names, const char *wanted, char **found, struct err *err)
{
	AUTO_FREE char *list = strs_join(&names->all, ", ");

	if (!names->all.n)
		return err_set(err, ERR_NOTFOUND,
			       "no %s is known yet; give it a section in the settings and let "
			       "`mmperf up` run once",
			       names->kind);
	if (!wanted && names->all.n > 1)
		return err_set(err, ERR_USAGE, "say which %s with %s: %s", names->kind,
			       names->option, list);
	if (wanted && !strs_has(&names->all, wanted))
		return err_set(err, ERR_NOTFOUND, "there is no %s \"%s\"; known %s: %s",
			       names->kind, wanted, names->plural, list);
	*found = xstrdup(wanted ? wanted : names->all.v[0]);
	return true;
}

static bool read_names(struct db *db, const char *sql, const struct dbv *values, struct strs *out,
		       struct err *err)
{
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, values, DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++)
		strs_push(out, row_text(rows, i, "name"));
	return true;
}

bool known_suite(struct db *db, const char *name, struct err *err)
{
	static const char sql[] = "select distinct name from suites order by name";
	struct names names = {
		.kind = "suite", .plural = "suites", .option = "--bench", .all = STRS_INIT};
	AUTO_FREE char *found = NULL;
	bool ok = read_names(db, sql, DBV_NONE, &names.all, err) && pick(&names, name, &found, err);

	strs_release(&names.all);
	return ok;
}

bool known_machine(struct db *db, const char *name, int64_t *id, char **class_name, struct err *err)
{
	static const char names_sql[] = "select name from machines order by name";
	static const char sql[] = "select m.id, c.name as class from machines m"
				  " join classes c on c.id = m.class where m.name = $1";
	struct names names = {.kind = "machine",
			      .plural = "machines",
			      .option = "the name of one",
			      .all = STRS_INIT};
	AUTO_FREE char *found = NULL;
	AUTO_ROWS *rows = NULL;
	bool ok = read_names(db, names_sql, DBV_NONE, &names.all, err) &&
		  pick(&names, name, &found, err);

	strs_release(&names.all);
	if (!ok || !db_query(db, sql, DBV(dbv_text(found)), DB_ONE, &rows, err))
		return false;
	*id = row_i64(rows, 0, "id");
	*class_name = row_dup(rows, 0, "class");
	return true;
}

static bool never_measured(struct db *db, const char *suite, bool *yes, struct err *err)
{
	static const char sql[] =
		"select exists (select from suites s where ($1::text is null or s.name = $1) "
		"and not exists (select from metrics m "
		"where m.benchmark = s.definition->>'benchmark')) as yes";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(suite)), DB_ONE, &rows, err))
		return false;
	*yes = row_bool(rows, 0, "yes");
	return true;
}

bool known_metric(struct db *db, const char *suite, const char *metric, struct err *err)
{
	static const char sql[] =
		"with s as (select distinct on (name) definition from suites "
		"  where $1::text is null or name = $1 order by name, version desc) "
		"select m.name from metrics m, s where m.benchmark = s.definition->>'benchmark' "
		"union select jsonb_array_elements_text(s.definition->'judge') from s "
		"  where jsonb_typeof(s.definition->'judge') = 'array' order by name";
	AUTO_FREE char *list = NULL;
	AUTO_STRS all = STRS_INIT;
	bool unmeasured;

	if (!read_names(db, sql, DBV(dbv_text(suite)), &all, err) ||
	    !never_measured(db, suite, &unmeasured, err))
		return false;
	if (unmeasured || strs_has(&all, metric))
		return true;
	list = strs_join(&all, ", ");
	return err_set(err, ERR_NOTFOUND, "there is no metric \"%s\" in %s%s; known: %s", metric,
		       suite ? "suite " : "any suite", suite ? suite : "", list);
}

static bool check_up(struct db *db, const char *class_name, struct err *err)
{
	static const char sql[] =
		"select m.name, m.state, m.note from machines m join classes c on c.id = m.class "
		"where c.name = $1 order by m.state = 'up' desc, m.name limit 1";
	AUTO_ROWS *rows = NULL;
	const char *name, *state;

	if (!db_query(db, sql, DBV(dbv_text(class_name)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_USAGE,
			       "class %s has no machine; add a [machine] section to the settings",
			       class_name);
	name = row_text(rows, 0, "name");
	state = row_text(rows, 0, "state");
	if (!strcmp(state, "up"))
		return true;
	return err_set(
		err, ERR_USAGE,
		"no machine of class %s is up: %s is %s (%s); `mmperf machines up %s` takes it "
		"back, --no-wait queues the request all the same",
		class_name, name, state,
		row_is_null(rows, 0, "note") ? "no note" : row_text(rows, 0, "note"), name);
}

static bool class_id(struct db *db, const char *name, int64_t *id, struct err *err)
{
	static const char sql[] = "select id from classes where name = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name)), DB_ONE, &rows, err))
		return false;
	*id = row_i64(rows, 0, "id");
	return true;
}

bool known_class(struct db *db, const char *name, bool running, bool may_wait, int64_t *id,
		 char **found, struct err *err)
{
	static const char sql[] = "select name from classes where (driver = 'local') = $1::boolean"
				  " order by name";
	struct names names = {.kind = running ? "machine class of driver local"
					      : "machine class that boots images",
			      .plural = "classes",
			      .option = "--class",
			      .all = STRS_INIT};
	AUTO_FREE char *picked = NULL;
	bool ok = read_names(db, sql, DBV(dbv_bool(running)), &names.all, err) &&
		  pick(&names, name, &picked, err) && (may_wait || check_up(db, picked, err)) &&
		  class_id(db, picked, id, err);

	strs_release(&names.all);
	if (ok)
		*found = TAKE(picked);
	return ok;
}

bool known_branch(struct db *db, const char *name, char **tree, char **branch, bool *found,
		  struct err *err)
{
	static const char sql[] =
		"select t.name as tree, b.name as branch from branches b join trees t on t.id = "
		"b.tree "
		"where b.name = $1 or t.name || '/' || b.name = $1 or "
		"(t.name = $1 and (select count(*) from branches o where o.tree = t.id) = 1) "
		"order by b.active desc, b.id limit 1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(name)), DB_MAYBE, &rows, err))
		return false;
	*found = rows_n(rows) == 1;
	if (*found) {
		*tree = row_dup(rows, 0, "tree");
		*branch = row_dup(rows, 0, "branch");
	}
	return true;
}

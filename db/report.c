// SPDX-License-Identifier: GPL-2.0-or-later
/* Facts of one regression. */
#include "db/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/js.h"
#include "db/row.h"

static void commit_release(struct report_commit *commit)
{
	free(commit->oid);
	free(commit->subject);
	free(commit->author_name);
	free(commit->author_email);
	free(commit->link);
	free(commit->message_id);
}

static void series_release(struct report_series *series)
{
	free(series->benchmark);
	free(series->metric);
	free(series->params);
	free(series->pass);
	free(series->unit);
	free(series->direction);
}

static void lists_release(struct report_facts *facts)
{
	for (size_t i = 0; i < facts->n_series; i++)
		series_release(&facts->series[i]);
	free(facts->series);
	for (size_t i = 0; i < facts->n_hypotheses; i++) {
		free(facts->hypotheses[i].kind);
		free(facts->hypotheses[i].oid);
		free(facts->hypotheses[i].subject);
	}
	free(facts->hypotheses);
	for (size_t i = 0; i < facts->n_boots; i++) {
		free(facts->boots[i].purpose);
		free(facts->boots[i].role);
		free(facts->boots[i].outcome);
	}
	free(facts->boots);
}

void report_facts_release(struct report_facts *facts)
{
	char *const texts[] = {facts->state,	    facts->created,   facts->tree,
			       facts->url,	    facts->branch,    facts->class_name,
			       facts->driver,	    facts->method,    facts->recipe,
			       facts->recipe_text,  facts->toolchain, facts->suite,
			       facts->revert_reason};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		free(texts[i]);
	commit_release(&facts->culprit);
	commit_release(&facts->parent);
	commit_release(&facts->good);
	commit_release(&facts->bad);
	commit_release(&facts->base);
	strs_release(&facts->environment);
	strs_release(&facts->params);
	lists_release(facts);
	strs_release(&facts->functions.names);
	free(facts->functions.reason);
	lock_changes_release(&facts->locks);
	*facts = (struct report_facts){0};
}

static bool read_commit(struct db *db, int64_t id, struct report_commit *out, struct err *err)
{
	static const char sql[] = "select oid, subject, author_name, author_email, link, message_id"
				  " from commits where id = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id)), DB_ONE, &rows, err))
		return false;
	*out = (struct report_commit){
		.id = id,
		.oid = row_dup(rows, 0, "oid"),
		.subject = row_dup(rows, 0, "subject"),
		.author_name = row_dup(rows, 0, "author_name"),
		.author_email = row_dup(rows, 0, "author_email"),
		.link = row_dup(rows, 0, "link"),
		.message_id = row_dup(rows, 0, "message_id"),
	};
	return true;
}

static char *scalar_text(const json_t *value)
{
	if (json_is_string(value))
		return xstrdup(json_string_value(value));
	return js_text(value);
}

/* {"a": 1, "b": {"c": 2}} -> "a=1", "b.c=2". */
static void flatten(const json_t *obj, const char *prefix, int depth, struct strs *out)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)obj, key, value)
	{
		AUTO_FREE char *name = xasprintf("%s%s%s", prefix, *prefix ? "." : "", key);

		if (json_is_object(value) && depth < 4) {
			flatten(value, name, depth + 1, out);
		} else {
			AUTO_FREE char *text = scalar_text(value);

			strs_pushf(out, "%s=%s", name, text);
		}
	}
}

static bool flatten_text(const char *text, const char *below, struct strs *out, struct err *err)
{
	AUTO_JSON *json = NULL;
	const json_t *from;

	if (!text)
		return true;
	if (!js_parse(text, strlen(text), &json, err))
		return false;
	from = below ? json_object_get(json, below) : json;
	if (json_is_object(from))
		flatten(from, "", 0, out);
	return true;
}

/* What the first statement found beyond the facts: ids for the next ones. */
struct keys {
	int64_t culprit, parent, good, bad, base;
	int64_t series, candidate;
	char benchmark[128];
	int64_t version;
	char params_hash[128];
};

static void take_functions(const struct rows *rows, struct report_functions *out)
{
	out->known = !row_is_null(rows, 0, "layout_suspect");
	out->reason = row_dup(rows, 0, "functions_reason");
	if (!out->known)
		return;
	out->suspect = row_bool(rows, 0, "layout_suspect");
	out->differ = (int)row_i64(rows, 0, "functions_differ");
	out->hot = (int)row_i64(rows, 0, "functions_hot");
	out->hot_differ = (int)row_i64(rows, 0, "functions_hot_differ");
	strs_split(&out->names, row_text(rows, 0, "functions_names"), "\n");
}

static void take_head(const struct rows *rows, struct report_facts *out, struct keys *keys)
{
	out->id = row_i64(rows, 0, "id");
	out->bisection = row_i64(rows, 0, "bisection");
	out->state = row_dup(rows, 0, "state");
	out->created = row_dup(rows, 0, "created");
	out->created_s = row_i64(rows, 0, "created_s");
	out->tree = row_dup(rows, 0, "tree");
	out->url = row_dup(rows, 0, "url");
	out->branch = row_dup(rows, 0, "branch");
	out->class_name = row_dup(rows, 0, "class");
	out->driver = row_dup(rows, 0, "driver");
	out->method = row_dup(rows, 0, "method");
	out->emulated = row_bool(rows, 0, "emulated");
	out->recipe = row_dup(rows, 0, "recipe");
	out->recipe_version = (int)row_i64(rows, 0, "recipe_version");
	out->recipe_text = row_dup(rows, 0, "recipe_text");
	out->toolchain = row_dup(rows, 0, "toolchain");
	out->suite = row_dup(rows, 0, "suite");
	out->posterior = row_f64(rows, 0, "posterior");
	out->min_effect = row_f64(rows, 0, "min_effect");
	out->revert_effect = row_f64_or_nan(rows, 0, "revert_effect");
	out->revert_lo = row_f64_or_nan(rows, 0, "revert_lo");
	out->revert_hi = row_f64_or_nan(rows, 0, "revert_hi");
	out->revert_reason = row_dup(rows, 0, "revert_reason");
	take_functions(rows, &out->functions);
	keys->culprit = row_i64(rows, 0, "culprit");
	keys->parent = row_i64(rows, 0, "parent");
	keys->good = row_i64(rows, 0, "good");
	keys->bad = row_i64(rows, 0, "bad");
	keys->base = row_i64(rows, 0, "merge_base");
	keys->series = row_i64(rows, 0, "series");
	keys->candidate = row_id(rows, 0, "candidate");
	keys->version = row_i64(rows, 0, "version");
	snprintf(keys->benchmark, sizeof(keys->benchmark), "%s", row_text(rows, 0, "benchmark"));
	snprintf(keys->params_hash, sizeof(keys->params_hash), "%s",
		 row_text(rows, 0, "params_hash"));
}

static bool read_head(struct db *db, int64_t regression, struct report_facts *out,
		      struct keys *keys, struct err *err)
{
	static const char sql[] =
		"select g.id, g.bisection, g.state, g.culprit, g.parent, g.posterior,"
		" g.revert_effect, g.revert_lo, g.revert_hi, g.revert_reason,"
		" g.layout_suspect, g.functions_differ, g.functions_hot, g.functions_hot_differ,"
		" g.functions_names, g.functions_reason,"
		" to_char(g.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC'"
		"  as created, extract(epoch from g.created_at)::bigint as created_s,"
		" t.name as tree, t.url, br.name as branch,"
		" b.good, b.bad, b.merge_base, b.series, b.candidate, b.min_effect,"
		" cl.name as class, cl.driver, cl.emulated, se.method, e.facts::text as facts,"
		" rc.name as recipe, rc.version as recipe_version, rc.content as recipe_text,"
		" tc.description as toolchain, su.name as suite,"
		" su.definition::text as definition, sr.benchmark, sr.version, sr.params_hash"
		" from regressions g join bisections b on b.id = g.bisection"
		" join trees t on t.id = g.tree join classes cl on cl.id = b.class"
		" join recipes rc on rc.id = b.recipe join toolchains tc on tc.id = b.toolchain"
		" join suites su on su.id = b.suite join series sr on sr.id = b.series"
		" join setups se on se.id = sr.setup join environments e on e.id = se.environment"
		" left join candidates ca on ca.id = b.candidate"
		" left join lateral (select br.name from branches br where br.id = coalesce("
		"  ca.branch, (select s.branch from snapshot_commits sc"
		"   join snapshots s on s.id = sc.snapshot where sc.commit = g.culprit"
		"   order by s.id desc limit 1))) br on true"
		" where g.id = $1";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(regression)), DB_MAYBE, &rows, err))
		return false;
	if (!rows_n(rows))
		return err_set(err, ERR_NOTFOUND,
			       "regression %lld does not exist; `mmperf regressions` lists them",
			       (long long)regression);
	take_head(rows, out, keys);
	return flatten_text(row_text(rows, 0, "facts"), NULL, &out->environment, err) &&
	       flatten_text(row_text(rows, 0, "definition"), "params", &out->params, err);
}

static bool read_series(struct db *db, struct report_facts *out, struct err *err)
{
	static const char sql[] =
		"select s.benchmark, m.name, m.unit, m.direction, s.pass, p.params, rs.is_primary,"
		" rs.before_n, rs.before_mean, rs.after_n, rs.after_mean,"
		" rs.effect, rs.lo, rs.hi, rs.significant"
		" from regression_series rs join series s on s.id = rs.series"
		" join metrics m on m.id = s.metric"
		" left join lateral (select string_agg(kv.key || '=' || kv.value, ' '"
		"   order by kv.key) as params from jsonb_each_text((select r.params from samples x"
		"   join runs r on r.id = x.run where x.series = s.id limit 1)) kv) p on true"
		" where rs.regression = $1"
		" order by rs.is_primary desc, rs.significant desc, s.benchmark, s.pass, m.name,"
		" s.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(out->id)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct report_series *s = array_push(out->series, out->n_series, out->cap_series);

		*s = (struct report_series){
			.benchmark = row_dup(rows, i, "benchmark"),
			.metric = row_dup(rows, i, "name"),
			.params = row_dup(rows, i, "params"),
			.pass = row_dup(rows, i, "pass"),
			.unit = row_dup(rows, i, "unit"),
			.direction = row_dup(rows, i, "direction"),
			.primary = row_bool(rows, i, "is_primary"),
			.before_n = (int)row_i64(rows, i, "before_n"),
			.before_mean = row_f64(rows, i, "before_mean"),
			.after_n = (int)row_i64(rows, i, "after_n"),
			.after_mean = row_f64(rows, i, "after_mean"),
			.effect = row_f64(rows, i, "effect"),
			.lo = row_f64(rows, i, "lo"),
			.hi = row_f64(rows, i, "hi"),
			.significant = row_bool(rows, i, "significant"),
		};
	}
	return true;
}

static bool read_hypotheses(struct db *db, struct report_facts *out, struct err *err)
{
	static const char sql[] =
		"select h.n, h.kind, h.commit, c.oid, c.subject, h.prior, h.mass,"
		" exists (select from builds b join bisections x on x.id = h.bisection"
		"  where b.tree_oid = c.tree_oid and b.recipe = x.recipe"
		"  and b.toolchain = x.toolchain and b.outcome = 'failed') as failed"
		" from hypotheses h left join commits c on c.id = h.commit"
		" where h.bisection = $1 order by h.n";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(out->bisection)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct report_hypothesis *h =
			array_push(out->hypotheses, out->n_hypotheses, out->cap_hypotheses);

		*h = (struct report_hypothesis){
			.n = (int)row_i64(rows, i, "n"),
			.kind = row_dup(rows, i, "kind"),
			.commit = row_id(rows, i, "commit"),
			.oid = row_dup(rows, i, "oid"),
			.subject = row_dup(rows, i, "subject"),
			.prior = row_f64(rows, i, "prior"),
			.mass = row_f64(rows, i, "mass"),
			.failed = row_bool(rows, i, "failed"),
		};
	}
	return true;
}

/* A boot that the machine or the network spoiled says nothing about a commit and is left out. */
static bool read_boots(struct db *db, int64_t series, struct report_facts *out, struct err *err)
{
	static const char sql[] =
		"select j.commit, j.purpose, j.role, b.outcome, v.value"
		" from jobs j join attempts a on a.job = j.id join boots b on b.attempt = a.id"
		" left join lateral (select avg(s.estimate) as value from runs r"
		"  join samples s on s.run = r.id and s.series = $2"
		"  where r.boot = b.id and r.outcome = 'ok' and b.outcome = 'ok'"
		"  and a.outcome = 'ok') v on true"
		" where j.bisection = $1 and j.purpose in ('bisect', 'prove')"
		" and j.commit is not null"
		" and b.outcome in ('ok', 'panic', 'oops', 'hang', 'no_boot')"
		" order by b.id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(out->bisection), dbv_i64(series)), DB_MANY, &rows, err))
		return false;
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct report_boot *b = array_push(out->boots, out->n_boots, out->cap_boots);

		*b = (struct report_boot){
			.commit = row_i64(rows, i, "commit"),
			.purpose = row_dup(rows, i, "purpose"),
			.role = row_dup(rows, i, "role"),
			.outcome = row_dup(rows, i, "outcome"),
			.value = row_f64_or_nan(rows, i, "value"),
		};
	}
	return true;
}

static bool count_boots(struct db *db, int64_t candidate, struct report_facts *out, struct err *err)
{
	static const char sql[] =
		"select count(*) filter (where j.purpose = 'bisect') as search,"
		" count(*) filter (where j.purpose = 'prove') as prove,"
		" count(*) filter (where j.purpose = 'confirm') as confirm"
		" from jobs j join attempts a on a.job = j.id and a.outcome = 'ok'"
		" join boots b on b.attempt = a.id and b.outcome = 'ok'"
		" where j.bisection = $1 or j.candidate = $2";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(out->bisection), dbv_id(candidate)), DB_ONE, &rows, err))
		return false;
	out->search_boots = (int)row_i64(rows, 0, "search");
	out->prove_boots = (int)row_i64(rows, 0, "prove");
	out->confirm_boots = (int)row_i64(rows, 0, "confirm");
	return true;
}

static bool read_all(struct db *db, int64_t regression, struct report_facts *out, struct err *err)
{
	struct keys keys = {0};
	struct lock_pick pick;

	if (!read_head(db, regression, out, &keys, err))
		return false;
	pick = (struct lock_pick){.bisection = out->bisection,
				  .benchmark = keys.benchmark,
				  .version = keys.version,
				  .params_hash = keys.params_hash};
	return read_commit(db, keys.culprit, &out->culprit, err) &&
	       read_commit(db, keys.parent, &out->parent, err) &&
	       read_commit(db, keys.good, &out->good, err) &&
	       read_commit(db, keys.bad, &out->bad, err) &&
	       read_commit(db, keys.base, &out->base, err) && read_series(db, out, err) &&
	       read_hypotheses(db, out, err) && read_boots(db, keys.series, out, err) &&
	       count_boots(db, keys.candidate, out, err) &&
	       lock_changes_read(db, &pick, &out->locks, err);
}

bool report_facts_read(struct db *db, int64_t regression, struct report_facts *out, struct err *err)
{
	CLEANUP(report_facts_release) struct report_facts facts = {0};

	if (!read_all(db, regression, &facts, err))
		return err_wrap(err, "report %lld", (long long)regression);
	*out = facts;
	facts = (struct report_facts){0};
	return true;
}

void report_lines_release(struct report_lines *lines)
{
	for (size_t i = 0; i < lines->n; i++) {
		struct report_line *l = &lines->v[i];
		char *const texts[] = {l->state,   l->tree,   l->branch,    l->oid,
				       l->subject, l->metric, l->direction, l->created};

		for (size_t k = 0; k < ARRAY_SIZE(texts); k++)
			free(texts[k]);
	}
	free(lines->v);
	*lines = (struct report_lines){0};
}

bool report_lines_read(struct db *db, struct report_lines *out, struct err *err)
{
	static const char sql[] =
		"select g.id, g.state, t.name as tree, br.name as branch, c.oid, c.subject,"
		" s.benchmark || '.' || m.name as metric, m.direction, rs.effect, g.posterior,"
		" cl.emulated, to_char(g.created_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI')"
		"  || ' UTC' as created"
		" from regressions g join trees t on t.id = g.tree"
		" join commits c on c.id = g.culprit join bisections b on b.id = g.bisection"
		" join classes cl on cl.id = b.class"
		" join regression_series rs on rs.regression = g.id and rs.is_primary"
		" join series s on s.id = rs.series join metrics m on m.id = s.metric"
		" left join candidates ca on ca.id = b.candidate"
		" left join branches br on br.id = ca.branch order by g.id desc";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV_NONE, DB_MANY, &rows, err))
		return false;
	*out = (struct report_lines){0};
	for (size_t i = 0; i < rows_n(rows); i++) {
		struct report_line *l = array_push(out->v, out->n, out->cap);

		*l = (struct report_line){
			.id = row_i64(rows, i, "id"),
			.state = row_dup(rows, i, "state"),
			.tree = row_dup(rows, i, "tree"),
			.branch = row_dup(rows, i, "branch"),
			.oid = row_dup(rows, i, "oid"),
			.subject = row_dup(rows, i, "subject"),
			.metric = row_dup(rows, i, "metric"),
			.direction = row_dup(rows, i, "direction"),
			.effect = row_f64(rows, i, "effect"),
			.posterior = row_f64(rows, i, "posterior"),
			.emulated = row_bool(rows, i, "emulated"),
			.created = row_dup(rows, i, "created"),
		};
	}
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Builds and images. */
#include "db/build.h"

#include <stdlib.h>

#include "db/row.h"

bool toolchain_upsert(struct db *db, const char *hash, const char *description, int64_t *id,
		      struct err *err)
{
	static const char sql[] =
		"insert into toolchains (hash, description) values ($1, $2)"
		" on conflict (hash) do update set description = excluded.description returning id";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_text(hash), dbv_text(description)), DB_ONE, &rows, err))
		return err_wrap(err, "toolchain");
	*id = row_i64(rows, 0, "id");
	return true;
}

bool build_read(struct db *db, int64_t id, struct build *out, struct err *err)
{
	static const char sql[] =
		"select b.id, b.tree_oid, c.oid, r.id as recipe, r.name, r.content, t.hash,"
		" b.layout_seed, b.outcome, i.content_hash"
		" from builds b join commits c on c.id = b.commit join recipes r on r.id = b.recipe"
		" join toolchains t on t.id = b.toolchain left join images i on i.id = b.image"
		" where b.id = $1::bigint";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id)), DB_ONE, &rows, err))
		return err_wrap(err, "build %lld", (long long)id);
	*out = (struct build){
		.id = id,
		.tree_oid = row_dup(rows, 0, "tree_oid"),
		.commit_oid = row_dup(rows, 0, "oid"),
		.recipe_name = row_dup(rows, 0, "name"),
		.recipe_content = row_dup(rows, 0, "content"),
		.recipe = row_i64(rows, 0, "recipe"),
		.toolchain_hash = row_dup(rows, 0, "hash"),
		.layout_seed = row_i64(rows, 0, "layout_seed"),
		.outcome = row_dup(rows, 0, "outcome"),
		.content_hash = row_dup(rows, 0, "content_hash"),
	};
	return true;
}

void build_release(struct build *build)
{
	free(build->tree_oid);
	free(build->commit_oid);
	free(build->recipe_name);
	free(build->recipe_content);
	free(build->toolchain_hash);
	free(build->outcome);
	free(build->content_hash);
	*build = (struct build){0};
}

bool artifact_upsert(struct db *db, const struct artifact *artifact, const char *kind, int64_t *id,
		     struct err *err)
{
	/* The update changes nothing; it makes `returning` see a row that exists already. */
	static const char sql[] =
		"insert into artifacts (sha256, size, kind) values ($1, $2::bigint, $3)"
		" on conflict (sha256) do update set size = excluded.size returning id";
	AUTO_ROWS *rows = NULL;

	*id = 0;
	if (!*artifact->sha256)
		return true;
	if (!db_query(db, sql,
		      DBV(dbv_text(artifact->sha256), dbv_i64(artifact->size), dbv_text(kind)),
		      DB_ONE, &rows, err))
		return err_wrap(err, "artifact %s", kind);
	*id = row_i64(rows, 0, "id");
	return true;
}

static bool image_upsert(struct db *db, const struct build_result *result, int64_t *id,
			 struct err *err)
{
	static const char sql[] =
		"insert into images (content_hash, build_id, kernel, system_map, modules)"
		" values ($1, $2, $3::bigint, $4::bigint, $5::bigint)"
		" on conflict (content_hash) do update set content_hash = excluded.content_hash"
		" returning id";
	AUTO_ROWS *rows = NULL;
	int64_t kernel, map, modules;

	if (!artifact_upsert(db, &result->kernel, "kernel", &kernel, err) ||
	    !artifact_upsert(db, &result->system_map, "system-map", &map, err) ||
	    !artifact_upsert(db, &result->modules, "modules", &modules, err) ||
	    !db_query(db, sql,
		      DBV(dbv_text(result->content_hash), dbv_text(result->build_id),
			  dbv_id(kernel), dbv_id(map), dbv_id(modules)),
		      DB_ONE, &rows, err))
		return err_wrap(err, "image");
	*id = row_i64(rows, 0, "id");
	return true;
}

bool build_store(struct db *db, int64_t build, const struct build_result *result, struct err *err)
{
	static const char sql[] =
		"update builds set outcome = $2, image = $3::bigint, error = $4,"
		" config = $5::bigint, log = $6::bigint, incremental = $7::boolean,"
		" seconds = $8::float8, functions = $9::bigint"
		" where id = $1::bigint and outcome = 'pending'";
	int64_t image = 0, config, log, functions;

	if ((result->built && !image_upsert(db, result, &image, err)) ||
	    !artifact_upsert(db, &result->config, "config", &config, err) ||
	    !artifact_upsert(db, &result->log, "build-log", &log, err) ||
	    !artifact_upsert(db, &result->functions, "functions", &functions, err))
		return false;
	return db_exec(db, sql,
		       DBV(dbv_i64(build), dbv_text(result->built ? "built" : "failed"),
			   dbv_id(image), dbv_text(result->built ? NULL : result->error),
			   dbv_id(config), dbv_id(log), dbv_bool(result->incremental),
			   dbv_f64(result->seconds), dbv_id(functions)),
		       err);
}

bool build_config(struct db *db, const char *recipe, char **sha256, struct err *err)
{
	static const char sql[] = "select a.sha256 from builds b join recipes r on r.id = b.recipe"
				  " join artifacts a on a.id = b.config where r.name = $1"
				  " and b.outcome = 'built' order by b.id desc limit 1";
	AUTO_ROWS *rows = NULL;

	*sha256 = NULL;
	if (!db_query(db, sql, DBV(dbv_text(recipe)), DB_MAYBE, &rows, err))
		return false;
	if (rows_n(rows))
		*sha256 = row_dup(rows, 0, "sha256");
	return true;
}

bool build_verified(struct db *db, int64_t build, const struct artifact *functions, struct err *err)
{
	static const char sql[] = "update builds set clean_verified_at = now(),"
				  " functions = coalesce(functions, $2::bigint)"
				  " where id = $1::bigint";
	int64_t artifact;

	return artifact_upsert(db, functions, "functions", &artifact, err) &&
	       db_exec(db, sql, DBV(dbv_i64(build), dbv_id(artifact)), err);
}

bool image_read(struct db *db, int64_t id, struct image *out, struct err *err)
{
	static const char sql[] =
		"select i.build_id, a.sha256, m.sha256 as modules from images i"
		" join artifacts a on a.id = i.kernel left join artifacts m on m.id = i.modules"
		" where i.id = $1::bigint";
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64(id)), DB_ONE, &rows, err))
		return err_wrap(err, "image %lld", (long long)id);
	*out = (struct image){
		.id = id,
		.build_id = row_dup(rows, 0, "build_id"),
		.kernel_sha256 = row_dup(rows, 0, "sha256"),
		.modules_sha256 = row_dup(rows, 0, "modules"),
	};
	return true;
}

void image_release(struct image *image)
{
	free(image->build_id);
	free(image->kernel_sha256);
	free(image->modules_sha256);
	*image = (struct image){0};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_BUILD_H
#define DB_BUILD_H

/* Toolchains, builds, images and artifacts, as the runner reads and stores them. */

#include "base/hash.h"
#include "db/conn.h"

bool toolchain_upsert(struct db *db, const char *hash, const char *description, int64_t *id,
		      struct err *err) _must_check;

/* What is to be built, and what is known of it. */
struct build {
	int64_t id;
	char *tree_oid;
	char *commit_oid;
	char *recipe_name;
	char *recipe_content;
	int64_t recipe;
	char *toolchain_hash;
	int64_t layout_seed;
	char *outcome;	    /* pending, built, failed */
	char *content_hash; /* of its image; NULL unless built */
};

bool build_read(struct db *db, int64_t id, struct build *out, struct err *err) _must_check;
void build_release(struct build *build);

/* A stored file; an empty sha256 = none. */
struct artifact {
	char sha256[HASH_HEX_SIZE];
	int64_t size;
};

struct build_result {
	bool built;
	const char *error; /* when not built: the compiler's first error line */
	const char *content_hash;
	const char *build_id;
	struct artifact kernel;
	struct artifact system_map;
	struct artifact modules;
	struct artifact functions; /* their digests */
	struct artifact config;
	struct artifact log;
	bool incremental;
	double seconds;
};

/*
 * Stores the end of a build in a transaction of its caller. An image with that content that exists
 * already is taken instead of a new one; an ended build stays as it is.
 */
bool build_store(struct db *db, int64_t build, const struct build_result *result,
		 struct err *err) _must_check;
/* A clean build gave the same image; and these digests of its functions, which are kept when there are none. */
bool build_verified(struct db *db, int64_t build, const struct artifact *functions,
		    struct err *err) _must_check;

/* sha256 of the .config of the newest build by the recipe of that name (the caller frees it); NULL: nothing was built by it. */
bool build_config(struct db *db, const char *recipe, char **sha256, struct err *err) _must_check;

/* What is to be booted. */
struct image {
	int64_t id;
	char *build_id;
	char *kernel_sha256;
	char *modules_sha256; /* NULL: it has none */
};

bool image_read(struct db *db, int64_t id, struct image *out, struct err *err) _must_check;
void image_release(struct image *image);

/* The row of an artifact, inserted when new; id 0 for none. */
bool artifact_upsert(struct db *db, const struct artifact *artifact, const char *kind, int64_t *id,
		     struct err *err) _must_check;

#endif

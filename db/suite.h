/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_SUITE_H
#define DB_SUITE_H

/*
 * Recipes and suites: settings that results depend on, kept as versioned rows. A changed text is
 * a new version; rows are never edited.
 */

#include "base/js.h"
#include "db/conn.h"

struct suite {
	int64_t id;
	char *name;
	char *benchmark;
	struct strs judge; /* metrics that can raise a candidate; empty = the default list */
};

struct suites {
	struct suite *v;
	size_t n;
	size_t cap;
};

void suites_release(struct suites *suites);

/* The row of that text: the latest version when equal, else a new version. */
bool recipe_upsert(struct db *db, const char *name, const char *content, int64_t *id,
		   struct err *err) _must_check;
/* The latest version; ERR_NOTFOUND. */
bool recipe_latest(struct db *db, const char *name, int64_t *id, struct err *err) _must_check;
/* The same as recipe_upsert() for a suite; equality is of JSON values, not of text. */
bool suite_upsert(struct db *db, const char *name, const json_t *definition, int64_t *id,
		  struct err *err) _must_check;
/* Latest version of each suite, by name. */
bool suites_read(struct db *db, struct suites *out, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CONF_H
#define BASE_CONF_H

/*
 * Settings in git-config syntax, parsed by libgit2 (base/repo.c holds the calls), checked against
 * one typed key table. Unknown sections and keys, bad values and duplicate single values are
 * errors with file and line. The table also makes the man page check and `mmperf init` text.
 */

#include "base/str.h"

#include <stdint.h>

enum conf_type {
	CONF_STRING,
	CONF_INT,
	CONF_BOOL,
	CONF_FLOAT,
	CONF_SECONDS,
	CONF_BYTES,
	CONF_LIST
};

struct conf_key {
	const char *section; /* "database", "tree", ... */
	bool named;	     /* [section "NAME"] */
	const char *key;
	enum conf_type type;
	const char *fallback; /* text of the default; NULL = unset */
	const char *help;     /* one sentence for the man page and the sample */
	bool required;	      /* in every [section "NAME"] that exists */
	double least, most;   /* of a CONF_INT or CONF_FLOAT; both 0: no limit */
};

/* How a row of the table ends. */
#define CONF_OPTIONAL		 false, 0, 0
#define CONF_REQUIRED		 true, 0, 0
#define CONF_WITHIN(least, most) false, least, most

struct conf;

/* keys ends with a zeroed entry and must outlive conf. A path of NULL gives only defaults. */
bool conf_load(const char *path, const struct conf_key *keys, struct conf **out,
	       struct err *err) _must_check;
void conf_free(struct conf *conf);
void conf_free_ptr(struct conf **conf);
/* Where it was read from; NULL for none. */
const char *conf_path(const struct conf *conf);

/*
 * Typed values: what the file says, else the table's fallback. name is NULL for unnamed sections.
 * Asking for a key that is not in the table, or with another type, aborts: a programming error.
 */
const char *conf_str(const struct conf *conf, const char *section, const char *name,
		     const char *key); /* NULL when unset; borrowed */
int64_t conf_i64(const struct conf *conf, const char *section, const char *name, const char *key);
bool conf_bool(const struct conf *conf, const char *section, const char *name, const char *key);
double conf_f64(const struct conf *conf, const char *section, const char *name, const char *key);
/* All values of a CONF_LIST key, in order (the key may be repeated); borrowed. */
const struct strs *conf_list(const struct conf *conf, const char *section, const char *name,
			     const char *key);
/* Names of all [section "NAME"], in file order. */
const struct strs *conf_names(const struct conf *conf, const char *section);
bool conf_has(const struct conf *conf, const char *section, const char *name);

#endif

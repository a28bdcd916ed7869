/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_SHOW_H
#define CLI_SHOW_H

/* Answers as aligned text. Everything shown may be hostile: control characters become '?'. */

#include "base/js.h"

enum show_as {
	SHOW_TEXT,
	SHOW_OID,    /* the first 12 digits */
	SHOW_COUNT,  /* right-aligned whole number */
	SHOW_SHARE,  /* 0.123 -> "12.3 %" */
	SHOW_EFFECT, /* log ratio -> "+12.3 %" */
	SHOW_PROB,   /* 0.9932 */
	SHOW_SPAN,   /* seconds -> "3 min 20 s" */
	SHOW_NUMBER, /* 4 significant digits */
};

struct show_column {
	const char *title;
	const char *key; /* of each object */
	enum show_as as;
	int max; /* longest text shown; 0 = any */
};

/* A table of an array of objects; columns ends with a zeroed entry. null shows as "-". */
void show_table(const json_t *rows, const struct show_column *columns, FILE *f);
/* One value as SHOW_... says, appended. */
void show_value(const json_t *value, enum show_as as, struct str *out);
/* Appends text without what a terminal could take for a command. */
void show_safe(const char *text, struct str *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_CONF_SCAN_H
#define BASE_CONF_SCAN_H

/*
 * Private to base/conf.c: where in a settings file things stand. libgit2 parses the file but keeps
 * no line numbers, and says nothing about a section without keys.
 */

#include "base/str.h"

struct conf_spot {
	int line;
	char *section; /* lower case; empty before the first section */
	char *name;    /* of [section "name"], or NULL */
	char *key;     /* lower case; NULL for the section's own line */
	bool used;
};

struct conf_spots {
	struct conf_spot *v;
	size_t n;
	size_t cap;
};

/* Appends the spots of a text that libgit2 could parse. */
void conf_scan(const char *text, struct conf_spots *spots);
void conf_spots_release(struct conf_spots *spots);
/* The first spot that is not marked used; NULL when the thing is not in this file. key may be NULL. */
struct conf_spot *conf_spot_find(const struct conf_spots *spots, const char *section,
				 const char *name, const char *key);
bool conf_same(const char *a, const char *b); /* equal text, or both NULL */

#endif

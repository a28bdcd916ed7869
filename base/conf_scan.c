// SPDX-License-Identifier: GPL-2.0-or-later
/* Line numbers of settings. */
#include "base/conf_scan.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct scan {
	const char *p;
	int line;
	struct conf_spots *spots;
	char *section;
	char *name;
};

static char *lower(const char *s, size_t n)
{
	char *copy = xstrndup(s, n);

	for (char *p = copy; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return copy;
}

static void add_spot(struct scan *s, const char *key, size_t n)
{
	struct conf_spot *spot = array_push(s->spots->v, s->spots->n, s->spots->cap);

	spot->line = s->line;
	spot->section = xstrdup(s->section ? s->section : "");
	spot->name = xstrdup_null(s->name);
	spot->key = key ? lower(key, n) : NULL;
}

/* Behind the opening quote; stops behind the closing one. */
static char *quoted_name(struct scan *s)
{
	AUTO_STR name = str_new();

	while (*s->p && *s->p != '"' && *s->p != '\n') {
		if (*s->p == '\\' && s->p[1])
			s->p++;
		str_addc(&name, *s->p++);
	}
	if (*s->p == '"')
		s->p++;
	return str_take(&name);
}

static void scan_section(struct scan *s)
{
	size_t n = strcspn(++s->p, " \t\"].\n");

	free(s->section);
	free(s->name);
	s->section = lower(s->p, n);
	s->name = NULL;
	s->p += n;
	if (*s->p == '.') {
		n = strcspn(++s->p, "]\n");
		s->name = lower(s->p, n);
		s->p += n;
	}
	s->p += strspn(s->p, " \t");
	if (*s->p == '"') {
		s->p++;
		s->name = quoted_name(s);
	}
	s->p += strcspn(s->p, "]\n");
	if (*s->p == ']')
		s->p++;
	add_spot(s, NULL, 0);
}

/* To the end of a value: quotes hide comment signs, a backslash hides the newline. */
static void skip_value(struct scan *s)
{
	bool quoted = false;

	for (; *s->p && *s->p != '\n'; s->p++) {
		if (*s->p == '\\' && s->p[1]) {
			s->p++;
			s->line += *s->p == '\n';
		} else if (*s->p == '"') {
			quoted = !quoted;
		} else if (!quoted && (*s->p == '#' || *s->p == ';')) {
			s->p += strcspn(s->p, "\n");
			return;
		}
	}
}

static void scan_key(struct scan *s)
{
	size_t n = strcspn(s->p, " \t\r=\n#;");

	add_spot(s, s->p, n);
	s->p += n;
	skip_value(s);
}

void conf_scan(const char *text, struct conf_spots *spots)
{
	struct scan s = {.p = text, .line = 1, .spots = spots};

	if (str_starts(s.p, "\xef\xbb\xbf"))
		s.p += 3;
	while (*s.p) {
		if (*s.p == '\n') {
			s.line++;
			s.p++;
		} else if (isspace((unsigned char)*s.p)) {
			s.p++;
		} else if (*s.p == '#' || *s.p == ';') {
			s.p += strcspn(s.p, "\n");
		} else if (*s.p == '[') {
			scan_section(&s);
		} else {
			scan_key(&s);
		}
	}
	free(s.section);
	free(s.name);
}

void conf_spots_release(struct conf_spots *spots)
{
	for (size_t i = 0; i < spots->n; i++) {
		free(spots->v[i].section);
		free(spots->v[i].name);
		free(spots->v[i].key);
	}
	free(spots->v);
	*spots = (struct conf_spots){0};
}

bool conf_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

struct conf_spot *conf_spot_find(const struct conf_spots *spots, const char *section,
				 const char *name, const char *key)
{
	for (size_t i = 0; i < spots->n; i++) {
		struct conf_spot *spot = &spots->v[i];

		if (!spot->used && !strcmp(spot->section, section) && conf_same(spot->name, name) &&
		    conf_same(spot->key, key))
			return spot;
	}
	return NULL;
}

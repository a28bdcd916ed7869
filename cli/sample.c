// SPDX-License-Identifier: GPL-2.0-or-later
/* The key table as a file. */
#include "cli/sample.h"

#include <string.h>

/* git-config syntax: the characters that would end or change a bare value. */
static void add_value(struct str *out, const char *value)
{
	bool bare = *value && !strpbrk(value, "#;\"\\\n\t") && value[0] != ' ' &&
		    value[strlen(value) - 1] != ' ';

	if (bare) {
		str_add(out, value);
		return;
	}
	str_addc(out, '"');
	for (; *value; value++) {
		if (*value == '"' || *value == '\\')
			str_addc(out, '\\');
		str_addc(out, *value);
	}
	str_addc(out, '"');
}

static bool in_section(const struct sample_line *line, const char *section, const char *name)
{
	return !strcmp(line->section, section) &&
	       (!name ? !line->name : line->name && !strcmp(line->name, name));
}

/* Sets the key as often as lines has it; false when it has not. */
static bool add_set(const struct sample_line *lines, const struct conf_key *key, const char *name,
		    struct str *out)
{
	bool any = false;

	for (; lines->section; lines++) {
		if (!in_section(lines, key->section, name) || strcmp(lines->key, key->key) != 0)
			continue;
		str_addf(out, "\t%s = ", key->key);
		add_value(out, lines->value);
		str_addc(out, '\n');
		any = true;
	}
	return any;
}

static void add_key(const struct sample_line *lines, const struct conf_key *key, const char *name,
		    bool explain, struct str *out)
{
	if (explain)
		str_addf(out, "\t# %s\n", key->help);
	if (add_set(lines, key, name, out) || !explain)
		return;
	str_addf(out, "\t;%s =", key->key);
	if (key->fallback && *key->fallback)
		str_addf(out, " %s", key->fallback);
	str_addc(out, '\n');
}

static void add_section(const struct conf_key *first, const struct sample_line *lines,
			const char *name, bool explain, struct str *out)
{
	if (name)
		str_addf(out, "\n[%s \"%s\"]\n", first->section, name);
	else
		str_addf(out, "\n[%s]\n", first->section);
	for (const struct conf_key *k = first; k->section && !strcmp(k->section, first->section);
	     k++)
		add_key(lines, k, name, explain, out);
}

/* Each [section "NAME"] that lines has; only the first explains its keys. */
static void add_named(const struct conf_key *first, const struct sample_line *lines,
		      struct str *out)
{
	const char *last = NULL;

	for (const struct sample_line *l = lines; l->section; l++) {
		if (strcmp(l->section, first->section) != 0 || (last && !strcmp(last, l->name)))
			continue;
		add_section(first, lines, l->name, !last, out);
		last = l->name;
	}
}

static bool is_set(const struct sample_line *lines, const char *section)
{
	for (; lines->section; lines++)
		if (!strcmp(lines->section, section))
			return true;
	return false;
}

/* Those that lines sets stand first: they are what a person has to look at. */
static void add_sections(const struct conf_key *keys, const struct sample_line *lines, bool set,
			 struct str *out)
{
	const char *last = "";

	for (const struct conf_key *k = keys; k->section; k++) {
		if (!strcmp(k->section, last) || is_set(lines, k->section) != set)
			continue;
		last = k->section;
		if (k->named)
			add_named(k, lines, out);
		else
			add_section(k, lines, NULL, true, out);
	}
}

void sample_write(const struct conf_key *keys, const struct sample_line *lines, struct str *out)
{
	add_sections(keys, lines, true, out);
	add_sections(keys, lines, false, out);
}

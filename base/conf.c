// SPDX-License-Identifier: GPL-2.0-or-later
/* Settings, checked and typed. */
#include "base/conf.h"

#include <stdlib.h>
#include <string.h>

#include "base/conf_scan.h"
#include "base/fs.h"
#include "base/repo.h"

#define FILE_MAX ((size_t)4 << 20)

/* One key of one section, as far as the file sets it. */
struct slot {
	const struct conf_key *key;
	char *name;
	struct strs values;
	int line; /* of the first value; 0 when it came by an include */
};

/* A list key's default, split. */
struct default_list {
	const struct conf_key *key;
	struct strs values;
};

struct section_names {
	const char *section; /* borrowed from the key table */
	struct strs names;
};

struct conf {
	char *path;
	const struct conf_key *keys;
	struct conf_spots spots;
	struct slot *slots;
	size_t nslots, slots_cap;
	struct section_names *sections;
	size_t nsections, sections_cap;
	struct default_list *defaults;
	size_t ndefaults, defaults_cap;
};

void conf_free(struct conf *conf)
{
	if (!conf)
		return;
	for (size_t i = 0; i < conf->nslots; i++) {
		free(conf->slots[i].name);
		strs_release(&conf->slots[i].values);
	}
	for (size_t i = 0; i < conf->nsections; i++)
		strs_release(&conf->sections[i].names);
	for (size_t i = 0; i < conf->ndefaults; i++)
		strs_release(&conf->defaults[i].values);
	conf_spots_release(&conf->spots);
	free(conf->slots);
	free(conf->sections);
	free(conf->defaults);
	free(conf->path);
	free(conf);
}

void conf_free_ptr(struct conf **conf)
{
	conf_free(*conf);
}

const char *conf_path(const struct conf *conf)
{
	return conf->path;
}

static const struct conf_key *find_key(const struct conf_key *keys, const char *section, bool named,
				       const char *key)
{
	for (; keys->section; keys++)
		if (keys->named == named && !strcmp(keys->section, section) &&
		    (!key || !strcmp(keys->key, key)))
			return keys;
	return NULL;
}

/* "[tree \"mm\"]", as a person wrote it. */
static char *section_text(const char *section, const char *name)
{
	return name ? xasprintf("[%s \"%s\"]", section, name) : xasprintf("[%s]", section);
}

/* Where "FILE:LINE: " points; line 0 leaves the number out. */
static bool complain(const struct conf *conf, int line, struct err *err, const char *fmt, ...)
	_printf_(4, 5);
static bool complain(const struct conf *conf, int line, struct err *err, const char *fmt, ...)
{
	AUTO_STR what = str_new();
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&what, fmt, ap);
	va_end(ap);
	if (line)
		return err_set(err, ERR_USAGE, "%s:%d: %s", conf->path, line, what.s);
	return err_set(err, ERR_USAGE, "%s: %s", conf->path, what.s);
}

static bool unknown_section(const struct conf *conf, const char *section, const char *name,
			    int line, struct err *err)
{
	AUTO_FREE char *text = section_text(section, name);

	if (find_key(conf->keys, section, !name, NULL))
		return complain(conf, line, err,
				name ? "%s: write [%s] without a name"
				     : "%s needs a name: [%s \"NAME\"]",
				text, section);
	for (const struct conf_key *k = conf->keys; k->section; k++)
		if (str_resembles(section, k->section))
			return complain(conf, line, err, "unknown section %s; did you mean [%s%s]?",
					text, k->section, k->named ? " \"NAME\"" : "");
	return complain(conf, line, err, "unknown section %s", text);
}

static bool unknown_key(const struct conf *conf, const char *section, const char *name,
			const char *key, int line, struct err *err)
{
	AUTO_FREE char *text = section_text(section, name);

	for (const struct conf_key *k = conf->keys; k->section; k++)
		if (!strcmp(k->section, section) && k->named == !!name &&
		    str_resembles(key, k->key))
			return complain(conf, line, err,
					"unknown key \"%s\" in %s; did you mean \"%s\"?", key, text,
					k->key);
	for (const struct conf_key *k = conf->keys; k->section; k++)
		if (!strcmp(k->key, key))
			return complain(conf, line, err,
					"unknown key \"%s\" in %s; it belongs in [%s%s]", key, text,
					k->section, k->named ? " \"NAME\"" : "");
	return complain(conf, line, err, "unknown key \"%s\" in %s", key, text);
}

static bool to_bool(const char *text, bool *out)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};

	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		if (!strcasecmp(text, words[i])) {
			*out = i & 1;
			return true;
		}
	}
	return false;
}

/* What a value of this type looks like; NULL when text is one. */
static const char *bad_value(enum conf_type type, const char *text)
{
	long long integer;
	double real;
	bool flag;

	switch (type) {
	case CONF_INT:
		return str_to_i64(text, &integer) ? NULL : "a whole number";
	case CONF_BOOL:
		return to_bool(text, &flag) ? NULL : "true or false";
	case CONF_FLOAT:
		return str_to_f64(text, &real) ? NULL : "a number";
	case CONF_SECONDS:
		return str_to_seconds(text, &real) ? NULL : "a time such as 90s, 15m or 2h";
	case CONF_BYTES:
		return str_to_bytes(text, &integer) ? NULL : "a size such as 64K, 16M or 2G";
	case CONF_STRING:
	case CONF_LIST:
		break;
	}
	return NULL;
}

/* The limits that text, which is of the key's type, does not keep; NULL when it does. */
static char *out_of_range(const struct conf_key *key, const char *text)
{
	double value;

	if ((key->type != CONF_INT && key->type != CONF_FLOAT) || key->least == key->most)
		return NULL;
	if (str_to_f64(text, &value) && value >= key->least && value <= key->most)
		return NULL;
	return xasprintf("between %.10g and %.10g", key->least, key->most);
}

static struct slot *find_slot(const struct conf *conf, const struct conf_key *key, const char *name)
{
	for (size_t i = 0; i < conf->nslots; i++)
		if (conf->slots[i].key == key && conf_same(conf->slots[i].name, name))
			return &conf->slots[i];
	return NULL;
}

static void note_name(struct conf *conf, const char *section, const char *name)
{
	struct section_names *s = NULL;

	for (size_t i = 0; i < conf->nsections; i++)
		if (!strcmp(conf->sections[i].section, section))
			s = &conf->sections[i];
	if (!s) {
		s = array_push(conf->sections, conf->nsections, conf->sections_cap);
		s->section = section;
	}
	if (!strs_has(&s->names, name))
		strs_push(&s->names, name);
}

static bool take_entry(void *arg, const char *section, const char *name, const char *key,
		       const char *value, struct err *err)
{
	struct conf *conf = arg;
	struct conf_spot *spot = conf_spot_find(&conf->spots, section, name, key);
	int line = spot ? spot->line : 0;
	const struct conf_key *known = find_key(conf->keys, section, !!name, key);
	AUTO_FREE char *range = NULL;
	struct slot *slot;
	const char *want;

	if (!strcmp(section, "include"))
		return true;
	if (spot)
		spot->used = true;
	if (!known)
		return find_key(conf->keys, section, !!name, NULL)
			       ? unknown_key(conf, section, name, key, line, err)
			       : unknown_section(conf, section, name, line, err);
	if (!value && known->type != CONF_BOOL)
		return complain(conf, line, err, "\"%s\" has no value", key);
	want = value ? bad_value(known->type, value) : NULL;
	if (!want && value)
		want = range = out_of_range(known, value);
	if (want)
		return complain(conf, line, err, "\"%s\" is \"%s\", which is not %s", key, value,
				want);
	slot = find_slot(conf, known, name);
	if (slot && known->type != CONF_LIST)
		return complain(conf, line, err, "\"%s\" is set twice; the first time in line %d",
				key, slot->line);
	if (!slot) {
		slot = array_push(conf->slots, conf->nslots, conf->slots_cap);
		*slot = (struct slot){.key = known, .name = xstrdup_null(name), .line = line};
	}
	strs_push(&slot->values, value ? value : "true");
	if (name)
		note_name(conf, known->section, name);
	return true;
}

/* Sections that hold no key are seen only here. */
static bool take_headers(struct conf *conf, struct err *err)
{
	for (size_t i = 0; i < conf->spots.n; i++) {
		const struct conf_spot *spot = &conf->spots.v[i];
		const struct conf_key *known;

		if (!*spot->section)
			return complain(conf, spot->line, err,
					"\"%s\" stands before the first [section]", spot->key);
		if (spot->key || !strcmp(spot->section, "include"))
			continue;
		known = find_key(conf->keys, spot->section, !!spot->name, NULL);
		if (!known)
			return unknown_section(conf, spot->section, spot->name, spot->line, err);
		if (spot->name)
			note_name(conf, known->section, spot->name);
	}
	return true;
}

static bool require(const struct conf *conf, const struct conf_key *key, const char *name,
		    struct err *err)
{
	const struct conf_spot *spot = conf_spot_find(&conf->spots, key->section, name, NULL);
	AUTO_FREE char *text = section_text(key->section, name);

	if (find_slot(conf, key, name) || (!name && !spot))
		return true;
	return complain(conf, spot ? spot->line : 0, err, "%s needs \"%s\": %s", text, key->key,
			key->help);
}

static bool check_required(const struct conf *conf, struct err *err)
{
	for (const struct conf_key *key = conf->keys; key->section; key++) {
		const struct strs *names = conf_names(conf, key->section);

		if (!key->required)
			continue;
		if (!key->named && !require(conf, key, NULL, err))
			return false;
		for (size_t i = 0; key->named && i < names->n; i++)
			if (!require(conf, key, names->v[i], err))
				return false;
	}
	return true;
}

static void make_defaults(struct conf *conf)
{
	for (const struct conf_key *key = conf->keys; key->section; key++) {
		struct default_list *list;

		if (key->type != CONF_LIST)
			continue;
		list = array_push(conf->defaults, conf->ndefaults, conf->defaults_cap);
		list->key = key;
		strs_split(&list->values, key->fallback ? key->fallback : "", " ");
	}
}

static bool read_file(struct conf *conf, struct err *err)
{
	AUTO_STR text = str_new();

	if (!fs_read(conf->path, FILE_MAX, &text, err))
		return err_wrap(err, "settings");
	conf_scan(text.s, &conf->spots);
	return take_headers(conf, err) && repo_config_each(conf->path, take_entry, conf, err) &&
	       check_required(conf, err);
}

bool conf_load(const char *path, const struct conf_key *keys, struct conf **out, struct err *err)
{
	CLEANUP(conf_free_ptr) struct conf *conf = xcalloc(1, sizeof(*conf));

	conf->keys = keys;
	conf->path = xstrdup_null(path);
	make_defaults(conf);
	if (path && !read_file(conf, err))
		return false;
	*out = TAKE(conf);
	return true;
}

static const struct conf_key *demand(const struct conf *conf, const char *section, const char *name,
				     const char *key, unsigned types)
{
	const struct conf_key *known = find_key(conf->keys, section, !!name, key);

	if (!known || !(types & 1u << known->type)) {
		fprintf(stderr, "settings: %s.%s is not in the key table with this type\n", section,
			key);
		abort();
	}
	return known;
}

static const char *text_of(const struct conf *conf, const char *section, const char *name,
			   const char *key, unsigned types)
{
	const struct conf_key *known = demand(conf, section, name, key, types);
	const struct slot *slot = find_slot(conf, known, name);

	return slot ? slot->values.v[0] : known->fallback;
}

const char *conf_str(const struct conf *conf, const char *section, const char *name,
		     const char *key)
{
	return text_of(conf, section, name, key, 1u << CONF_STRING);
}

int64_t conf_i64(const struct conf *conf, const char *section, const char *name, const char *key)
{
	const char *text = text_of(conf, section, name, key, 1u << CONF_INT | 1u << CONF_BYTES);
	long long value = 0;

	if (text && !str_to_i64(text, &value) && !str_to_bytes(text, &value))
		value = 0;
	return value;
}

bool conf_bool(const struct conf *conf, const char *section, const char *name, const char *key)
{
	const char *text = text_of(conf, section, name, key, 1u << CONF_BOOL);
	bool value = false;

	return text && to_bool(text, &value) && value;
}

double conf_f64(const struct conf *conf, const char *section, const char *name, const char *key)
{
	const char *text = text_of(conf, section, name, key, 1u << CONF_FLOAT | 1u << CONF_SECONDS);
	double value = 0;

	if (text && !str_to_f64(text, &value) && !str_to_seconds(text, &value))
		value = 0;
	return value;
}

const struct strs *conf_list(const struct conf *conf, const char *section, const char *name,
			     const char *key)
{
	const struct conf_key *known = demand(conf, section, name, key, 1u << CONF_LIST);
	const struct slot *slot = find_slot(conf, known, name);

	if (slot)
		return &slot->values;
	for (size_t i = 0; i < conf->ndefaults; i++)
		if (conf->defaults[i].key == known)
			return &conf->defaults[i].values;
	abort();
}

const struct strs *conf_names(const struct conf *conf, const char *section)
{
	static const struct strs none = STRS_INIT;

	for (size_t i = 0; i < conf->nsections; i++)
		if (!strcmp(conf->sections[i].section, section))
			return &conf->sections[i].names;
	return &none;
}

bool conf_has(const struct conf *conf, const char *section, const char *name)
{
	if (name)
		return strs_has(conf_names(conf, section), name);
	return conf_spot_find(&conf->spots, section, NULL, NULL) != NULL;
}

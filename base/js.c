// SPDX-License-Identifier: GPL-2.0-or-later
/* JSON over jansson. */
#include "base/js.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"

#define FILE_MAX ((size_t)256 << 20)

void js_decref_ptr(json_t **p)
{
	json_decref(*p);
}

bool js_parse(const char *text, size_t n, json_t **out, struct err *err)
{
	json_error_t why;
	/* Depth is bounded by jansson's JSON_PARSER_MAX_DEPTH; NaN and Infinity are not JSON. */
	json_t *json = json_loadb(text, n, JSON_REJECT_DUPLICATES, &why);

	if (!json)
		return err_set(err, ERR_FAILED, "JSON line %d column %d: %s", why.line, why.column,
			       why.text);
	*out = json;
	return true;
}

bool js_load(const char *path, json_t **out, struct err *err)
{
	AUTO_STR text = str_new();

	if (!fs_read(path, FILE_MAX, &text, err))
		return false;
	return js_parse(text.s, text.len, out, err) || err_wrap(err, "%s", path);
}

static char *dump(const json_t *json, size_t flags)
{
	char *text = json_dumps(json,
				flags | JSON_SORT_KEYS | JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));

	if (!text) {
		fputs("JSON: cannot be written: out of memory or a cycle\n", stderr);
		abort();
	}
	return text;
}

char *js_text(const json_t *json)
{
	return dump(json, JSON_COMPACT);
}

char *js_pretty(const json_t *json)
{
	AUTO_FREE char *text = dump(json, JSON_INDENT(2));

	return xasprintf("%s\n", text);
}

static const char *type_word(json_type type)
{
	static const char *const words[] = {
		[JSON_OBJECT] = "an object",   [JSON_ARRAY] = "an array", [JSON_STRING] = "text",
		[JSON_INTEGER] = "an integer", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
		[JSON_FALSE] = "false",	       [JSON_NULL] = "null",
	};

	return words[type];
}

static bool wrong(const json_t *value, const char *key, const char *want, struct err *err)
{
	if (!value)
		return err_set(err, ERR_FAILED, "JSON key \"%s\" is missing", key);
	return err_set(err, ERR_FAILED, "JSON key \"%s\" should be %s, not %s", key, want,
		       type_word(json_typeof(value)));
}

bool js_get_str(const json_t *obj, const char *key, const char **out, struct err *err)
{
	const json_t *value = json_object_get(obj, key);

	if (!json_is_string(value))
		return wrong(value, key, "text", err);
	*out = json_string_value(value);
	return true;
}

bool js_get_i64(const json_t *obj, const char *key, int64_t *out, struct err *err)
{
	const json_t *value = json_object_get(obj, key);

	if (!json_is_integer(value))
		return wrong(value, key, "an integer", err);
	*out = json_integer_value(value);
	return true;
}

bool js_get_f64(const json_t *obj, const char *key, double *out, struct err *err)
{
	const json_t *value = json_object_get(obj, key);

	if (!json_is_number(value))
		return wrong(value, key, "a number", err);
	*out = json_number_value(value);
	return true;
}

bool js_get_bool(const json_t *obj, const char *key, bool *out, struct err *err)
{
	const json_t *value = json_object_get(obj, key);

	if (!json_is_boolean(value))
		return wrong(value, key, "true or false", err);
	*out = json_is_true(value);
	return true;
}

bool js_get_array(const json_t *obj, const char *key, json_t **out, struct err *err)
{
	json_t *value = json_object_get(obj, key);

	if (!json_is_array(value))
		return wrong(value, key, "an array", err);
	*out = value;
	return true;
}

bool js_get_object(const json_t *obj, const char *key, json_t **out, struct err *err)
{
	json_t *value = json_object_get(obj, key);

	if (!json_is_object(value))
		return wrong(value, key, "an object", err);
	*out = value;
	return true;
}

const char *js_str_or(const json_t *obj, const char *key, const char *otherwise)
{
	const json_t *value = json_object_get(obj, key);

	return json_is_string(value) ? json_string_value(value) : otherwise;
}

int64_t js_i64_or(const json_t *obj, const char *key, int64_t otherwise)
{
	const json_t *value = json_object_get(obj, key);

	return json_is_integer(value) ? json_integer_value(value) : otherwise;
}

double js_f64_or(const json_t *obj, const char *key, double otherwise)
{
	const json_t *value = json_object_get(obj, key);

	return json_is_number(value) ? json_number_value(value) : otherwise;
}

bool js_bool_or(const json_t *obj, const char *key, bool otherwise)
{
	const json_t *value = json_object_get(obj, key);

	return json_is_boolean(value) ? json_is_true(value) : otherwise;
}

void js_set_new(json_t *obj, const char *key, json_t *value)
{
	if (!value || json_object_set_new(obj, key, value)) {
		fprintf(stderr, "JSON: cannot set key \"%s\"\n", key);
		abort();
	}
}

void js_set_str(json_t *obj, const char *key, const char *value)
{
	AUTO_STR clean = str_new();

	if (!value) {
		js_set_new(obj, key, json_null());
		return;
	}
	str_add_utf8(&clean, value, strlen(value));
	js_set_new(obj, key, json_string_nocheck(clean.s));
}

void js_set_i64(json_t *obj, const char *key, int64_t value)
{
	js_set_new(obj, key, json_integer(value));
}

void js_set_f64(json_t *obj, const char *key, double value)
{
	js_set_new(obj, key, isfinite(value) ? json_real(value) : json_null());
}

void js_set_bool(json_t *obj, const char *key, bool value)
{
	js_set_new(obj, key, json_boolean(value));
}

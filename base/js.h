/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_JS_H
#define BASE_JS_H

/*
 * JSON over jansson (the only file that may be linked to it by name is base/js.c, and users of
 * this header through it). Getters say which key was wrong; strings they return are borrowed from
 * the object.
 */

#include "base/str.h"

#include <jansson.h>
#include <stdint.h>

#define AUTO_JSON CLEANUP(js_decref_ptr) json_t
void js_decref_ptr(json_t **p);

/* A new reference; the error names the line and column. Depth and size limits hold (hostile input). */
bool js_parse(const char *text, size_t n, json_t **out, struct err *err) _must_check;
bool js_load(const char *path, json_t **out, struct err *err) _must_check;
/* Compact, sorted keys (so that equal objects are equal text); the caller frees it. */
char *js_text(const json_t *json);
/* Indented, for people; ends with a newline; the caller frees it. */
char *js_pretty(const json_t *json);

bool js_get_str(const json_t *obj, const char *key, const char **out, struct err *err) _must_check;
bool js_get_i64(const json_t *obj, const char *key, int64_t *out, struct err *err) _must_check;
bool js_get_f64(const json_t *obj, const char *key, double *out, struct err *err) _must_check;
bool js_get_bool(const json_t *obj, const char *key, bool *out, struct err *err) _must_check;
bool js_get_array(const json_t *obj, const char *key, json_t **out, struct err *err) _must_check;
bool js_get_object(const json_t *obj, const char *key, json_t **out, struct err *err) _must_check;

/* The value or a default when the key is absent or of another type. */
const char *js_str_or(const json_t *obj, const char *key, const char *otherwise);
int64_t js_i64_or(const json_t *obj, const char *key, int64_t otherwise);
double js_f64_or(const json_t *obj, const char *key, double otherwise);
bool js_bool_or(const json_t *obj, const char *key, bool otherwise);

/* Setters abort on out-of-memory; NULL text and non-finite numbers become null. */
void js_set_str(json_t *obj, const char *key, const char *value);
void js_set_i64(json_t *obj, const char *key, int64_t value);
void js_set_f64(json_t *obj, const char *key, double value);
void js_set_bool(json_t *obj, const char *key, bool value);
/* Takes ownership of value. */
void js_set_new(json_t *obj, const char *key, json_t *value);

#endif

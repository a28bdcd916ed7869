/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_STR_H
#define BASE_STR_H

/* Growing text (struct str) and argv-like lists (struct strs, always NULL-ended). */

#include "base/mem.h"

struct str {
	char *s; /* never NULL after str_init(), always NUL-ended */
	size_t len;
	size_t cap;
};

#define AUTO_STR CLEANUP(str_release) struct str

void str_init(struct str *str);
void str_release(struct str *str);
void str_clear(struct str *str);
void str_add(struct str *str, const char *s);
void str_addn(struct str *str, const void *s, size_t n);
void str_addc(struct str *str, char c);
/* Appends hostile bytes as valid UTF-8: what is not becomes U+FFFD, NUL is dropped. */
void str_add_utf8(struct str *str, const char *s, size_t n);
void str_addf(struct str *str, const char *fmt, ...) _printf_(2, 3);
void str_vaddf(struct str *str, const char *fmt, va_list ap) _printf_(2, 0);
/* The text; the caller frees it. str is empty and usable afterwards. */
char *str_take(struct str *str) __attribute__((returns_nonnull));

/* A new struct str as an initialiser-friendly value: `AUTO_STR s = str_new();` */
struct str str_new(void);

struct strs {
	char **v; /* v[n] is NULL; NULL itself while n is 0 and nothing was pushed */
	size_t n;
	size_t cap;
};

#define AUTO_STRS CLEANUP(strs_release) struct strs
#define STRS_INIT          \
	{                  \
		NULL, 0, 0 \
	}

void strs_push(struct strs *strs, const char *s);
void strs_pushf(struct strs *strs, const char *fmt, ...) _printf_(2, 3);
/* Pushes each argument; the last one must be NULL. */
void strs_pushl(struct strs *strs, ...) __attribute__((sentinel));
void strs_release(struct strs *strs);
bool strs_has(const struct strs *strs, const char *s);
/* Splits text at any character of sep, drops empty pieces, appends the rest. */
void strs_split(struct strs *strs, const char *text, const char *sep);
/* Joined with sep; the caller frees it. */
char *strs_join(const struct strs *strs, const char *sep);

bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
/* Cuts blanks and newlines at both ends, in place; returns the first non-blank of s. */
char *str_trim(char *s);

/* https://user:password@host -> https://user@host, for messages; the caller frees it. */
char *str_hide_password(const char *url);

/* Edits (insert, delete, replace, swap) from a to b; for "did you mean". */
size_t str_distance(const char *a, const char *b);
/* True when word could be a slip of the keyboard for candidate. */
bool str_resembles(const char *word, const char *candidate);

/* Whole-string conversions: false for empty text, garbage behind the number, or overflow. */
bool str_to_i64(const char *s, long long *out) _must_check;
bool str_to_f64(const char *s, double *out) _must_check;
/* "512", "4K", "16M", "2G" (powers of 1024) -> bytes. */
bool str_to_bytes(const char *s, long long *out) _must_check;
/* "250ms", "90s", "15m", "2h", "1d", or a bare number of seconds -> seconds. */
bool str_to_seconds(const char *s, double *out) _must_check;

#endif

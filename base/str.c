// SPDX-License-Identifier: GPL-2.0-or-later
/* Growing text, lists of text, conversions. */
#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void str_init(struct str *str)
{
	*str = str_new();
}

struct str str_new(void)
{
	struct str str = {.s = xmalloc(32), .cap = 32};

	str.s[0] = '\0';
	return str;
}

void str_release(struct str *str)
{
	free(str->s);
	*str = (struct str){0};
}

void str_clear(struct str *str)
{
	str->len = 0;
	str->s[0] = '\0';
}

static void reserve(struct str *str, size_t more)
{
	size_t want = str->len + more + 1;

	if (want <= str->cap)
		return;
	while (str->cap < want)
		str->cap = str->cap ? str->cap * 2 : 32;
	str->s = xreallocarray(str->s, str->cap, 1);
}

void str_addn(struct str *str, const void *s, size_t n)
{
	reserve(str, n);
	if (n)
		memcpy(str->s + str->len, s, n);
	str->len += n;
	str->s[str->len] = '\0';
}

void str_add(struct str *str, const char *s)
{
	str_addn(str, s, strlen(s));
}

void str_addc(struct str *str, char c)
{
	str_addn(str, &c, 1);
}

/* Length of the valid UTF-8 sequence at s, 0 when there is none (overlong, surrogate, cut off). */
static size_t utf8_len(const unsigned char *s, size_t n)
{
	size_t want = s[0] < 0x80 ? 1 : s[0] < 0xc2 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;

	if (!want || want > n || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < want; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f))
		return 0;
	if ((s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return want;
}

void str_add_utf8(struct str *str, const char *s, size_t n)
{
	size_t i = 0;

	while (i < n) {
		size_t len = utf8_len((const unsigned char *)s + i, n - i);

		if (!len)
			str_add(str, "\xef\xbf\xbd");
		else if (s[i])
			str_addn(str, s + i, len);
		i += len ? len : 1;
	}
}

void str_vaddf(struct str *str, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n <= 0)
		return;
	reserve(str, (size_t)n);
	vsnprintf(str->s + str->len, (size_t)n + 1, fmt, ap);
	str->len += (size_t)n;
}

void str_addf(struct str *str, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(str, fmt, ap);
	va_end(ap);
}

char *str_take(struct str *str)
{
	char *s = str->s;

	str_init(str);
	return s;
}

static void push_owned(struct strs *strs, char *s)
{
	if (strs->n + 2 > strs->cap) {
		strs->cap = strs->cap ? strs->cap * 2 : 8;
		strs->v = xreallocarray(strs->v, strs->cap, sizeof(*strs->v));
	}
	strs->v[strs->n++] = s;
	strs->v[strs->n] = NULL;
}

void strs_push(struct strs *strs, const char *s)
{
	push_owned(strs, xstrdup(s));
}

void strs_pushf(struct strs *strs, const char *fmt, ...)
{
	AUTO_STR s = str_new();
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&s, fmt, ap);
	va_end(ap);
	push_owned(strs, str_take(&s));
}

void strs_pushl(struct strs *strs, ...)
{
	const char *s;
	va_list ap;

	va_start(ap, strs);
	while ((s = va_arg(ap, const char *)))
		strs_push(strs, s);
	va_end(ap);
}

void strs_release(struct strs *strs)
{
	for (size_t i = 0; i < strs->n; i++)
		free(strs->v[i]);
	free(strs->v);
	*strs = (struct strs)STRS_INIT;
}

bool strs_has(const struct strs *strs, const char *s)
{
	for (size_t i = 0; i < strs->n; i++)
		if (!strcmp(strs->v[i], s))
			return true;
	return false;
}

void strs_split(struct strs *strs, const char *text, const char *sep)
{
	while (*text) {
		size_t n = strcspn(text, sep);

		if (n)
			push_owned(strs, xstrndup(text, n));
		text += n;
		text += strspn(text, sep);
	}
}

char *strs_join(const struct strs *strs, const char *sep)
{
	AUTO_STR s = str_new();

	for (size_t i = 0; i < strs->n; i++) {
		if (i)
			str_add(&s, sep);
		str_add(&s, strs->v[i]);
	}
	return str_take(&s);
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !strcmp(s + n - m, suffix);
}

char *str_hide_password(const char *url)
{
	const char *start = strstr(url, "://");
	const char *at = start ? memchr(start + 3, '@', strcspn(start + 3, "/")) : NULL;
	const char *colon = at ? memchr(start + 3, ':', (size_t)(at - start - 3)) : NULL;

	if (!colon)
		return xstrdup(url);
	return xasprintf("%.*s%s", (int)(colon - url), url, at);
}

char *str_trim(char *s)
{
	size_t n;

	while (isspace((unsigned char)*s))
		s++;
	n = strlen(s);
	while (n && isspace((unsigned char)s[n - 1]))
		s[--n] = '\0';
	return s;
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t least = a < b ? a : b;

	return least < c ? least : c;
}

size_t str_distance(const char *a, const char *b)
{
	size_t n = strlen(b), columns = n + 1;
	AUTO_FREE size_t *rows = xcalloc(3 * columns, sizeof(*rows));
	size_t *before = rows, *last = rows + columns, *now = rows + 2 * columns;

	for (size_t j = 0; j <= n; j++)
		last[j] = j;
	for (size_t i = 1; a[i - 1]; i++) {
		size_t *recycled = before;

		now[0] = i;
		for (size_t j = 1; j <= n; j++) {
			now[j] = min3(last[j] + 1, now[j - 1] + 1,
				      last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = min3(now[j], now[j], before[j - 2] + 1);
		}
		before = last;
		last = now;
		now = recycled;
	}
	return last[n];
}

bool str_resembles(const char *word, const char *candidate)
{
	size_t n = strlen(candidate);

	return str_distance(word, candidate) <= (n < 4 ? 1 : n < 8 ? 2 : 3);
}

bool str_to_i64(const char *s, long long *out)
{
	char *end;
	long long v;

	errno = 0;
	v = strtoll(s, &end, 10);
	if (end == s || *end || errno)
		return false;
	*out = v;
	return true;
}

bool str_to_f64(const char *s, double *out)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(s, &end);
	if (end == s || *end || errno || !isfinite(v))
		return false;
	*out = v;
	return true;
}

/* A number followed by one of a table of suffixes, scaled. */
struct suffix {
	const char *text;
	double scale;
};

static bool to_scaled(const char *s, const struct suffix *table, size_t n, double *out)
{
	char *end;
	double v;

	errno = 0;
	v = strtod(s, &end);
	if (end == s || errno || !isfinite(v))
		return false;
	for (size_t i = 0; i < n; i++) {
		if (!strcasecmp(end, table[i].text)) {
			*out = v * table[i].scale;
			return true;
		}
	}
	return false;
}

bool str_to_bytes(const char *s, long long *out)
{
	static const struct suffix sizes[] = {
		{"", 1},
		{"k", 1024},
		{"m", 1024.0 * 1024},
		{"g", 1073741824.0},
		{"t", 1099511627776.0},
	};
	double v;

	if (!to_scaled(s, sizes, ARRAY_SIZE(sizes), &v) || v < 0 || v > (double)LLONG_MAX / 2)
		return false;
	*out = (long long)v;
	return true;
}

bool str_to_seconds(const char *s, double *out)
{
	static const struct suffix times[] = {
		{"", 1}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400},
	};

	return to_scaled(s, times, ARRAY_SIZE(times), out) && *out >= 0;
}

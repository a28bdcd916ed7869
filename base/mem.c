// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory that aborts, and scope exits. */
#include "base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *or_abort(void *p)
{
	if (!p) {
		fputs("out of memory\n", stderr);
		abort();
	}
	return p;
}

void *xmalloc(size_t size)
{
	return or_abort(malloc(size ? size : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return or_abort(calloc(n ? n : 1, size ? size : 1));
}

void *xreallocarray(void *p, size_t n, size_t size)
{
	return or_abort(reallocarray(p, n ? n : 1, size ? size : 1));
}

char *xstrdup(const char *s)
{
	return or_abort(strdup(s));
}

char *xstrndup(const char *s, size_t n)
{
	return or_abort(strndup(s, n));
}

char *xstrdup_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s = NULL;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		s = NULL;
	va_end(ap);
	return or_abort(s);
}

void mem_free_ptr(void *p)
{
	free(*(void **)p);
}

void mem_close_ptr(const int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	errno = saved;
}

void mem_fclose_ptr(FILE **f)
{
	if (*f)
		fclose(*f);
}

void *mem_grow(void *array, size_t n, size_t *cap, size_t size)
{
	if (n >= *cap) {
		*cap = *cap ? *cap * 2 : 8;
		array = xreallocarray(array, *cap, size);
	}
	memset((char *)array + n * size, 0, size);
	return array;
}

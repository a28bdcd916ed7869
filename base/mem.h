/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_MEM_H
#define BASE_MEM_H

/*
 * Memory and scopes. Out of memory aborts: state is in PostgreSQL and every job is a process.
 * What a function owns is declared with AUTO_FREE, AUTO_CLOSE or CLEANUP(fn) beside its creation
 * and handed over with TAKE().
 */

#include "base/err.h"

#include <stddef.h>
#include <stdio.h>

void *xmalloc(size_t size) __attribute__((malloc, returns_nonnull));
/* Zeroed; aborts when n * size overflows. */
void *xcalloc(size_t n, size_t size) __attribute__((malloc, returns_nonnull));
void *xreallocarray(void *p, size_t n, size_t size) __attribute__((returns_nonnull));
char *xstrdup(const char *s) __attribute__((malloc, returns_nonnull));
char *xstrndup(const char *s, size_t n) __attribute__((malloc, returns_nonnull));
char *xasprintf(const char *fmt, ...) _printf_(1, 2) __attribute__((malloc, returns_nonnull));
/* xstrdup() that maps NULL to NULL. */
char *xstrdup_null(const char *s);

void mem_free_ptr(void *p);	   /* free(*(void **)p) */
void mem_close_ptr(const int *fd); /* close(*fd) unless it is negative */
void mem_fclose_ptr(FILE **f);

#define CLEANUP(fn) __attribute__((cleanup(fn)))
#define AUTO_FREE   CLEANUP(mem_free_ptr)
#define AUTO_CLOSE  CLEANUP(mem_close_ptr)
#define AUTO_FCLOSE CLEANUP(mem_fclose_ptr)

/* Hands the pointer over: the value of p, and p becomes NULL. */
#define TAKE(p)                             \
	__extension__({                     \
		__typeof__(p) taken_ = (p); \
		(p) = NULL;                 \
		taken_;                     \
	})

/* The same for a file descriptor: p becomes -1. */
#define TAKE_FD(fd)                \
	__extension__({            \
		int taken_ = (fd); \
		(fd) = -1;         \
		taken_;            \
	})

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/*
 * Growing arrays: `array_push(a, n, cap)` returns a pointer to a fresh zeroed element of array a
 * and counts it in n.
 */
#define array_push(a, n, cap)                                   \
	__extension__({                                         \
		(a) = mem_grow((a), (n), &(cap), sizeof(*(a))); \
		&(a)[(n)++];                                    \
	})
void *mem_grow(void *array, size_t n, size_t *cap, size_t size) __attribute__((returns_nonnull));

#endif

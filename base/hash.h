/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_HASH_H
#define BASE_HASH_H

/* SHA-256 (FIPS 180-4), as 64 lower-case hex digits. */

#include "base/err.h"

#include <stddef.h>

#define HASH_HEX_SIZE 65

struct hash; /* an unfinished digest */

struct hash *hash_new(void);
void hash_add(struct hash *hash, const void *data, size_t n);
/* Ends and frees hash. */
void hash_finish(struct hash *hash, char hex[HASH_HEX_SIZE]);

void hash_of(const void *data, size_t n, char hex[HASH_HEX_SIZE]);
bool hash_file(const char *path, char hex[HASH_HEX_SIZE], struct err *err) _must_check;

#endif

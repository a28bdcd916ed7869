/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_STORE_H
#define BASE_STORE_H

/*
 * Artifacts (kernels, logs, consoles) by content. The database holds sha256 and size, never a
 * path, so that another kind of store (HTTP, S3) can stand behind the same four calls.
 */

#include "base/hash.h"
#include "base/str.h"

#include <stdint.h>

struct store;

/* A directory store; made when absent. */
bool store_open(const char *dir, struct store **out, struct err *err) _must_check;
void store_free(struct store *store);
void store_free_ptr(struct store **store);

/* Copies the file in; the same content twice is stored once. Says which when the disk is full. */
bool store_put_file(struct store *store, const char *path, char sha256[HASH_HEX_SIZE],
		    int64_t *size, struct err *err) _must_check;
bool store_put(struct store *store, const void *data, size_t n, char sha256[HASH_HEX_SIZE],
	       struct err *err) _must_check;
/* A local file that holds the artifact (read-only, lives as long as the store); caller frees it. */
bool store_get(struct store *store, const char *sha256, char **path, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_SHA1_H
#define BASE_SHA1_H

/* SHA-1 (FIPS 180-4), for nothing but git's patch ids. */

#include <stddef.h>
#include <stdint.h>

#define SHA1_SIZE 20

struct sha1 {
	uint32_t state[5];
	uint64_t bytes;
	unsigned char block[64];
};

void sha1_init(struct sha1 *sha1);
void sha1_add(struct sha1 *sha1, const void *data, size_t n);
void sha1_finish(struct sha1 *sha1, unsigned char digest[SHA1_SIZE]);

#endif

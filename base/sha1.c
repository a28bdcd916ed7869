// SPDX-License-Identifier: GPL-2.0-or-later
/* SHA-1 of bytes. */
#include "base/sha1.h"

#include <string.h>

#define BLOCK 64

static uint32_t rol(uint32_t x, int n)
{
	return x << n | x >> (32 - n);
}

static uint32_t mix(int round, uint32_t b, uint32_t c, uint32_t d)
{
	if (round < 20)
		return ((b & c) | (~b & d)) + 0x5a827999;
	if (round < 40)
		return (b ^ c ^ d) + 0x6ed9eba1;
	if (round < 60)
		return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
	return (b ^ c ^ d) + 0xca62c1d6;
}

static void compress(uint32_t state[5], const unsigned char *block)
{
	uint32_t w[80], a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];

	for (int i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
		       (uint32_t)block[2] << 8 | block[3];
	for (int i = 16; i < 80; i++)
		w[i] = rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
	for (int i = 0; i < 80; i++) {
		uint32_t t = rol(a, 5) + mix(i, b, c, d) + e + w[i];

		e = d;
		d = c;
		c = rol(b, 30);
		b = a;
		a = t;
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
}

void sha1_init(struct sha1 *sha1)
{
	*sha1 = (struct sha1){
		.state = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0}};
}

void sha1_add(struct sha1 *sha1, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t used = sha1->bytes % BLOCK;

	sha1->bytes += n;
	while (n) {
		size_t take = n < BLOCK - used ? n : BLOCK - used;

		memcpy(sha1->block + used, p, take);
		used += take;
		if (used == BLOCK) {
			compress(sha1->state, sha1->block);
			used = 0;
		}
		p += take;
		n -= take;
	}
}

void sha1_finish(struct sha1 *sha1, unsigned char digest[SHA1_SIZE])
{
	static const unsigned char padding[BLOCK] = {0x80};
	uint64_t bits = sha1->bytes * 8;
	size_t used = sha1->bytes % BLOCK;
	unsigned char length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	sha1_add(sha1, padding, used < 56 ? 56 - used : 120 - used);
	sha1_add(sha1, length, sizeof(length));
	for (int i = 0; i < SHA1_SIZE; i++)
		digest[i] = (unsigned char)(sha1->state[i / 4] >> (24 - 8 * (i % 4)));
}

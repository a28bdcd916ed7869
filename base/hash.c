// SPDX-License-Identifier: GPL-2.0-or-later
/* SHA-256 of bytes. */
#include "base/hash.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

#define BLOCK 64

struct hash {
	uint32_t state[8];
	uint64_t bytes;
	unsigned char block[BLOCK]; /* bytes % BLOCK of it are in use */
};

static const uint32_t start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
				  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t ror(uint32_t x, int n)
{
	return x >> n | x << (32 - n);
}

static void schedule(uint32_t w[64], const unsigned char *block)
{
	for (int i = 0; i < 16; i++, block += 4)
		w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 |
		       (uint32_t)block[2] << 8 | block[3];
	for (int i = 16; i < 64; i++) {
		uint32_t s0 = ror(w[i - 15], 7) ^ ror(w[i - 15], 18) ^ w[i - 15] >> 3;
		uint32_t s1 = ror(w[i - 2], 17) ^ ror(w[i - 2], 19) ^ w[i - 2] >> 10;

		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

/* One round; the caller turns the eight variables instead of moving them. */
static void step(uint32_t a, uint32_t b, uint32_t c, uint32_t *d, uint32_t e, uint32_t f,
		 uint32_t g, uint32_t *h, uint32_t input)
{
	uint32_t s1 = ror(e, 6) ^ ror(e, 11) ^ ror(e, 25);
	uint32_t t1 = *h + s1 + ((e & f) ^ (~e & g)) + input;
	uint32_t s0 = ror(a, 2) ^ ror(a, 13) ^ ror(a, 22);

	*d += t1;
	*h = t1 + s0 + ((a & b) ^ (a & c) ^ (b & c));
}

static void compress(uint32_t state[8], const unsigned char *block)
{
	uint32_t w[64], a = state[0], b = state[1], c = state[2], d = state[3];
	uint32_t e = state[4], f = state[5], g = state[6], h = state[7];

	schedule(w, block);
	for (int i = 0; i < 64; i += 8) {
		step(a, b, c, &d, e, f, g, &h, k[i] + w[i]);
		step(h, a, b, &c, d, e, f, &g, k[i + 1] + w[i + 1]);
		step(g, h, a, &b, c, d, e, &f, k[i + 2] + w[i + 2]);
		step(f, g, h, &a, b, c, d, &e, k[i + 3] + w[i + 3]);
		step(e, f, g, &h, a, b, c, &d, k[i + 4] + w[i + 4]);
		step(d, e, f, &g, h, a, b, &c, k[i + 5] + w[i + 5]);
		step(c, d, e, &f, g, h, a, &b, k[i + 6] + w[i + 6]);
		step(b, c, d, &e, f, g, h, &a, k[i + 7] + w[i + 7]);
	}
	state[0] += a;
	state[1] += b;
	state[2] += c;
	state[3] += d;
	state[4] += e;
	state[5] += f;
	state[6] += g;
	state[7] += h;
}

struct hash *hash_new(void)
{
	struct hash *hash = xcalloc(1, sizeof(*hash));

	memcpy(hash->state, start, sizeof(start));
	return hash;
}

void hash_add(struct hash *hash, const void *data, size_t n)
{
	const unsigned char *p = data;
	size_t used = hash->bytes % BLOCK;

	hash->bytes += n;
	while (n) {
		size_t take = n < BLOCK - used ? n : BLOCK - used;

		if (take == BLOCK) {
			compress(hash->state, p);
		} else {
			memcpy(hash->block + used, p, take);
			used += take;
			if (used == BLOCK)
				compress(hash->state, hash->block);
		}
		used %= BLOCK;
		p += take;
		n -= take;
	}
}

void hash_finish(struct hash *hash, char hex[HASH_HEX_SIZE])
{
	static const unsigned char padding[BLOCK] = {0x80};
	uint64_t bits = hash->bytes * 8;
	size_t used = hash->bytes % BLOCK;
	unsigned char length[8];

	for (int i = 0; i < 8; i++)
		length[i] = (unsigned char)(bits >> (56 - 8 * i));
	hash_add(hash, padding, used < 56 ? 56 - used : 120 - used);
	hash_add(hash, length, sizeof(length));
	for (int i = 0; i < 8; i++)
		snprintf(hex + 8 * i, 9, "%08x", hash->state[i]);
	free(hash);
}

void hash_of(const void *data, size_t n, char hex[HASH_HEX_SIZE])
{
	struct hash *hash = hash_new();

	hash_add(hash, data, n);
	hash_finish(hash, hex);
}

bool hash_file(const char *path, char hex[HASH_HEX_SIZE], struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	AUTO_FREE char *buf = xmalloc(1 << 16);
	AUTO_FREE struct hash *hash = hash_new();
	ssize_t n;

	if (fd < 0)
		return err_sys(err, "cannot open %s", path);
	while ((n = read(fd, buf, 1 << 16)) != 0) {
		if (n > 0)
			hash_add(hash, buf, (size_t)n);
		else if (errno != EINTR)
			return err_sys(err, "cannot read %s", path);
	}
	hash_finish(TAKE(hash), hex);
	return true;
}

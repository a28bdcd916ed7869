// SPDX-License-Identifier: GPL-2.0-or-later
/* Seeded random numbers. */
#include "stats/rng.h"

#include <math.h>

static uint64_t rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

static uint64_t splitmix(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}

void rng_seed(struct rng *rng, uint64_t seed)
{
	for (size_t i = 0; i < 4; i++)
		rng->s[i] = splitmix(&seed);
}

uint64_t rng_next(struct rng *rng)
{
	uint64_t *s = rng->s;
	uint64_t result = rotl(s[1] * 5, 7) * 9;
	uint64_t t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rotl(s[3], 45);
	return result;
}

double rng_uniform(struct rng *rng)
{
	return (double)(rng_next(rng) >> 11) * 0x1p-53;
}

uint64_t rng_below(struct rng *rng, uint64_t n)
{
	uint64_t unfair = -n % n; /* 2^64 mod n */
	uint64_t x;

	do
		x = rng_next(rng);
	while (x < unfair);
	return x % n;
}

double rng_normal(struct rng *rng)
{
	double u, v, r;

	do {
		u = 2.0 * rng_uniform(rng) - 1.0;
		v = 2.0 * rng_uniform(rng) - 1.0;
		r = u * u + v * v;
	} while (r >= 1.0 || r <= 0.0);
	return u * sqrt(-2.0 * log(r) / r);
}

static void swap_bytes(unsigned char *a, unsigned char *b, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char t = a[i];

		a[i] = b[i];
		b[i] = t;
	}
}

void rng_shuffle(struct rng *rng, void *array, size_t n, size_t size)
{
	unsigned char *a = array;

	for (size_t i = n; i > 1; i--) {
		size_t j = rng_below(rng, i);

		if (j != i - 1)
			swap_bytes(a + j * size, a + (i - 1) * size, size);
	}
}

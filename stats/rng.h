/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_RNG_H
#define STATS_RNG_H

/* Random numbers that a stored seed reproduces everywhere: xoshiro256** seeded by splitmix64. */

#include <stddef.h>
#include <stdint.h>

struct rng {
	uint64_t s[4];
};

void rng_seed(struct rng *rng, uint64_t seed);
uint64_t rng_next(struct rng *rng);
/* Uniform in [0, 1), 53 bits. */
double rng_uniform(struct rng *rng);
/* Uniform in 0 .. n-1 without bias; n > 0. */
uint64_t rng_below(struct rng *rng, uint64_t n);
/* Normal with mean 0 and standard deviation 1 (Marsaglia's polar method). */
double rng_normal(struct rng *rng);
/* Permutes n elements of any size (Fisher-Yates). */
void rng_shuffle(struct rng *rng, void *array, size_t n, size_t size);

#endif

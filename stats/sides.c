// SPDX-License-Identifier: GPL-2.0-or-later
/* Hypotheses against nodes. */
#include "stats/sides.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void sides_init(struct sides *sides, size_t hypotheses, size_t nodes)
{
	sides->hypotheses = hypotheses;
	sides->nodes = nodes;
	sides->words = (nodes + 63) / 64;
	sides->bits = xcalloc(hypotheses * sides->words, sizeof(*sides->bits));
}

void sides_release(struct sides *sides)
{
	free(sides->bits);
	*sides = (struct sides){0};
}

void sides_set_after(struct sides *sides, size_t h, size_t n)
{
	sides->bits[h * sides->words + n / 64] |= (uint64_t)1 << (n % 64);
}

bool sides_after(const struct sides *sides, size_t h, size_t n)
{
	return sides->bits[h * sides->words + n / 64] >> (n % 64) & 1;
}

static void add_row(const uint64_t *row, size_t words, double mass, double *after)
{
	for (size_t w = 0; w < words; w++)
		for (uint64_t bits = row[w]; bits; bits &= bits - 1)
			after[w * 64 + (size_t)__builtin_ctzll(bits)] += mass;
}

void sides_mass(const struct sides *sides, const double *mass, double *after)
{
	memset(after, 0, sides->nodes * sizeof(*after));
	for (size_t h = 0; h < sides->hypotheses; h++)
		if (mass[h] > 0.0)
			add_row(sides->bits + h * sides->words, sides->words, mass[h], after);
}

static bool equal_under(const uint64_t *a, const uint64_t *b, const uint64_t *mask, size_t words)
{
	for (size_t w = 0; w < words; w++)
		if ((a[w] ^ b[w]) & mask[w])
			return false;
	return true;
}

size_t sides_classes(const struct sides *sides, const bool *use, size_t *class_of)
{
	AUTO_FREE uint64_t *mask = xcalloc(sides->words, sizeof(*mask));
	AUTO_FREE size_t *first = xcalloc(sides->hypotheses, sizeof(*first));
	size_t n = 0;

	for (size_t i = 0; i < sides->nodes; i++)
		if (use[i])
			mask[i / 64] |= (uint64_t)1 << (i % 64);
	for (size_t h = 0; h < sides->hypotheses; h++) {
		const uint64_t *row = sides->bits + h * sides->words;
		size_t c = 0;

		while (c < n &&
		       !equal_under(row, sides->bits + first[c] * sides->words, mask, sides->words))
			c++;
		if (c == n)
			first[n++] = h;
		class_of[h] = c;
	}
	return n;
}

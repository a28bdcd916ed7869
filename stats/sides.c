// SPDX-License-Identifier: GPL-2.0-or-later
/* Hypotheses against nodes. */
#include "stats/sides.h"

#include <stdlib.h>

#include "base/mem.h"

void sides_init(struct sides *sides, size_t hypotheses, size_t nodes)
{
	*sides = (struct sides){.hypotheses = hypotheses, .nodes = nodes};
	sides->words = (nodes + 63) / 64;
	sides->bits = xcalloc(hypotheses * sides->words, sizeof(*sides->bits));
}

void sides_release(struct sides *sides)
{
	free(sides->bits);
	free(sides->runs);
	free(sides->first_run);
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

void sides_index(struct sides *sides)
{
	size_t n = 0, cap = 0;

	free(sides->runs);
	free(sides->first_run);
	sides->runs = NULL;
	sides->first_run = xcalloc(sides->nodes + 1, sizeof(*sides->first_run));
	for (size_t k = 0; k < sides->nodes; k++) {
		bool was = false;

		sides->first_run[k] = n;
		for (size_t h = 0; h < sides->hypotheses; h++) {
			bool is = sides_after(sides, h, k);

			if (is && !was)
				*array_push(sides->runs, n, cap) = (struct sides_run){h, h};
			if (is)
				sides->runs[n - 1].to = h + 1;
			was = is;
		}
	}
	sides->first_run[sides->nodes] = n;
}

void sides_mass(const struct sides *sides, const double *mass, double *after)
{
	AUTO_FREE double *sum = xmalloc((sides->hypotheses + 1) * sizeof(*sum));
	const struct sides_run *run = sides->runs;

	sum[0] = 0.0;
	for (size_t h = 0; h < sides->hypotheses; h++)
		sum[h + 1] = sum[h] + mass[h];
	for (size_t n = 0; n < sides->nodes; n++) {
		const struct sides_run *end = sides->runs + sides->first_run[n + 1];
		double total = 0.0;

		for (; run < end; run++)
			total += sum[run->to] - sum[run->from];
		after[n] = total;
	}
}

size_t sides_refine(const struct sides *sides, size_t n, size_t *class_of, size_t classes)
{
	AUTO_FREE size_t *number = xcalloc(2 * classes, sizeof(*number));
	size_t next = 0;

	for (size_t h = 0; h < sides->hypotheses; h++) {
		size_t *known = &number[2 * class_of[h] + sides_after(sides, h, n)];

		if (!*known)
			*known = ++next;
		class_of[h] = *known - 1;
	}
	return next;
}

size_t sides_classes(const struct sides *sides, const bool *use, size_t *class_of)
{
	size_t classes = 1;

	for (size_t h = 0; h < sides->hypotheses; h++)
		class_of[h] = 0;
	for (size_t n = 0; n < sides->nodes; n++)
		if (use[n])
			classes = sides_refine(sides, n, class_of, classes);
	return classes;
}

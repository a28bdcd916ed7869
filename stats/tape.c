// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded noise. */
#include "stats/tape.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

struct boot {
	int64_t image;
	size_t at;
	double y, off; /* off: less the image's mean, stretched; NAN: alone */
};

static int by_image(const void *a, const void *b)
{
	const struct boot *x = a, *y = b;

	return (x->image > y->image) - (x->image < y->image);
}

static int by_place(const void *a, const void *b)
{
	const struct boot *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/* Boots of one image; their sum of squares about their mean. */
static double centre(struct boot *boots, size_t k)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < k; i++)
		mean += boots[i].y / (double)k;
	for (size_t i = 0; i < k; i++) {
		double off = boots[i].y - mean;

		sum += off * off;
		boots[i].off = k > 1 ? off * sqrt((double)k / ((double)k - 1)) : NAN;
	}
	return sum;
}

void tape_record(struct tape *tape, const int64_t *image, const double *y, size_t n)
{
	AUTO_FREE struct boot *boots = xcalloc(n + 1, sizeof(*boots));
	double sum = 0;

	*tape = (struct tape){.z = xcalloc(n + 1, sizeof(*tape->z))};
	for (size_t i = 0; i < n; i++)
		boots[i] = (struct boot){.image = image[i], .at = i, .y = y[i]};
	qsort(boots, n, sizeof(*boots), by_image);
	for (size_t i = 0, k; i < n; i += k) {
		for (k = 1; i + k < n && boots[i + k].image == boots[i].image; k++)
			continue;
		sum += centre(boots + i, k);
		tape->df += (double)k - 1;
		tape->images += k > 1;
	}
	if (!(sum > 0)) {
		tape->df = 0;
		return;
	}
	tape->sd = sqrt(sum / tape->df);
	qsort(boots, n, sizeof(*boots), by_place);
	for (size_t i = 0; i < n; i++)
		if (!isnan(boots[i].off))
			tape->z[tape->n++] = boots[i].off / tape->sd;
}

void tape_release(struct tape *tape)
{
	free(tape->z);
	*tape = (struct tape){0};
}

struct tape_head tape_start(const struct tape *tape, struct rng *rng)
{
	return (struct tape_head){.tape = tape, .at = rng_below(rng, tape->n)};
}

double tape_next(struct tape_head *head)
{
	double z = head->tape->z[head->at];

	head->at = (head->at + 1) % head->tape->n;
	return z;
}

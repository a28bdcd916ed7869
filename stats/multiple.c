// SPDX-License-Identifier: GPL-2.0-or-later
/* Many tests at once. */
#include "stats/multiple.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

static int by_value(const void *a, const void *b)
{
	const double *x = *(double *const *)a, *y = *(double *const *)b;

	return (*x > *y) - (*x < *y);
}

void multiple_holm(double *p, size_t n)
{
	AUTO_FREE double **order = xcalloc(n, sizeof(*order));
	double least = 0;

	for (size_t i = 0; i < n; i++)
		order[i] = &p[i];
	qsort(order, n, sizeof(*order), by_value);
	for (size_t i = 0; i < n; i++) {
		least = fmin(1, fmax(least, (double)(n - i) * *order[i]));
		*order[i] = least;
	}
}

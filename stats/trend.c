// SPDX-License-Identifier: GPL-2.0-or-later
/* Trends. */
#include "stats/trend.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/estimate.h"

void trend_find(const double *y, size_t n, struct trend *out)
{
	AUTO_FREE double *slope = xcalloc(n * n / 2 + 1, sizeof(*slope));
	double s = 0.0, count = (double)n, var = count * (count - 1.0) * (2.0 * count + 5.0) / 18.0;
	size_t pairs = 0;

	*out = (struct trend){.n = n};
	if (n < 3)
		return;
	for (size_t i = 0; i < n; i++)
		for (size_t j = i + 1; j < n; j++) {
			s += (y[j] > y[i]) - (y[j] < y[i]);
			slope[pairs++] = (y[j] - y[i]) / (double)(j - i);
		}
	out->z = copysign(fmax(fabs(s) - 1.0, 0.0), s) / sqrt(var);
	out->move = estimate_median(slope, pairs) * (count - 1.0);
}

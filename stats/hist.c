// SPDX-License-Identifier: GPL-2.0-or-later
/* log2 histograms. */
#include "stats/hist.h"

#include <math.h>

void hist_add(int64_t *into, const int64_t *from, size_t n)
{
	for (size_t i = 0; i < n; i++)
		into[i] += from[i];
}

int64_t hist_count(const int64_t *buckets, size_t n)
{
	int64_t count = 0;

	for (size_t i = 0; i < n; i++)
		count += buckets[i];
	return count;
}

double hist_quantile(const int64_t *buckets, size_t n, double q)
{
	double rest = q * (double)hist_count(buckets, n);
	double last = NAN;

	for (size_t i = 0; i < n; i++) {
		double in_bucket = (double)buckets[i];

		if (buckets[i] <= 0)
			continue;
		if (rest <= in_bucket)
			return exp2((double)i + rest / in_bucket);
		rest -= in_bucket;
		last = exp2((double)i + 1.0);
	}
	return last;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Evidence. */
#include "stats/evalue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/*
 * Shifts of 0.4 to 6 deviations of one boot are within a factor sqrt(2) of a rate; a large shift
 * has few pairs to pay for the mixture with, so that its rates weigh more.
 */
static const struct rate {
	double k, weight;
} rates[] = {{0.5, 0.25}, {1.0, 0.15}, {2.0, 0.20}, {4.0, 0.40}};

/* The first n of `sorted` are ascending; takes one more and answers their median. */
static double median_with(double *sorted, size_t n, double x)
{
	size_t at = n;

	for (; at && sorted[at - 1] > x; at--)
		sorted[at] = sorted[at - 1];
	sorted[at] = x;
	n++;
	return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

/* log(1 + tanh(x)) */
static double log_factor(double x)
{
	return M_LN2 - log1p(exp(-2.0 * x));
}

static double mix(const double *log_e)
{
	double sum = 0.0;

	for (size_t r = 0; r < ARRAY_SIZE(rates); r++)
		sum += rates[r].weight * exp(log_e[r]);
	return log(sum);
}

double evalue_pairs(const double *diffs, size_t n, double *best)
{
	AUTO_FREE double *sizes = xcalloc(n, sizeof(*sizes));
	double log_e[ARRAY_SIZE(rates)] = {0}, now = 0.0, most = 0.0;

	for (size_t i = 0; i < n; i++) {
		double middle = median_with(sizes, i, fabs(diffs[i]));

		for (size_t r = 0; middle > 0.0 && r < ARRAY_SIZE(rates); r++)
			log_e[r] += log_factor(rates[r].k * diffs[i] / middle);
		now = mix(log_e);
		most = fmax(most, now);
	}
	if (best)
		*best = most;
	return now;
}

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

size_t evalue_bh(const double *log_e, size_t n, double alpha, double *log_least)
{
	AUTO_FREE double *sorted = xcalloc(n, sizeof(*sorted));
	size_t k = n;

	if (n)
		memcpy(sorted, log_e, n * sizeof(*sorted));
	qsort(sorted, n, sizeof(*sorted), descending);
	while (k && sorted[k - 1] < log((double)n / (alpha * (double)k)))
		k--;
	*log_least = k ? sorted[k - 1] : INFINITY;
	return k;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Evidence. */
#include "stats/evalue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/estimate.h"

#define BLOCK_MAX (2 * EVALUE_SIDE_MAX)

/* A number further than this from the median counts as this far: in deviations, by the median
 * deviation. One outlier in a block of eight would else hide a shift of two deviations. */
#define CLIP	  2.5
#define MAD_TO_SD 1.4826 /* of a normal distribution */

/* Of the budget that is left. With alpha = 0.001 and a budget of one a week, alpha is what clusters get until 950 of them
 * were looked at within a week. The least cannot be reached by a confirmation: over budget nothing is confirmed. */
#define SPEND_SHARE 0.02
#define SPEND_LEAST 1e-12

/*
 * Shifts of 0.4 to 6 deviations of one boot are within a factor sqrt(2) of a rate; a large shift
 * has few blocks to pay for the mixture with, so that its rates weigh more.
 */
static const struct rate {
	double k, weight;
} rates[EVALUE_RATES] = {{0.5, 0.25}, {1.0, 0.15}, {2.0, 0.20}, {4.0, 0.40}};

static double median_deviation(const double *z, size_t n, double median)
{
	double away[BLOCK_MAX];

	for (size_t i = 0; i < n; i++)
		away[i] = fabs(z[i] - median);
	return estimate_median(away, n);
}

static void clip(double *z, size_t n)
{
	double median = estimate_median(z, n);
	double most = CLIP * MAD_TO_SD * median_deviation(z, n, median);

	for (size_t i = 0; most > 0.0 && i < n; i++)
		z[i] = fmin(fmax(z[i], median - most), median + most);
}

/* The numbers of both sides, after first, about 0 with deviation 1; false when all are equal. */
static bool standardised(const struct evalue_block *block, double *z)
{
	size_t n = block->n0 + block->n1;
	double mean, sd;

	memcpy(z, block->after, block->n1 * sizeof(*z));
	memcpy(z + block->n1, block->before, block->n0 * sizeof(*z));
	clip(z, n);
	mean = estimate_mean(z, n);
	sd = estimate_sd(z, n);
	for (size_t i = 0; sd > 0.0 && i < n; i++)
		z[i] = (z[i] - mean) / sd;
	return sd > 0.0;
}

/* The next larger number with as many bits (Gosper's way). */
static unsigned int next_arrangement(unsigned int bits)
{
	unsigned int low = bits & -bits, carried = bits + low;

	return carried | (((bits ^ carried) >> 2) / low);
}

static double sum_of(const double *z, unsigned int bits)
{
	double sum = 0.0;

	for (; bits; bits &= bits - 1)
		sum += z[__builtin_ctz(bits)];
	return sum;
}

/* log of the mean over all arrangements of exp(k (T - observed T)), for each rate; the first one was
 * observed. */
static void log_means(const double *z, size_t n, size_t n1, double *out)
{
	unsigned int first = (1u << n1) - 1;
	double sums[EVALUE_RATES] = {0}, observed = sum_of(z, first);
	double count = 0.0;

	for (unsigned int bits = first; bits < 1u << n; bits = next_arrangement(bits)) {
		double t = sum_of(z, bits) - observed;

		for (size_t r = 0; r < EVALUE_RATES; r++)
			sums[r] += exp(rates[r].k * t);
		count++;
	}
	for (size_t r = 0; r < EVALUE_RATES; r++)
		out[r] = log(sums[r] / count);
}

static double mix(const double *log_e)
{
	double sum = 0.0;

	for (size_t r = 0; r < EVALUE_RATES; r++)
		sum += rates[r].weight * exp(log_e[r]);
	return log(sum);
}

void evalue_add(struct evalue *e, const struct evalue_block *block)
{
	double z[BLOCK_MAX], means[EVALUE_RATES];

	if (!block->n0 || !block->n1 || !standardised(block, z))
		return;
	log_means(z, block->n0 + block->n1, block->n1, means);
	for (size_t r = 0; r < EVALUE_RATES; r++)
		e->log_e[r] -= means[r];
	e->now = mix(e->log_e);
	e->best = fmax(e->best, e->now);
}

double evalue_most(size_t each)
{
	return lgamma(2.0 * (double)each + 1.0) - 2.0 * lgamma((double)each + 1.0);
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

double evalue_bh_bar(const double *log_e, size_t n, double alpha)
{
	AUTO_FREE double *all = xcalloc(n + 1, sizeof(*all));
	double least;
	size_t k;

	if (n)
		memcpy(all, log_e, n * sizeof(*all));
	all[n] = INFINITY;
	k = evalue_bh(all, n + 1, alpha, &least);
	return log((double)(n + 1) / (alpha * (double)k));
}

double evalue_spend(double alpha, double budget, double spent)
{
	return fmin(alpha, fmax(SPEND_LEAST, SPEND_SHARE * (budget - spent)));
}

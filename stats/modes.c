// SPDX-License-Identifier: GPL-2.0-or-later
/* Two heaps or one. */
#include "stats/modes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/estimate.h"

#define STRONG	    6.0
#define APART_LEAST 2.0
#define SHARE_LEAST 0.1
#define RUNS_LEAST  0.5
#define ROUNDS	    200

struct mixture {
	double mean[2], sd, upper; /* mean[0] < mean[1] */
	double log_likelihood;
};

static double normal(double y, double mean, double sd)
{
	double z = (y - mean) / sd;

	return exp(-0.5 * z * z) / (sd * sqrt(2.0 * M_PI));
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Where to begin: the cut of the sorted numbers that leaves the least squares. */
static void best_cut(const double *y, size_t n, struct mixture *m)
{
	AUTO_FREE double *sorted = xcalloc(n, sizeof(*sorted));
	double total = 0.0, sum = 0.0, best = -INFINITY;

	memcpy(sorted, y, n * sizeof(*y));
	qsort(sorted, n, sizeof(*sorted), ascending);
	for (size_t i = 0; i < n; i++)
		total += sorted[i];
	for (size_t k = 1; k < n; k++) {
		double rest = (double)(n - k), between;

		sum += sorted[k - 1];
		between = sum * sum / (double)k + (total - sum) * (total - sum) / rest;
		if (between <= best)
			continue;
		best = between;
		m->mean[0] = sum / (double)k;
		m->mean[1] = (total - sum) / rest;
		m->upper = rest / (double)n;
	}
	m->sd = sqrt(fmax(estimate_sse(y, n) - best + total * total / (double)n, 0.0) / (double)n);
}

/* One round; answers the log likelihood of the mixture as it was. */
static double improve(const double *y, size_t n, struct mixture *m)
{
	double w[2] = {0}, sum[2] = {0}, squares = 0.0, log_likelihood = 0.0;

	for (size_t i = 0; i < n; i++) {
		double p0 = (1.0 - m->upper) * normal(y[i], m->mean[0], m->sd);
		double p1 = m->upper * normal(y[i], m->mean[1], m->sd), r;

		log_likelihood += log(p0 + p1 + 1e-300);
		r = p1 / (p0 + p1 + 1e-300);
		w[0] += 1.0 - r;
		w[1] += r;
		sum[0] += (1.0 - r) * y[i];
		sum[1] += r * y[i];
		squares += y[i] * y[i];
	}
	for (int k = 0; k < 2; k++)
		if (w[k] > 0.0)
			m->mean[k] = sum[k] / w[k];
	squares -= w[0] * m->mean[0] * m->mean[0] + w[1] * m->mean[1] * m->mean[1];
	m->sd = sqrt(fmax(squares / (double)n, 1e-300));
	m->upper = w[1] / (double)n;
	return log_likelihood;
}

static void fit(const double *y, size_t n, struct mixture *m)
{
	double last = -INFINITY;

	best_cut(y, n, m);
	for (int i = 0; i < ROUNDS && m->sd > 0.0; i++) {
		m->log_likelihood = improve(y, n, m);
		if (m->log_likelihood - last < 1e-6)
			break;
		last = m->log_likelihood;
	}
}

static double normal_likelihood(const double *y, size_t n)
{
	double var = estimate_sse(y, n) / (double)n;

	return -0.5 * (double)n * (log(2.0 * M_PI * var) + 1.0);
}

/* w = exp(s^2) of a log-normal with this skewness > 0: (w + 2) sqrt(w - 1). */
static double spread_of_skew(double skew)
{
	double lo = 1.0, hi = 2.0 + skew * skew;

	for (int i = 0; i < 60; i++) {
		double w = 0.5 * (lo + hi);

		*((w + 2.0) * sqrt(w - 1.0) < skew ? &lo : &hi) = w;
	}
	return 0.5 * (lo + hi);
}

/* -inf when a number lies outside of it. */
static double skewed_likelihood(const double *y, size_t n)
{
	double mean = estimate_mean(y, n), var = estimate_sse(y, n) / (double)n, cubes = 0.0;
	double sign, w, s, scale, shift, sum = 0.0;

	for (size_t i = 0; i < n; i++)
		cubes += pow((y[i] - mean) / sqrt(var), 3.0);
	sign = cubes < 0.0 ? -1.0 : 1.0;
	w = spread_of_skew(fmax(fabs(cubes) / (double)n, 1e-3));
	s = sqrt(log(w));
	scale = sqrt(var / (w * (w - 1.0))); /* exp(mu) */
	shift = sign * mean - scale * sqrt(w);
	for (size_t i = 0; i < n; i++) {
		double x = sign * y[i] - shift;

		if (!(x > 0.0))
			return -INFINITY;
		sum += log(normal(log(x), log(scale), s)) - log(x);
	}
	return sum;
}

/* Changes between the modes over those that chance would make. */
static double changes(const double *y, size_t n, const struct mixture *m)
{
	double cut = 0.5 * (m->mean[0] + m->mean[1]) +
		     m->sd * m->sd / (m->mean[1] - m->mean[0]) * log((1.0 - m->upper) / m->upper);
	double share = 0.0, seen = 0.0;

	for (size_t i = 0; i < n; i++) {
		share += (y[i] > cut) / (double)n;
		seen += i && (y[i] > cut) != (y[i - 1] > cut);
	}
	return seen / (2.0 * (double)n * share * (1.0 - share));
}

void modes_find(const double *y, size_t n, struct modes *out)
{
	struct mixture m = {.upper = 0.5};
	double one, penalty = log((double)n);

	*out = (struct modes){0};
	if (n < MODES_LEAST || !(estimate_sse(y, n) > 0.0))
		return;
	fit(y, n, &m);
	if (!(m.sd > 0.0) || fmin(m.upper, 1.0 - m.upper) < SHARE_LEAST)
		return;
	out->apart = m.mean[1] - m.mean[0];
	out->upper = m.upper;
	out->sd = m.sd;
	/* twice the gain, less one parameter of the four beside three, two beside two */
	one = fmax(normal_likelihood(y, n) + 0.5 * penalty, skewed_likelihood(y, n));
	out->two = out->apart > APART_LEAST * m.sd &&
		   2.0 * (m.log_likelihood - one) - penalty >= STRONG &&
		   changes(y, n, &m) >= RUNS_LEAST;
}

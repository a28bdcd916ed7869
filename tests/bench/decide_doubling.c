// SPDX-License-Identifier: GPL-2.0-or-later
/* Doubling boots until a rank test decides. */
#include "tests/bench/decide_doubling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/estimate.h"

/* The comparison of a service that doubles: neighbours get 10, 20 .. 160 boots until Mann-Whitney's
 * test calls them different (p <= 0.05) or alike (p above what a true difference gives in 99 % of
 * cases); every pair that differs is divided. */
enum {
	DOUBLINGS = 5,
	LARGEST = 160,
};

struct doubling {
	double d, limit[DOUBLINGS];
	double (*boots)[LARGEST]; /* per node */
	size_t *n;
	size_t culprit, total;
	struct rng *rng;
};

static double mann_whitney(const double *a, const double *b, size_t n)
{
	double u = 0.0, size = (double)n;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			u += a[i] > b[k];
	return fmin(1.0, 2.0 * estimate_t_upper(
				       fmax((fabs(u - size * size / 2.0) - 0.5) /
						    sqrt(size * size * (2.0 * size + 1.0) / 12.0),
					    0.0),
				       INFINITY));
}

static void more_boots(struct doubling *w, size_t node, size_t wanted)
{
	for (; w->n[node] < wanted; w->total++)
		w->boots[node][w->n[node]++] =
			rng_normal(w->rng) + (node >= w->culprit ? w->d : 0.0);
}

static bool differ(struct doubling *w, size_t lo, size_t hi)
{
	for (size_t i = 0;; i++) {
		double p;

		more_boots(w, lo, (size_t)10 << i);
		more_boots(w, hi, (size_t)10 << i);
		p = mann_whitney(w->boots[lo], w->boots[hi], (size_t)10 << i);
		if (p <= 0.05)
			return true;
		if (p > w->limit[i] || i + 1 == DOUBLINGS)
			return false;
	}
}

static void divide(struct doubling *w, size_t lo, size_t hi)
{
	size_t mid = (lo + hi) / 2;

	if (!differ(w, lo, hi) || hi - lo == 1)
		return;
	more_boots(w, mid, 10);
	divide(w, lo, mid);
	divide(w, mid, hi);
}

static int by_value(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void find_limits(struct doubling *w)
{
	enum {
		TRIES = 500
	};
	double p[TRIES];

	w->culprit = 1;
	for (size_t i = 0; i < DOUBLINGS; i++) {
		for (size_t t = 0; t < TRIES; t++) {
			w->n[0] = w->n[1] = 0;
			more_boots(w, 0, (size_t)10 << i);
			more_boots(w, 1, (size_t)10 << i);
			p[t] = mann_whitney(w->boots[0], w->boots[1], (size_t)10 << i);
		}
		qsort(p, TRIES, sizeof(*p), by_value);
		w->limit[i] = p[TRIES * 99 / 100];
	}
}

double doubling_boots(size_t n, double d, size_t trials, struct rng *rng)
{
	struct doubling w = {.d = d, .rng = rng};
	AUTO_FREE size_t *count = xcalloc(n + 1, sizeof(*count));
	AUTO_FREE double(*boots)[LARGEST] = xcalloc(n + 1, sizeof(*boots));
	double total = 0.0;

	w.boots = boots;
	w.n = count;
	find_limits(&w);
	for (size_t t = 0; t < trials; t++) {
		memset(count, 0, (n + 1) * sizeof(*count));
		w.culprit = 1 + rng_below(rng, n);
		w.total = 0;
		divide(&w, 0, n);
		total += (double)w.total / (double)trials;
	}
	return total;
}

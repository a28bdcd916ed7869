// SPDX-License-Identifier: GPL-2.0-or-later
/* Shares and tails. */
#include "stats/proportion.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "stats/hist.h"

struct share proportion_share(const struct counted *boots, size_t n)
{
	struct share s = {.effect = 1.0};
	double hits = 0.0, squares = 0.0;

	for (size_t i = 0; i < n; i++) {
		hits += (double)boots[i].hits;
		s.n += (double)boots[i].of;
		s.boots += boots[i].of > 0;
	}
	s.p = hits / s.n;
	for (size_t i = 0; i < n; i++) {
		double off = (double)boots[i].hits - s.p * (double)boots[i].of;

		squares += off * off;
	}
	if (s.boots >= 2 && s.p > 0.0 && s.p < 1.0) {
		double k = (double)s.boots;

		s.effect = fmax(1.0, k / (k - 1.0) * squares / s.n / (s.p * (1.0 - s.p)));
	}
	s.n /= s.effect;
	return s;
}

void proportion_wilson(const struct share *s, double z, double *lo, double *hi)
{
	double zz = z * z, middle = s->p + zz / (2.0 * s->n);
	double half = z * sqrt(s->p * (1.0 - s->p) / s->n + zz / (4.0 * s->n * s->n));

	*lo = (middle - half) / (1.0 + zz / s->n);
	*hi = (middle + half) / (1.0 + zz / s->n);
}

/* A logarithm with its limits. */
struct limits {
	double at, lo, hi;
};

/* Degrees of freedom of both sides together; 0: too few boots. */
static double freedom(size_t k0, size_t k1)
{
	return k0 >= 2 && k1 >= 2 ? (double)(k0 + k1 - 2) : 0.0;
}

static struct interval join(const struct limits *b, const struct limits *a, double df, double t)
{
	struct interval iv = {.diff = a->at - b->at, .df = df};

	iv.lo = iv.diff - hypot(a->at - a->lo, b->hi - b->at);
	iv.hi = iv.diff + hypot(a->hi - a->at, b->at - b->lo);
	iv.se = (iv.diff > 0.0 ? iv.diff - iv.lo : iv.hi - iv.diff) / t;
	iv.p = iv.se > 0.0 ? 2.0 * estimate_t_upper(fabs(iv.diff) / iv.se, df) : iv.diff == 0.0;
	return iv;
}

static struct interval unknown(double diff)
{
	return (struct interval){
		.diff = diff, .lo = -INFINITY, .hi = INFINITY, .se = INFINITY, .p = 1.0};
}

static struct limits share_limits(const struct share *s, double t, double floor)
{
	double lo, hi;

	proportion_wilson(s, t, &lo, &hi);
	return (struct limits){log(s->p + floor), log(fmax(lo, 0.0) + floor), log(hi + floor)};
}

struct interval proportion_compare(const struct counted *before, size_t n0,
				   const struct counted *after, size_t n1, double floor,
				   double level)
{
	struct share b = proportion_share(before, n0), a = proportion_share(after, n1);
	double df = freedom(b.boots, a.boots), t;
	struct limits lb, la;

	if (!(df > 0.0))
		return unknown(log((a.p + floor) / (b.p + floor)));
	t = estimate_t_quantile(0.5 + level / 2.0, df);
	lb = share_limits(&b, t, floor);
	la = share_limits(&a, t, floor);
	return join(&lb, &la, df, t);
}

/* Events below `limit`, a value of hist_quantile(): its bucket's part counts as the logs do. */
static int64_t below(const int64_t *buckets, size_t n, double limit)
{
	double place = log2(limit), count = 0.0;

	for (size_t i = 0; i < n; i++)
		count += (double)buckets[i] * fmin(1.0, fmax(0.0, place - (double)i));
	return (int64_t)llround(count);
}

/* What the histograms of one side hold together. */
struct pooled {
	int64_t *all;
	struct counted *boots; /* below the quantile */
	double at;
	struct share share;
};

static void pooled_release(struct pooled *p)
{
	free(p->all);
	free(p->boots);
}

static void pool(const struct tails *t, double q, struct pooled *p)
{
	p->all = xcalloc(t->buckets, sizeof(*p->all));
	p->boots = xcalloc(t->n, sizeof(*p->boots));
	for (size_t i = 0; i < t->n; i++)
		hist_add(p->all, t->boots[i], t->buckets);
	p->at = hist_quantile(p->all, t->buckets, q);
	for (size_t i = 0; i < t->n; i++)
		p->boots[i] = (struct counted){below(t->boots[i], t->buckets, p->at),
					       hist_count(t->boots[i], t->buckets)};
	p->share = proportion_share(p->boots, t->n);
	p->share.p = q;
}

static struct limits tail_limits(const struct pooled *p, size_t buckets, double t)
{
	double lo, hi;

	proportion_wilson(&p->share, t, &lo, &hi);
	return (struct limits){log(p->at), log(hist_quantile(p->all, buckets, lo)),
			       log(hist_quantile(p->all, buckets, hi))};
}

struct interval proportion_tail(const struct tails *before, const struct tails *after, double q,
				double level)
{
	CLEANUP(pooled_release) struct pooled b = {0}, a = {0};
	struct limits lb, la;
	double df, t;

	pool(before, q, &b);
	pool(after, q, &a);
	df = freedom(b.share.boots, a.share.boots);
	if (!(df > 0.0))
		return unknown(log(a.at / b.at));
	t = estimate_t_quantile(0.5 + level / 2.0, df);
	lb = tail_limits(&b, before->buckets, t);
	la = tail_limits(&a, after->buckets, t);
	return join(&lb, &la, df, t);
}

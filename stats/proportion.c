// SPDX-License-Identifier: GPL-2.0-or-later
/* Shares and tails. */
#include "stats/proportion.h"

#include <math.h>

#include "base/mem.h"
#include "stats/hist.h"

struct share proportion_share(const struct counted *boots, size_t n)
{
	struct share s = {.effect = 1.0};
	double hits = 0.0, squares = 0.0;
	size_t counted = 0;

	for (size_t i = 0; i < n; i++) {
		hits += (double)boots[i].hits;
		s.n += (double)boots[i].of;
		counted += boots[i].of > 0;
	}
	s.p = hits / s.n;
	for (size_t i = 0; i < n; i++) {
		double off = (double)boots[i].hits - s.p * (double)boots[i].of;

		squares += off * off;
	}
	if (counted >= 2 && s.p > 0.0 && s.p < 1.0) {
		double k = (double)counted;

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

struct interval proportion_compare(const struct counted *before, size_t n0,
				   const struct counted *after, size_t n1, double level)
{
	struct share b = proportion_share(before, n0), a = proportion_share(after, n1);
	double z = estimate_normal_quantile(0.5 + level / 2.0), b_lo, b_hi, a_lo, a_hi;
	double p = (b.p * b.n + a.p * a.n) / (b.n + a.n);
	struct interval iv = {.diff = a.p - b.p, .df = INFINITY, .p = 1.0};

	proportion_wilson(&b, z, &b_lo, &b_hi);
	proportion_wilson(&a, z, &a_lo, &a_hi);
	iv.lo = iv.diff - hypot(a.p - a_lo, b_hi - b.p);
	iv.hi = iv.diff + hypot(a_hi - a.p, b.p - b_lo);
	iv.se = sqrt(p * (1.0 - p) * (1.0 / b.n + 1.0 / a.n));
	if (iv.se > 0.0)
		iv.p = erfc(fabs(iv.diff) / iv.se / sqrt(2.0));
	return iv;
}

/* Log of a quantile with its limits. */
struct quantile {
	double at, lo, hi;
};

/* Events below `limit`, a value of hist_quantile(): its bucket's part counts as the logs do. */
static int64_t below(const int64_t *buckets, size_t n, double limit)
{
	double place = log2(limit), count = 0.0;

	for (size_t i = 0; i < n; i++)
		count += (double)buckets[i] * fmin(1.0, fmax(0.0, place - (double)i));
	return (int64_t)llround(count);
}

static struct quantile quantile_of(const struct tails *t, double q, double z)
{
	AUTO_FREE int64_t *all = xcalloc(t->buckets, sizeof(*all));
	AUTO_FREE struct counted *boots = xcalloc(t->n, sizeof(*boots));
	struct share share;
	double at, lo, hi;

	for (size_t i = 0; i < t->n; i++)
		hist_add(all, t->boots[i], t->buckets);
	at = hist_quantile(all, t->buckets, q);
	for (size_t i = 0; i < t->n; i++)
		boots[i] = (struct counted){below(t->boots[i], t->buckets, at),
					    hist_count(t->boots[i], t->buckets)};
	share = proportion_share(boots, t->n);
	share.p = q;
	proportion_wilson(&share, z, &lo, &hi);
	return (struct quantile){log(at), log(hist_quantile(all, t->buckets, lo)),
				 log(hist_quantile(all, t->buckets, hi))};
}

struct interval proportion_tail(const struct tails *before, const struct tails *after, double q,
				double level)
{
	double z = estimate_normal_quantile(0.5 + level / 2.0), half;
	struct quantile b = quantile_of(before, q, z), a = quantile_of(after, q, z);
	struct interval iv = {.diff = a.at - b.at, .df = INFINITY};

	iv.lo = iv.diff - hypot(a.at - a.lo, b.hi - b.at);
	iv.hi = iv.diff + hypot(a.hi - a.at, b.at - b.lo);
	half = iv.diff > 0.0 ? iv.diff - iv.lo : iv.hi - iv.diff;
	iv.se = half / z;
	iv.p = iv.se > 0.0 ? erfc(fabs(iv.diff) / iv.se / sqrt(2.0)) : iv.diff == 0.0;
	return iv;
}

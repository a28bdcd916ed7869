// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspicion and confirmation. */
#include "stats/detect.h"

#include <math.h>

#include "base/mem.h"
#include "stats/evalue.h"

/* Of a shift of one deviation this gives up 3 in 100 that 60 pairs would have confirmed. */
#define HOPELESS 0.02

struct detection detect_shift(const double *before, size_t n0, const double *after, size_t n1,
			      const struct sd_prior *prior)
{
	struct interval iv = estimate_pooled(before, n0, after, n1, prior, 0.95);
	struct detection d = {.effect = iv.diff};

	if (!(iv.df > 0.0))
		return d;
	d.sd = iv.se / sqrt(1.0 / (double)n0 + 1.0 / (double)n1);
	if (iv.se > 0.0)
		d.z = estimate_t_to_z(iv.diff / iv.se, iv.df);
	else if (iv.diff != 0.0)
		d.z = copysign(37.0, iv.diff);
	return d;
}

/* Mean difference of the pairs, with a noise level that a prior of one boot (two make a pair) joins. */
static struct interval paired(const double *diffs, size_t n, const struct sd_prior *prior)
{
	struct interval iv = {.diff = estimate_mean(diffs, n), .df = (double)n - 1.0};
	double sse = estimate_sse(diffs, n), half;

	if (prior && prior->df > 0.0) {
		sse += 2.0 * prior->sd * prior->sd * prior->df;
		iv.df += prior->df;
	}
	iv.se = sqrt(sse / iv.df / (double)n);
	half = iv.se > 0.0 ? iv.se * estimate_t_quantile(0.975, iv.df) : 0.0;
	iv.lo = iv.diff - half;
	iv.hi = iv.diff + half;
	return iv;
}

/* One-sided upper limit at 99 %: a shift above it is not believed in. */
static double upper_limit(const struct interval *iv)
{
	return iv->diff + (iv->se > 0.0 ? iv->se * estimate_t_quantile(0.99, iv->df) : 0.0);
}

/* What the mixture over rates and giving up cost, in nats of the evidence of the best rate: with it a
 * shift said to be found by 90 of 100 is (tests/unit/test_stats_estimate.c). */
#define MIXTURE_COST 1.2

/*
 * The chance that the last pair confirms. B(t) = z sqrt(t) is a Brownian motion in the share t of
 * the pairs; its drift is taken as (z + 1) / sqrt(t). Evidence of a small shift is z^2 / 2.
 */
static double hope(const struct interval *iv, size_t n, const struct confirm_rule *rule)
{
	double t = (double)n / (double)rule->pairs, z, needed, left;

	if (!(iv->se > 0.0))
		return iv->diff > 0.0;
	z = estimate_t_to_z(iv->diff / iv->se, iv->df);
	needed = sqrt(2.0 * (MIXTURE_COST - log(rule->alpha)));
	left = needed - z * sqrt(t) - (z + 1.0) / sqrt(t) * (1.0 - t);
	return 0.5 * erfc(left / sqrt(1.0 - t) / sqrt(2.0));
}

static enum confirm_verdict verdict(const struct confirmation *c, const struct interval *iv,
				    size_t n, double log_e, const struct confirm_rule *rule)
{
	double most = log_e + (double)(rule->pairs - n) * M_LN2;

	if (c->p <= c->p_needed && c->effect >= rule->min_effect)
		return CONFIRM_CONFIRMED;
	if (upper_limit(iv) < rule->min_effect)
		return CONFIRM_REFUTED;
	/* reached, and only the mean is too small yet */
	if (c->p <= c->p_needed)
		return CONFIRM_MORE;
	return most < -log(rule->alpha) || hope(iv, n, rule) < HOPELESS ? CONFIRM_REFUTED
									: CONFIRM_MORE;
}

struct confirmation confirm_pairs(const double *before, const double *after, size_t n,
				  const struct sd_prior *prior, const struct confirm_rule *rule)
{
	AUTO_FREE double *diffs = xcalloc(n, sizeof(*diffs));
	struct confirmation c = {.verdict = CONFIRM_MORE,
				 .p_needed = rule->alpha,
				 .lo = -INFINITY,
				 .hi = INFINITY,
				 .mde = INFINITY,
				 .p = 1.0};
	struct interval iv;
	double now, best;

	for (size_t i = 0; i < n; i++)
		diffs[i] = after[i] - before[i];
	if (n >= 2) {
		iv = paired(diffs, n, prior);
		now = evalue_pairs(diffs, n, &best);
		c.effect = iv.diff;
		c.lo = iv.lo;
		c.hi = iv.hi;
		c.p = exp(-best);
		c.verdict = n < rule->pairs || (c.p <= c.p_needed && c.effect >= rule->min_effect)
				    ? verdict(&c, &iv, n, now, rule)
				    : CONFIRM_REFUTED;
		if (c.verdict != CONFIRM_MORE)
			c.mde = fmax(rule->min_effect,
				     confirm_detectable(iv.se * sqrt((double)n / 2.0), rule, 0.9));
	} else if (n >= rule->pairs) {
		c.verdict = CONFIRM_REFUTED;
	}
	return c;
}

/* Mean and variance of one pair's evidence at the best rate, when the difference of a pair is
 * normal with this mean and deviation 1: by the trapezoidal rule, which is exact to rounding here. */
static void evidence_of(double mean, double *expected, double *variance)
{
	const double step = 0.125, reach = 8.0;
	double one = 0.0, two = 0.0;

	for (double z = -reach; z <= reach; z += step) {
		double density = exp(-0.5 * z * z) / sqrt(2.0 * M_PI) * step;
		double e = M_LN2 - log1p(exp(-2.0 * mean * (mean + z)));

		one += density * e;
		two += density * e * e;
	}
	*expected = one;
	*variance = two - one * one;
}

double confirm_detectable(double sd, const struct confirm_rule *rule, double power)
{
	double needed = MIXTURE_COST - log(rule->alpha), n = (double)rule->pairs;
	double lo = 0.0, hi = 16.0, z = estimate_normal_quantile(power);

	if (n * M_LN2 < needed || !isfinite(sd))
		return INFINITY;
	for (int i = 0; i < 60; i++) {
		double mean = 0.5 * (lo + hi), expected, variance;

		evidence_of(mean, &expected, &variance);
		if (n * expected - z * sqrt(n * variance) < needed)
			lo = mean;
		else
			hi = mean;
	}
	return hi * sqrt(2.0) * sd;
}

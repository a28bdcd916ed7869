// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspicion and confirmation. */
#include "stats/detect.h"

#include <math.h>

#include "stats/rng.h"

/* Of a shift of one deviation this gives up 3 in 100 that 15 blocks of 8 would have confirmed. */
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

double detect_detectable(const struct sd_prior *prior, size_t n0, size_t n1, double z, double power)
{
	double own = (double)(n0 + n1) - 2.0, df = prior->df + fmax(own, 0.0), bar;

	if (!(prior->df > 0.0) || !n0 || !n1)
		return INFINITY;
	/* the upper tail: 1 - Phi(z) is exact where Phi(z) is 1 */
	bar = -estimate_t_quantile(0.5 * erfc(z * M_SQRT1_2), df);
	return prior->sd * sqrt(1.0 / (double)n0 + 1.0 / (double)n1) *
	       (bar * (1.0 - 0.25 / df) +
		estimate_normal_quantile(power) * sqrt(1.0 + bar * bar / (2.0 * df)));
}

/*
 * Least squares of side + block: the difference of the means within each block, weighted by
 * n0 n1 / (n0 + n1); what a prior knows of the noise of one boot joins. df is 0 when there is
 * nothing to say. *sd: of one boot.
 */
static struct interval within_blocks(const struct evalue_block *blocks, size_t n,
				     const struct sd_prior *prior, double *sd)
{
	struct interval iv = {.df = -1.0};
	double weights = 0.0, squares = 0.0, half;

	for (size_t i = 0; i < n; i++) {
		const struct evalue_block *b = &blocks[i];
		double n0 = (double)b->n0, n1 = (double)b->n1, w = n0 * n1 / (n0 + n1), diff;

		if (!b->n0 || !b->n1)
			continue;
		diff = estimate_mean(b->after, b->n1) - estimate_mean(b->before, b->n0);
		weights += w;
		iv.diff += w * diff;
		squares += estimate_sse(b->before, b->n0) + estimate_sse(b->after, b->n1) +
			   w * diff * diff;
		iv.df += n0 + n1 - 1.0;
	}
	if (!(weights > 0.0) || !(iv.df > 0.0))
		return (struct interval){.df = 0.0};
	iv.diff /= weights;
	squares = fmax(0.0, squares - weights * iv.diff * iv.diff);
	if (prior && prior->df > 0.0) {
		squares += prior->sd * prior->sd * prior->df;
		iv.df += prior->df;
	}
	*sd = sqrt(squares / iv.df);
	iv.se = *sd / sqrt(weights);
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
 * The chance that the last block confirms. B(t) = z sqrt(t) is a Brownian motion in the share t of
 * the blocks; its drift is taken as (z + 1) / sqrt(t). Evidence of a small shift is z^2 / 2.
 */
static double hope(const struct interval *iv, size_t n, const struct confirm_rule *rule)
{
	double t = (double)n / (double)rule->blocks, z, needed, left;

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
	if (c->p <= c->p_needed && c->effect >= rule->min_effect)
		return CONFIRM_CONFIRMED;
	if (n >= rule->blocks || upper_limit(iv) < rule->min_effect)
		return CONFIRM_REFUTED;
	/* reached, and only the mean is too small yet */
	if (c->p <= c->p_needed)
		return CONFIRM_MORE;
	if (log_e + (double)(rule->blocks - n) * evalue_most(rule->each) < -log(rule->alpha))
		return CONFIRM_REFUTED;
	return hope(iv, n, rule) < HOPELESS ? CONFIRM_REFUTED : CONFIRM_MORE;
}

/* Mean and variance of one full block's evidence at the best rate, when the shift is so many
 * deviations of normal noise: from the same made-up blocks whatever the shift is. */
static void evidence_of(double shift, size_t each, double *expected, double *variance)
{
	enum {
		BLOCKS = 400
	};
	double sum[EVALUE_RATES] = {0}, squares[EVALUE_RATES] = {0};
	size_t best = 0;
	struct rng rng;

	rng_seed(&rng, 1);
	for (int i = 0; i < BLOCKS; i++) {
		double before[EVALUE_SIDE_MAX], after[EVALUE_SIDE_MAX];
		struct evalue e = {0};

		for (size_t k = 0; k < each; k++) {
			before[k] = rng_normal(&rng);
			after[k] = shift + rng_normal(&rng);
		}
		evalue_add(&e, &(struct evalue_block){before, after, each, each});
		for (size_t r = 0; r < EVALUE_RATES; r++) {
			sum[r] += e.log_e[r] / BLOCKS;
			squares[r] += e.log_e[r] * e.log_e[r] / BLOCKS;
		}
	}
	for (size_t r = 1; r < EVALUE_RATES; r++)
		best = sum[r] > sum[best] ? r : best;
	*expected = sum[best];
	*variance = squares[best] - sum[best] * sum[best];
}

double confirm_detectable(const struct confirm_rule *rule, double power)
{
	double needed = MIXTURE_COST - log(rule->alpha), n = (double)rule->blocks;
	double lo = 0.0, hi = 16.0, z = estimate_normal_quantile(power);

	if (n * evalue_most(rule->each) < needed)
		return INFINITY;
	while (hi - lo > 0.005) {
		double mean = 0.5 * (lo + hi), expected, variance;

		evidence_of(mean, rule->each, &expected, &variance);
		if (n * expected - z * sqrt(n * variance) < needed)
			lo = mean;
		else
			hi = mean;
	}
	return hi;
}

double confirm_mde(const struct confirmation *c, const struct confirm_rule *rule, double power)
{
	double shift = confirm_detectable(rule, power);

	return isfinite(shift) && isfinite(c->sd) ? fmax(rule->min_effect, c->sd * shift)
						  : INFINITY;
}

struct confirmation confirm_blocks(const struct evalue_block *blocks, size_t n,
				   const struct sd_prior *prior, const struct confirm_rule *rule)
{
	struct confirmation c = {.verdict = n < rule->blocks ? CONFIRM_MORE : CONFIRM_REFUTED,
				 .effect = NAN,
				 .p_needed = rule->alpha,
				 .lo = -INFINITY,
				 .hi = INFINITY,
				 .sd = INFINITY,
				 .p = 1.0};
	struct evalue e = {0};
	double sd = 0.0;
	struct interval iv = within_blocks(blocks, n, prior, &sd);

	if (!(iv.df > 0.0))
		return c;
	for (size_t i = 0; i < n; i++)
		evalue_add(&e, &blocks[i]);
	c.effect = iv.diff;
	c.lo = iv.lo;
	c.hi = iv.hi;
	c.p = exp(-e.best);
	c.sd = sd;
	c.verdict = verdict(&c, &iv, n, e.now, rule);
	return c;
}

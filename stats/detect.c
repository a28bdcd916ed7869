// SPDX-License-Identifier: GPL-2.0-or-later
/* Suspicion and confirmation. */
#include "stats/detect.h"

#include <math.h>

#define HOPELESS 0.05

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

static double one_sided_p(const struct interval *iv)
{
	if (!(iv->df > 0.0))
		return 1.0;
	if (iv->se > 0.0)
		return estimate_t_upper(iv->diff / iv->se, iv->df);
	return iv->diff > 0.0 ? 0.0 : 1.0;
}

/* One-sided upper limit at 99 %: a shift above it is not believed in. */
static double upper_limit(const struct interval *iv)
{
	return iv->diff + (iv->se > 0.0 ? iv->se * estimate_t_quantile(0.99, iv->df) : 0.0);
}

/*
 * The chance that the last stage confirms. B(t) = z sqrt(t) is a Brownian motion in the share t of
 * the boots; its drift is taken as (z + 1) / sqrt(t).
 */
static double hope(const struct confirmation *c, const struct interval *iv, unsigned int stage,
		   const struct confirm_rule *rule)
{
	double t = (double)stage / rule->stages, z, needed, left;

	if (!(iv->se > 0.0))
		return iv->diff > 0.0;
	z = estimate_t_to_z(iv->diff / iv->se, iv->df);
	needed = estimate_normal_quantile(1.0 - c->p_needed);
	left = needed - z * sqrt(t) - (z + 1.0) / sqrt(t) * (1.0 - t);
	return 0.5 * erfc(left / sqrt(1.0 - t) / sqrt(2.0));
}

static enum confirm_verdict verdict(const struct confirmation *c, const struct interval *iv,
				    unsigned int stage, const struct confirm_rule *rule)
{
	if (c->p <= c->p_needed && c->effect >= rule->min_effect)
		return CONFIRM_CONFIRMED;
	if (stage >= rule->stages || upper_limit(iv) < rule->min_effect ||
	    hope(c, iv, stage, rule) < HOPELESS)
		return CONFIRM_REFUTED;
	return CONFIRM_MORE;
}

struct confirmation confirm_shift(const double *before, size_t n0, const double *after, size_t n1,
				  const struct sd_prior *prior, unsigned int stage,
				  const struct confirm_rule *rule)
{
	struct confirmation c = {.verdict = stage >= rule->stages ? CONFIRM_REFUTED : CONFIRM_MORE,
				 .p_needed = rule->alpha / rule->stages,
				 .lo = -INFINITY,
				 .hi = INFINITY,
				 .mde = INFINITY,
				 .p = 1.0};
	struct interval iv;

	if (n0 < 2 || n1 < 2)
		return c;
	iv = estimate_pooled(before, n0, after, n1, prior, 0.95);
	c.effect = iv.diff;
	c.lo = iv.lo;
	c.hi = iv.hi;
	c.p = one_sided_p(&iv);
	c.mde = iv.se *
		(estimate_t_quantile(1.0 - c.p_needed, iv.df) + estimate_t_quantile(0.9, iv.df));
	if (c.mde < rule->min_effect)
		c.mde = rule->min_effect;
	c.verdict = verdict(&c, &iv, stage, rule);
	return c;
}

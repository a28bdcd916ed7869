// SPDX-License-Identifier: GPL-2.0-or-later
/* Two sets of boots. */
#include "stats/compare.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"

enum better better_parse(const char *direction)
{
	if (strcmp(direction, "lower") == 0)
		return BETTER_LOWER;
	if (strcmp(direction, "higher") == 0)
		return BETTER_HIGHER;
	return BETTER_NONE;
}

double better_sign(enum better better)
{
	return better == BETTER_HIGHER ? -1.0 : 1.0;
}

/* Shift that a two-sided 5 % test finds in 90 of 100 cases: (t(0.975) + t(0.9)) standard errors. */
static double detectable(const struct interval *iv)
{
	if (!(iv->df > 0.0))
		return INFINITY;
	return iv->se * (estimate_t_quantile(0.975, iv->df) + estimate_t_quantile(0.9, iv->df));
}

static bool is_robust(size_t n0, size_t n1)
{
	return n0 >= COMPARE_ROBUST_N && n1 >= COMPARE_ROBUST_N;
}

struct interval compare_interval(const double *before, size_t n0, const double *after, size_t n1)
{
	return is_robust(n0, n1) ? estimate_yuen(before, n0, after, n1, 0.95)
				 : estimate_welch(before, n0, after, n1, 0.95);
}

/* Back from logarithms; what rounding leaves of a zero is a zero. */
static double level(double log_mean, double floor)
{
	double x = exp(log_mean) - floor;

	return fabs(x) < 1e-9 * floor ? 0.0 : x;
}

bool compare_boots(const double *before, size_t n0, const double *after, size_t n1, double floor,
		   enum better better, struct comparison *out, struct err *err)
{
	AUTO_FREE double *x = xcalloc(n0 + n1, sizeof(*x));
	double sign = better_sign(better);
	struct comparison c = {.before_n = n0, .after_n = n1};
	struct interval iv;
	bool robust;

	if (n0 == 0 || n1 == 0)
		return err_set(err, ERR_FAILED,
			       "a comparison wants at least one boot on each side, not %zu and %zu",
			       n0, n1);
	if (!estimate_logs(before, n0, floor, x, err) ||
	    !estimate_logs(after, n1, floor, x + n0, err))
		return false;
	robust = is_robust(n0, n1);
	c.test = robust ? COMPARE_TRIMMED : COMPARE_NUMBERS;
	c.before_mean = level(robust ? estimate_trimmed_mean(x, n0) : estimate_mean(x, n0), floor);
	c.after_mean = level(robust ? estimate_trimmed_mean(x + n0, n1) : estimate_mean(x + n0, n1),
			     floor);
	for (size_t i = 0; i < n0 + n1; i++)
		x[i] *= sign;
	iv = compare_interval(x, n0, x + n0, n1);
	c.effect = iv.diff;
	c.lo = iv.lo;
	c.hi = iv.hi;
	c.p = iv.p;
	c.significant = iv.p < 0.05;
	c.mde = detectable(&iv);
	*out = c;
	return true;
}

/* Larger is worse. */
static struct interval turned(struct interval iv, enum better better)
{
	double lo = iv.lo;

	if (better_sign(better) > 0.0)
		return iv;
	iv.diff = -iv.diff;
	iv.lo = -iv.hi;
	iv.hi = -lo;
	return iv;
}

static struct counted *counts_of(const struct compare_events *events)
{
	struct counted *counts = xcalloc(events->n, sizeof(*counts));

	for (size_t i = 0; i < events->n; i++)
		counts[i] = (struct counted){events->hits[i], events->of[i]};
	return counts;
}

static void compare_shares(const struct compare_events *before, const struct compare_events *after,
			   double floor, enum better better, struct comparison *out)
{
	AUTO_FREE struct counted *b = counts_of(before);
	AUTO_FREE struct counted *a = counts_of(after);
	struct interval iv =
		turned(proportion_compare(b, before->n, a, after->n, floor, 0.95), better);

	if (!(iv.df > 0.0))
		return;
	out->test = COMPARE_SHARES;
	out->before_mean = proportion_share(b, before->n).p;
	out->after_mean = proportion_share(a, after->n).p;
	out->effect = iv.diff;
	out->lo = iv.lo;
	out->hi = iv.hi;
	out->p = iv.p;
	out->significant = iv.p < 0.05;
	out->mde = detectable(&iv);
}

static void compare_tails(const struct compare_events *before, const struct compare_events *after,
			  enum better better, struct comparison *out)
{
	const struct tails b = {before->histograms, before->n, before->buckets};
	const struct tails a = {after->histograms, after->n, after->buckets};
	struct interval iv = turned(proportion_tail(&b, &a, before->q, 0.95), better);

	if (!(iv.df > 0.0))
		return;
	out->test = COMPARE_TAILS;
	out->lo = fmin(out->lo, iv.lo);
	out->hi = fmax(out->hi, iv.hi);
	out->p = fmax(out->p, iv.p);
	out->significant = out->p < 0.05;
	out->mde = fmax(out->mde, detectable(&iv));
}

void compare_events(const struct compare_events *before, const struct compare_events *after,
		    double floor, enum better better, struct comparison *out)
{
	if (before->hits && after->hits)
		compare_shares(before, after, floor, better, out);
	else if (before->histograms && after->histograms)
		compare_tails(before, after, better, out);
}

const char *compare_test_name(enum compare_test test)
{
	static const char *const names[] = {"welch", "yuen", "share", "tail"};

	return names[test];
}

double compare_relative(double log_ratio)
{
	return expm1(log_ratio);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Means, spreads, intervals. */
#include "stats/estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/mem.h"

double estimate_mean(const double *x, size_t n)
{
	double sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += x[i];
	return sum / (double)n;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double estimate_median(const double *x, size_t n)
{
	AUTO_FREE double *v = xcalloc(n, sizeof(*v));

	memcpy(v, x, n * sizeof(*v));
	qsort(v, n, sizeof(*v), by_value);
	return n % 2 ? v[n / 2] : 0.5 * (v[n / 2 - 1] + v[n / 2]);
}

double estimate_sse(const double *x, size_t n)
{
	double mean = estimate_mean(x, n), sum = 0.0;

	for (size_t i = 0; i < n; i++)
		sum += (x[i] - mean) * (x[i] - mean);
	return sum;
}

double estimate_sd(const double *x, size_t n)
{
	return n < 2 ? 0.0 : sqrt(estimate_sse(x, n) / (double)(n - 1));
}

bool estimate_log(double x, double floor, double *out, struct err *err)
{
	if (!isfinite(x) || !(x + floor > 0.0))
		return err_set(err, ERR_FAILED,
			       "the number %g has no logarithm above the floor %g: "
			       "give the metric a larger floor",
			       x, floor);
	*out = log(x + floor);
	return true;
}

bool estimate_logs(const double *x, size_t n, double floor, double *out, struct err *err)
{
	AUTO_FREE double *v = xcalloc(n, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		if (!estimate_log(x[i], floor, &v[i], err))
			return false;
	memcpy(out, v, n * sizeof(*v));
	return true;
}

bool estimate_geomean(const double *x, size_t n, double floor, double *out, struct err *err)
{
	AUTO_FREE double *v = xcalloc(n, sizeof(*v));

	if (!estimate_logs(x, n, floor, v, err))
		return false;
	*out = exp(estimate_mean(v, n)) - floor;
	return true;
}

struct sd_prior estimate_pool(const double *sse, const size_t *n, size_t k)
{
	double sum = 0.0, df = 0.0;

	for (size_t i = 0; i < k; i++) {
		if (n[i] < 2)
			continue;
		sum += sse[i];
		df += (double)(n[i] - 1);
	}
	return (struct sd_prior){.sd = df > 0.0 ? sqrt(sum / df) : 0.0, .df = df};
}

double estimate_t_quantile(double p, double df)
{
	/* beyond this GSL's iteration is no better than the normal limit */
	return df > 1e6 ? gsl_cdf_ugaussian_Pinv(p) : gsl_cdf_tdist_Pinv(p, df);
}

double estimate_t_upper(double t, double df)
{
	return df > 1e6 ? gsl_cdf_ugaussian_Q(t) : gsl_cdf_tdist_Q(t, df);
}

double estimate_normal_quantile(double p)
{
	return gsl_cdf_ugaussian_Pinv(p);
}

double estimate_t_to_z(double t, double df)
{
	double q = estimate_t_upper(fabs(t), df);

	/* a deviate of 37 is where the normal tail leaves the range of double */
	return copysign(q < 1e-300 ? 37.0 : gsl_cdf_ugaussian_Qinv(q), t);
}

static void fill_interval(struct interval *iv, double level)
{
	double half;

	if (!(iv->df > 0.0) || !isfinite(iv->se)) {
		iv->se = INFINITY;
		iv->df = 0.0;
		iv->lo = -INFINITY;
		iv->hi = INFINITY;
		iv->p = 1.0;
		return;
	}
	half = iv->se > 0.0 ? iv->se * estimate_t_quantile(0.5 + level / 2.0, iv->df) : 0.0;
	iv->lo = iv->diff - half;
	iv->hi = iv->diff + half;
	if (iv->se > 0.0)
		iv->p = 2.0 * estimate_t_upper(fabs(iv->diff) / iv->se, iv->df);
	else
		iv->p = iv->diff == 0.0 ? 1.0 : 0.0;
}

struct interval estimate_welch(const double *before, size_t n0, const double *after, size_t n1,
			       double level)
{
	struct interval iv = {.diff = estimate_mean(after, n1) - estimate_mean(before, n0)};

	if (n0 >= 2 && n1 >= 2) {
		double f0 = (double)n0 - 1.0, f1 = (double)n1 - 1.0;
		double v0 = estimate_sse(before, n0) / f0 / (double)n0;
		double v1 = estimate_sse(after, n1) / f1 / (double)n1;
		double v = v0 + v1;

		iv.se = sqrt(v);
		iv.df = v > 0.0 ? v * v / (v0 * v0 / f0 + v1 * v1 / f1) : f0 + f1;
	}
	fill_interval(&iv, level);
	return iv;
}

/* One side of Yuen's test: trimmed mean, its squared standard error, and the numbers that count. */
struct trimmed {
	double mean, variance, kept;
};

static struct trimmed trim(const double *x, size_t n)
{
	AUTO_FREE double *v = xcalloc(n, sizeof(*v));
	size_t cut = n / 5;
	struct trimmed t = {.kept = (double)(n - 2 * cut)};

	memcpy(v, x, n * sizeof(*v));
	qsort(v, n, sizeof(*v), by_value);
	t.mean = estimate_mean(v + cut, n - 2 * cut);
	for (size_t i = 0; i < cut; i++) {
		v[i] = v[cut];
		v[n - 1 - i] = v[n - 1 - cut];
	}
	t.variance = estimate_sse(v, n) / (t.kept * (t.kept - 1.0));
	return t;
}

struct interval estimate_yuen(const double *before, size_t n0, const double *after, size_t n1,
			      double level)
{
	struct trimmed b = trim(before, n0), a = trim(after, n1);
	struct interval iv = {.diff = a.mean - b.mean};

	if (b.kept >= 2.0 && a.kept >= 2.0) {
		double f0 = b.kept - 1.0, f1 = a.kept - 1.0;
		double v = b.variance + a.variance;

		iv.se = sqrt(v);
		iv.df = v > 0.0 ? v * v /
					  (b.variance * b.variance / f0 +
					   a.variance * a.variance / f1)
				: f0 + f1;
	}
	fill_interval(&iv, level);
	return iv;
}

double estimate_trimmed_mean(const double *x, size_t n)
{
	return trim(x, n).mean;
}

struct interval estimate_pooled(const double *before, size_t n0, const double *after, size_t n1,
				const struct sd_prior *prior, double level)
{
	struct interval iv = {.diff = estimate_mean(after, n1) - estimate_mean(before, n0)};
	double sse = estimate_sse(before, n0) + estimate_sse(after, n1);
	double df = (double)(n0 + n1) - 2.0;

	if (prior && prior->df > 0.0) {
		sse += prior->sd * prior->sd * prior->df;
		df += prior->df;
	}
	iv.df = df;
	if (df > 0.0)
		iv.se = sqrt(sse / df * (1.0 / (double)n0 + 1.0 / (double)n1));
	fill_interval(&iv, level);
	return iv;
}

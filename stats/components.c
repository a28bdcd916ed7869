// SPDX-License-Identifier: GPL-2.0-or-later
/* Variance components. */
#include "stats/components.h"

#include <math.h>

#include "base/mem.h"
#include "stats/estimate.h"

/* Sums about the means of groups. */
struct within {
	double sse;
	double df;
};

static double within_variance(const struct within *w)
{
	return w->df > 0 ? w->sse / w->df : NAN;
}

static struct within within_boots(const struct components_boot *boots, size_t n)
{
	struct within w = {0, 0};

	for (size_t i = 0; i < n; i++) {
		w.sse += estimate_sse(boots[i].y, boots[i].n);
		w.df += (double)boots[i].n - 1;
	}
	return w;
}

static double number_of(const struct components_boot *boot)
{
	return boot->number;
}

static double mean_of(const struct components_boot *boot)
{
	return estimate_mean(boot->y, boot->n);
}

/* The values of one layout, into x; how many. */
static size_t gather(const struct components_boot *boots, size_t n, size_t layout,
		     double (*value)(const struct components_boot *boot), double *x)
{
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (boots[i].layout == layout)
			x[k++] = value(&boots[i]);
	return k;
}

static size_t layouts_end(const struct components_boot *boots, size_t n)
{
	size_t end = 0;

	for (size_t i = 0; i < n; i++)
		end = boots[i].layout >= end ? boots[i].layout + 1 : end;
	return end;
}

static struct within within_layouts(const struct components_boot *boots, size_t n,
				    double (*value)(const struct components_boot *boot))
{
	AUTO_FREE double *x = xcalloc(n, sizeof(*x));
	struct within w = {0, 0};

	for (size_t l = 0; l < layouts_end(boots, n); l++) {
		size_t k = gather(boots, n, l, value, x);

		if (k) {
			w.sse += estimate_sse(x, k);
			w.df += (double)k - 1;
		}
	}
	return w;
}

static double harmonic(const struct components_boot *boots, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += 1 / (double)boots[i].n;
	return (double)n / sum;
}

/* Mean square between layouts is variance + n0 * variance of layouts. */
static double between_layouts(const struct components_boot *boots, size_t n, double variance,
			      size_t *layouts)
{
	AUTO_FREE double *x = xcalloc(n, sizeof(*x));
	AUTO_FREE double *all = xcalloc(n, sizeof(*all));
	double squares = 0, ss = 0, mean, n0;

	*layouts = 0;
	for (size_t i = 0; i < n; i++)
		all[i] = boots[i].number;
	mean = estimate_mean(all, n);
	for (size_t l = 0; l < layouts_end(boots, n); l++) {
		size_t k = gather(boots, n, l, number_of, x);

		if (!k)
			continue;
		(*layouts)++;
		squares += (double)(k * k);
		ss += (double)k * pow(estimate_mean(x, k) - mean, 2);
	}
	if (*layouts < 2)
		return NAN;
	n0 = ((double)n - squares / (double)n) / (double)(*layouts - 1);
	return fmax(0, (ss / (double)(*layouts - 1) - variance) / n0);
}

void components_find(const struct components_boot *boots, size_t n, struct components *out)
{
	struct within iterations = within_boots(boots, n);
	struct within means = within_layouts(boots, n, mean_of);
	struct within numbers = within_layouts(boots, n, number_of);
	struct components c = {.boots = n, .iterations = harmonic(boots, n)};

	c.iteration = within_variance(&iterations);
	c.boot = within_variance(&means);
	if (!isnan(c.iteration) && !isnan(c.boot))
		c.boot = fmax(0, c.boot - c.iteration / c.iterations);
	c.sd = sqrt(within_variance(&numbers));
	c.df = numbers.df;
	c.layout = between_layouts(boots, n, isnan(c.sd) ? 0 : c.sd * c.sd, &c.layouts);
	*out = c;
}

int components_iterations(const struct components *c, double boot_s, double iteration_s, int most)
{
	double best;

	if (!(c->iteration >= 0) || !(c->boot >= 0) || !(boot_s > 0) || !(iteration_s > 0))
		return 0;
	if (c->iteration <= 0)
		return 1;
	best = ceil(sqrt(boot_s / iteration_s * c->iteration / c->boot));
	return best < most ? (int)best : most;
}

double components_detectable(const struct components *c, size_t boots, int built)
{
	double df = c->df + 2 * ((double)boots - 1);
	double layout = built && c->layout > 0 ? c->layout : 0;

	if (isnan(c->sd))
		return INFINITY;
	return (estimate_t_quantile(0.975, df) + estimate_t_quantile(0.9, df)) *
	       sqrt(2 * c->sd * c->sd / (double)boots + 2 * layout);
}

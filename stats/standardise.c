// SPDX-License-Identifier: GPL-2.0-or-later
/* Standardised changes. */
#include "stats/standardise.h"

#include <math.h>

#include "base/mem.h"
#include "stats/estimate.h"

static bool logs(const double *x, size_t n, double *out)
{
	for (size_t i = 0; i < n; i++) {
		if (!(x[i] >= 0))
			return false;
		out[i] = log1p(x[i]);
	}
	return true;
}

bool standardise(const double *before, size_t n0, const double *after, size_t n1,
		 struct standardised *out)
{
	AUTO_FREE double *a = xcalloc(n0, sizeof(*a));
	AUTO_FREE double *b = xcalloc(n1, sizeof(*b));
	double sd, counting, se, df;

	if (n0 < 2 || n1 < 2 || !logs(before, n0, a) || !logs(after, n1, b))
		return false;
	df = (double)(n0 + n1 - 2);
	*out = (struct standardised){.before = estimate_mean(before, n0),
				     .after = estimate_mean(after, n1),
				     .effect = estimate_mean(b, n1) - estimate_mean(a, n0)};
	sd = sqrt((estimate_sse(a, n0) + estimate_sse(b, n1)) / df);
	counting = 1 / sqrt((out->before + out->after) / 2 + 1);
	sd = fmax(sd, counting);
	se = sd * sqrt(1 / (double)n0 + 1 / (double)n1);
	out->change = out->effect / sd;
	out->p = 2 * estimate_t_upper(fabs(out->effect) / se, df);
	return true;
}

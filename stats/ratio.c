// SPDX-License-Identifier: GPL-2.0-or-later
/* Ratios. */
#include "stats/ratio.h"

#include <math.h>

struct ratio ratio_fieller(const struct interval *part, const struct interval *whole)
{
	struct ratio r = {part->diff / whole->diff, -INFINITY, INFINITY};
	double df = fmin(part->df, whole->df), t, a, b, c, root;

	if (!(df > 0.0))
		return r;
	/* a r^2 - 2 b r + c <= 0 */
	t = estimate_t_quantile(0.975, df);
	a = whole->diff * whole->diff - t * t * whole->se * whole->se;
	b = part->diff * whole->diff;
	c = part->diff * part->diff - t * t * part->se * part->se;
	if (!(a > 0.0))
		return r;
	root = sqrt(fmax(0.0, b * b - a * c));
	r.lo = (b - root) / a;
	r.hi = (b + root) / a;
	return r;
}

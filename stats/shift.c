// SPDX-License-Identifier: GPL-2.0-or-later
/* Log-uniform shifts. */
#include "stats/shift.h"

#include <math.h>

struct shift_prior shift_prior_make(double lo, double hi)
{
	if (hi < 2.0 * lo)
		hi = 2.0 * lo;
	return (struct shift_prior){.lo = lo, .hi = hi, .log_ratio = log(hi / lo)};
}

struct shift_prior shift_prior_known(double shift)
{
	return (struct shift_prior){.lo = shift, .hi = shift};
}

double shift_mean(const struct shift_prior *shift)
{
	if (shift->hi <= shift->lo)
		return shift->lo;
	return (shift->hi - shift->lo) / shift->log_ratio;
}

double shift_mean_sq(const struct shift_prior *shift)
{
	if (shift->hi <= shift->lo)
		return shift->lo * shift->lo;
	return (shift->hi * shift->hi - shift->lo * shift->lo) / 2.0 / shift->log_ratio;
}

static double ramp_inside(const struct shift_prior *shift, double x)
{
	return (x * log(x / shift->lo) - x + shift->lo) / shift->log_ratio;
}

double shift_ramp(const struct shift_prior *shift, double x)
{
	if (x <= shift->lo)
		return 0.0;
	if (x <= shift->hi)
		return ramp_inside(shift, x);
	return ramp_inside(shift, shift->hi) + (x - shift->hi);
}

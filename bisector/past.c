// SPDX-License-Identifier: GPL-2.0-or-later
/* Good levels. */
#include "bisector/past.h"

#include <math.h>
#include <stdlib.h>

#include "bisector/watch.h"
#include "stats/estimate.h"
#include "stats/segment.h"

#define HEADS_MIN 8
#define HOLDS_SDS 3.0

/* The last level of y[0 .. n - 1], when `own` is on it, too. */
static void last_level(const double *y, size_t n, double own, struct past *out)
{
	CLEANUP(segmentation_release) struct segmentation parts = {0};
	size_t from;
	double level;

	segment_series(y, n, &segment_rule_history, &parts);
	from = parts.starts[parts.n - 1];
	if (n - from < HEADS_MIN || !(parts.noise.sd > 0))
		return;
	level = estimate_mean(y + from, n - from);
	if (fabs(own - level) > HOLDS_SDS * parts.noise.sd)
		return;
	out->level = level;
	out->heads = n - from;
	/* how well the mean is known, and how far what neighbours share has moved since */
	out->sd = sqrt(parts.noise.long_run / (double)out->heads +
		       parts.noise.rho * parts.noise.sd * parts.noise.sd);
}

bool past_read(struct bisector *bisector, const struct series *series, int64_t branch, int64_t good,
	       struct past *out, struct err *err)
{
	CLEANUP(watch_history_release) struct watch_history history = {0};
	AUTO_FREE double *y = NULL;
	size_t n = 0;

	*out = (struct past){0};
	if (!watch_history(bisector, series, branch, &history, err))
		return err_wrap(err, "history of the good end");
	y = xcalloc(history.n + 1, sizeof(*y));
	while (n < history.n && history.v[n].commit != good) {
		y[n] = history.v[n].y;
		n++;
	}
	if (n < history.n && n >= HEADS_MIN)
		last_level(y, n, history.v[n].y, out);
	return true;
}

bool past_holds(const struct past *past, const double *y, size_t n, double sd)
{
	return fabs(estimate_mean(y, n) - past->level) <=
	       HOLDS_SDS * hypot(past->sd, sd / sqrt((double)n));
}

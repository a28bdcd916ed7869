// SPDX-License-Identifier: GPL-2.0-or-later
/* Levels of a series. */
#include "stats/segment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "base/mem.h"

/*
 * 2 log(n) pays for a level and its place (Schwarz's criterion). 4 log(n) is quiet where the noise
 * itself wanders: 200 points of an autoregression with rho 0.6 get 0.1 changes, of a log-normal
 * 0.03, of white noise none in 300 series; a step of 2 sd is still found by 94 of 100
 * (tests/unit/test_stats_segment.c). A single commit is the online detector's business.
 */
const struct segment_rule segment_rule_default = {.penalty = 4.0, .least = 2};

/* rho comes from the ratio of two variances by medians, each known to 2.3 / sqrt(n) of itself, so to
 * about sqrt(10 / n); heads measured by boots of their own have 0 +- 0.3: half is believed at 100. */
const struct segment_rule segment_rule_history = {.penalty = 4.0, .least = 2, .rho_points = 100.0};

static const double rho_max = 0.9;
static const double mad_to_sd = 1.482602; /* of a normal: 1 / Phi^-1(3/4) */
static const double alone = 4.0;	  /* deviations that no 1 in 10,000 normal points has */

/* Squared deviation that the differences at this lag would have, were they normal. */
static double lag_variance(const double *y, size_t n, size_t lag, double *room)
{
	double sd;

	for (size_t i = 0; i + lag < n; i++)
		room[i] = fabs(y[i + lag] - y[i]);
	sd = mad_to_sd * gsl_stats_median(room, 1, n - lag);
	return sd * sd;
}

static double mean_square_step(const double *y, size_t n)
{
	double sum = 0.0;

	for (size_t i = 0; i + 1 < n; i++)
		sum += (y[i + 1] - y[i]) * (y[i + 1] - y[i]);
	return sum / (double)(n - 1);
}

struct segment_noise segment_noise(const double *y, size_t n, const struct segment_rule *rule)
{
	AUTO_FREE double *room = xcalloc(n, sizeof(*room));
	double one = lag_variance(y, n, 1, room), two = lag_variance(y, n, 2, room), variance;
	struct segment_noise noise = {0};

	if (one > 0.0)
		noise.rho = fmin(rho_max, fmax(0.0, two / one - 1.0));
	else
		one = mean_square_step(y, n);
	noise.rho *= (double)n / ((double)n + rule->rho_points);
	variance = one / 2.0 / (1.0 - noise.rho);
	noise.sd = sqrt(variance);
	noise.long_run = variance * (1.0 + noise.rho) / (1.0 - noise.rho);
	return noise;
}

/* A copy in which no point stands further out than `alone` from the median of the five about it. */
static double *pull_in(const double *y, size_t n, double sd)
{
	double *out = xcalloc(n, sizeof(*out));

	memcpy(out, y, n * sizeof(*out));
	for (size_t i = 0; n >= 5 && i < n; i++) {
		double five[5], middle;

		memcpy(five, y + (i < 2 ? 0 : i + 3 > n ? n - 5 : i - 2), sizeof(five));
		middle = gsl_stats_median(five, 1, 5);
		out[i] = fmin(middle + alone * sd, fmax(middle - alone * sd, y[i]));
	}
	return out;
}

struct table {
	double *sum;   /* of the first i points */
	double *share; /* 1 / i */
	double *best;  /* least cost of the first i, without their sum of squares */
	size_t *from;  /* where the last segment of that division starts */
	size_t *open;  /* starts that may still be the best, ascending */
	size_t *ends;  /* the point from which open[k] cannot be any more */
	size_t n_open;
};

static void table_release(struct table *t)
{
	free(t->sum);
	free(t->share);
	free(t->best);
	free(t->from);
	free(t->open);
	free(t->ends);
}

static struct table table_make(const double *y, size_t n)
{
	struct table t = {
		.sum = xcalloc(n + 1, sizeof(*t.sum)),
		.share = xcalloc(n + 1, sizeof(*t.share)),
		.best = xcalloc(n + 1, sizeof(*t.best)),
		.from = xcalloc(n + 1, sizeof(*t.from)),
		.open = xcalloc(n + 1, sizeof(*t.open)),
		.ends = xcalloc(n + 1, sizeof(*t.ends)),
	};

	for (size_t i = 0; i < n; i++) {
		t.sum[i + 1] = t.sum[i] + y[i];
		t.share[i + 1] = 1.0 / (double)(i + 1);
	}
	return t;
}

/* The best division of the first `to` points. A start that is worse there even without a penalty
 * is so for ever, once `to` itself may be a start. */
static void extend(struct table *t, size_t to, size_t least, double scale, double penalty)
{
	double *cost = t->best + to;
	size_t kept = 0;

	*cost = INFINITY;
	for (size_t k = 0; k < t->n_open; k++) {
		size_t s = t->open[k];
		double sum = t->sum[to] - t->sum[s];
		double c = t->best[s] - scale * sum * sum * t->share[to - s];

		if (c < *cost) {
			*cost = c;
			t->from[to] = s;
		}
		/* against the best so far, with the penalty that it pays: a bound, not the minimum */
		if (c > *cost + penalty && t->ends[k] > to + least)
			t->ends[k] = to + least;
		if (t->ends[k] > to) {
			t->open[kept] = s;
			t->ends[kept++] = t->ends[k];
		}
	}
	t->n_open = kept;
	*cost += penalty;
}

static void divide(const double *y, size_t n, const struct segment_rule *rule, double long_run,
		   struct segmentation *out)
{
	CLEANUP(table_release) struct table t = table_make(y, n);
	size_t least = rule->least;

	for (size_t to = least; to <= n; to++) {
		/* a division of fewer than `least` points is none */
		if (to == least || to >= 2 * least) {
			t.open[t.n_open] = to - least;
			t.ends[t.n_open++] = n + 1;
		}
		extend(&t, to, least, 1.0 / long_run, rule->penalty * log((double)n));
	}
	for (size_t at = n; at; at = t.from[at])
		out->n++;
	out->starts = xcalloc(out->n, sizeof(*out->starts));
	for (size_t at = n, k = out->n; k--; at = t.from[at])
		out->starts[k] = t.from[at];
}

void segment_series(const double *y, size_t n, const struct segment_rule *rule,
		    struct segmentation *out)
{
	AUTO_FREE double *x = NULL;

	*out = (struct segmentation){0};
	if (n >= 3)
		out->noise = segment_noise(y, n, rule);
	if (n < 2 * rule->least || n < 3 || !(out->noise.sd > 0.0)) {
		out->n = n > 0;
		out->starts = xcalloc(1, sizeof(*out->starts));
		return;
	}
	x = pull_in(y, n, out->noise.sd);
	divide(x, n, rule, out->noise.long_run, out);
}

void segmentation_release(struct segmentation *s)
{
	free(s->starts);
	*s = (struct segmentation){0};
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The newest stretch of a series. */
#include "stats/online.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "base/mem.h"
#include "stats/estimate.h"

/*
 * Measured over 200 unchanged commits of 2 boots (`mmperf simulate detect`): 0.2 to 0.6 candidates
 * a series, of any noise there; a step of 3 deviations of a boot alarms at its first commit, one of
 * 2 at its second.
 */
const double online_z = 3.5;

static const double cut = 3.2; /* deviations of a boot: 1 in 700 normal boots is cut */
/* Commits of a segment at which a mean cut off has an alarm's deviate. */
static const size_t short_history = 30;
static const double mad_to_sd = 1.482602;
/* Correlation of neighbouring commits before any is known, and how many commits that is worth: a
 * short history is taken as drifting, a long one speaks for itself. */
static const double rho_prior = 0.4, rho_weight = 10.0;
static const double rho_max = 0.9;
static const double unlikely = 3.0; /* log likelihood ratio: 1 in 20 */

struct point {
	double raw;	 /* mean of the boots */
	double off;	 /* mean of the boots, cut off, less `middle` */
	size_t first, n; /* in boots */
	double sum, squares,
		products; /* of the segment up to here: off, its square, with its neighbour */
};

struct online {
	struct point *points;
	size_t n, cap;
	double *boots;
	size_t n_boots, cap_boots;
	size_t start;	   /* of the segment */
	size_t floor;	   /* no stretch starts before this one */
	size_t looked_at;  /* points of the segment when `middle` and `sd` were taken */
	double middle, sd; /* of boots: median and its deviation */
	double old_sse, old_df, old_lag; /* of the segments before */
};

struct online *online_new(void)
{
	return xcalloc(1, sizeof(struct online));
}

void online_free(struct online *online)
{
	if (!online)
		return;
	free(online->points);
	free(online->boots);
	free(online);
}

void online_free_ptr(struct online **online)
{
	online_free(*online);
}

/*
 * Mean of a commit's boots less `middle`, each no further out than `cut` from the middle. While the
 * history is short, few degrees of freedom ask for more than that leaves, however large a step is:
 * then from the boot that is nearest to the middle, so that only a boot that stands alone is cut.
 */
static double cut_off(const struct online *o, const struct point *p)
{
	double sum = 0.0, near = INFINITY;

	for (size_t i = 0; i < p->n; i++) {
		double y = o->boots[p->first + i] - o->middle;

		if (fabs(y) < fabs(near))
			near = y;
	}
	if (p->n < 2 || o->n - o->start > short_history)
		near = 0.0;
	for (size_t i = 0; i < p->n; i++) {
		double y = o->boots[p->first + i] - o->middle;
		double hi = fmax(0.0, near) + cut * o->sd, lo = fmin(0.0, near) - cut * o->sd;

		sum += o->sd > 0.0 ? fmin(hi, fmax(lo, y)) : y;
	}
	return sum / (double)p->n;
}

static void add_up(struct online *o, size_t at)
{
	struct point *p = &o->points[at];
	const struct point *last = at > o->start ? p - 1 : NULL;

	p->off = cut_off(o, p);
	p->sum = p->off + (last ? last->sum : 0.0);
	p->squares = p->off * p->off + (last ? last->squares : 0.0);
	p->products = last ? last->products + p->off * last->off : 0.0;
}

/* Takes the level and noise of boots anew from the first `n` points of the segment, which are past
 * suspicion, and cuts all by them. */
static void look_at_boots(struct online *o, size_t n)
{
	size_t from = o->points[o->start].first;
	const struct point *last = &o->points[o->start + n - 1];
	size_t k = last->first + last->n - from;
	AUTO_FREE double *room = xcalloc(k, sizeof(*room));

	memcpy(room, o->boots + from, k * sizeof(*room));
	o->middle = gsl_stats_median(room, 1, k);
	for (size_t i = 0; i < k; i++)
		room[i] = fabs(o->boots[from + i] - o->middle);
	o->sd = mad_to_sd * gsl_stats_median(room, 1, k);
	o->looked_at = n;
	for (size_t i = o->start; i < o->n; i++)
		add_up(o, i);
}

/* The segment before a stretch, which starts at `end`. */
struct base {
	double mean, n;	     /* less `middle`; commits */
	double sse, lag;     /* squares about the mean, and products of neighbours */
	double variance, df; /* of one commit, segments before included */
	double rho;	     /* of neighbours */
};

static struct base base_before(const struct online *o, size_t end)
{
	const struct point *first = &o->points[o->start], *last = &o->points[end - 1];
	struct base b = {.n = (double)(end - o->start)};
	double rho, sse, lag;

	b.mean = last->sum / b.n;
	b.sse = fmax(0.0, last->squares - b.n * b.mean * b.mean);
	b.lag = last->products - b.mean * (2.0 * last->sum - first->off - last->off) +
		(b.n - 1.0) * b.mean * b.mean;
	sse = b.sse + o->old_sse;
	lag = b.lag + o->old_lag;
	b.df = b.n - 1.0 + o->old_df;
	b.variance = sse / b.df;
	/* + variance: the mean that is estimated takes about one out of the products */
	rho = sse > 0.0 ? (lag + b.variance) / sse : 0.0;
	rho = (rho * b.df + rho_prior * rho_weight) / (b.df + rho_weight);
	b.rho = fmin(rho_max, fmax(0.0, rho));
	return b;
}

/* Variance of the mean of k neighbours in units of one's: a first-order autoregression. */
static double share(double k, double rho)
{
	double sum = (1.0 + rho) / (1.0 - rho) -
		     2.0 * rho * (1.0 - pow(rho, k)) / (k * (1.0 - rho) * (1.0 - rho));

	return sum / k;
}

/* As share() of the segment: what follows is correlated with its end only. */
static double deviation(const struct base *b, double k)
{
	return sqrt(b->variance * (share(k, b->rho) + share(b->n, b->rho)));
}

static bool enough(const struct online *o, size_t end)
{
	return end - o->start >= ONLINE_HISTORY;
}

static struct alarm compare(const struct online *o, size_t from, double mean)
{
	struct base b = base_before(o, from);
	double effect = mean - b.mean, se = deviation(&b, (double)(o->n - from));
	struct alarm a = {.since = from, .effect = effect};

	if (se > 0.0)
		a.z = effect / se;
	else if (effect != 0.0)
		a.z = copysign(37.0, effect);
	/* the normal deviate is the smaller of the two, and dear */
	if (fabs(a.z) >= online_z && se > 0.0)
		a.z = estimate_t_to_z(a.z, b.df);
	a.raised = fabs(a.z) >= online_z;
	return a;
}

static struct alarm scan(const struct online *o)
{
	struct alarm each[ONLINE_WINDOW + 1], best = {0};
	double sum = 0.0;
	size_t n = 0;

	for (size_t k = 1; k <= ONLINE_WINDOW && k < o->n; k++) {
		size_t from = o->n - k;

		if (from < o->floor || from < o->start || !enough(o, from))
			break;
		sum += o->points[from].off;
		each[n] = compare(o, from, sum / (double)k);
		if (each[n].raised && fabs(each[n].z) > fabs(best.z))
			best = each[n];
		n++;
	}
	best.after = best.since - 1;
	for (size_t i = 0; best.raised && i < n; i++)
		if (each[i].z * best.z > 0.0 &&
		    each[i].z * each[i].z > best.z * best.z - 2.0 * unlikely)
			best.after = each[i].since - 1;
	return best;
}

/* Uncut, which is what the stretch measured. */
static double raw_effect(const struct online *o, size_t since)
{
	double mean = 0.0;

	for (size_t i = since; i < o->n; i++)
		mean += o->points[i].raw / (double)(o->n - since);
	return mean - o->middle - base_before(o, since).mean;
}

struct alarm online_push(struct online *o, const double *boots, size_t n)
{
	struct point *p = array_push(o->points, o->n, o->cap);
	struct alarm a;
	size_t known;

	p->first = o->n_boots;
	p->n = n;
	p->raw = estimate_mean(boots, n);
	for (size_t i = 0; i < n; i++)
		*array_push(o->boots, o->n_boots, o->cap_boots) = boots[i];
	/* before the newest: one in doubt must not widen what it is judged by */
	known = o->n - 1 - o->start;
	if (known >= ONLINE_HISTORY && 4 * known >= 5 * o->looked_at)
		look_at_boots(o, known);
	else
		add_up(o, o->n - 1);
	a = scan(o);
	if (a.raised)
		a.effect = raw_effect(o, a.since);
	return a;
}

void online_settle(struct online *o, size_t since, bool changed)
{
	struct base b;

	if (!changed) {
		o->floor = o->n;
		return;
	}
	b = base_before(o, since);
	o->old_sse += b.sse;
	o->old_lag += b.lag;
	o->old_df += b.n - 1.0;
	/* boots of the new level are cut about it until there are enough to look at */
	o->middle += b.mean + raw_effect(o, since);
	o->start = since;
	o->floor = since;
	o->looked_at = 0;
	for (size_t i = since; i < o->n; i++)
		add_up(o, i);
}

/* The step whose boots, cut off, have this mean: what the cut takes of a boot alone is added. */
static double uncut(const struct online *o, size_t boots, double seen)
{
	double step = seen;

	if (!(o->sd > 0.0) || (boots > 1 && o->n - o->start < short_history))
		return seen;
	if (seen >= cut * o->sd)
		return INFINITY;
	for (int i = 0; i < 50; i++) {
		double gap = cut - step / o->sd;
		double taken = exp(-0.5 * gap * gap) / sqrt(2.0 * M_PI) -
			       gap * 0.5 * erfc(gap / sqrt(2.0));

		step = seen + o->sd * taken;
	}
	return step;
}

double online_detectable(const struct online *o, size_t commits, size_t n, double power)
{
	struct base b;
	double boots = 0.0;

	if (!enough(o, o->n))
		return INFINITY;
	b = base_before(o, o->n);
	for (size_t i = o->start; i < o->n; i++)
		boots += (double)o->points[i].n / b.n;
	/* commits of more boots than usual are no worse, and may be no better: layouts stay */
	if ((double)n < boots)
		b.variance *= boots / (double)n;
	return uncut(o, n,
		     deviation(&b, (double)commits) * (online_z + estimate_normal_quantile(power)));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Levels, shift and noise integrated out. */
#include "stats/levels.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/aside.h"
#include "stats/lattice.h"
#include "stats/mixture.h"
#include "stats/posterior.h"

/* Log evidence behind the best at which a split or a sigma no longer counts. */
static const double far_behind = 22.0;
/* Log evidence behind the best at which its levels no longer matter. */
static const double rather_behind = 14.0;
/* Log evidence behind the best that a split has at the ends of its window of levels. */
static const double window_nats = 24.0;
/* Spacing of level points in posterior deviations of the level, when laid; the unit test against
 * brute force holds the result within 1e-3 with it. */
static const double level_step_sds = 0.7;
/* Spacing of log sigma in its posterior deviations: the trapezoid rule's error is below 1e-4. */
static const double sigma_step_sds = 1.25;
/* Log evidence behind the best that a sigma has at the ends of the grid, when laid and at most. */
static const double sigma_nats = 8.0;
static const double sigma_nats_least = 5.5;
/* Posterior deviation of log sigma at which one sigma does. */
static const double sigma_known_sd = 0.02;
/* A grid is laid anew when there are so many times the boots. */
static const double outgrown = 1.6;
/* Share of the evidence at a lattice's edge that calls for a wider one. */
static const double edge_share_max = 1e-3;

enum {
	/* Boots from which on three sigmas tell of the others: with 60 masses differ by less from those of all sigmas than
	 * these do from a grid four times as fine (1.5e-3 at most, 1,024 commits, a shift of one deviation), with 24 not. */
	THREE_FROM = 60,
	THREE_APART = 2, /* on the grid */
	COARSE = 24,	 /* sigmas of the first look */
	POINTS_MAX = 4096,
};

struct levels {
	struct posterior_prior prior;
	struct shift_prior shift;
	struct sd_prior noise;
	struct noise density;
	double origin; /* taken off all numbers: levels are small beside their spread then */
	double *y;
	size_t *group;
	size_t n, cap_y, cap_group, groups;
	struct aside aside;
	struct lattice *grid; /* [sigmas] */
	double *log_sigma;
	double *score;		   /* best log evidence per sigma */
	size_t sigmas, cap_sigmas; /* of cap_sigmas lattices the first are in use */
	double log_step;
	size_t laid_at;	      /* boots when the grid was laid */
	double hint, hint_sd; /* of log sigma; hint_sd 0: none */
	double edge;	      /* share of the evidence at the edges of lattices */
	struct lattice_plan plan;
	size_t *planned; /* its splits */
	struct lattice_products products;
};

void moment_mix(struct moment *into, double a, const struct moment *from, double b)
{
	double apart = into->mean - from->mean;

	if (!(b > 0.0))
		return;
	if (!(a > 0.0)) {
		*into = *from;
		return;
	}
	into->mean = a * into->mean + b * from->mean;
	into->var = a * into->var + b * from->var + a * b * apart * apart;
}

static struct shift_prior shift_of(const struct posterior_prior *prior)
{
	if (prior->known_shift > 0.0)
		return shift_prior_known(prior->known_shift);
	return shift_prior_make(0.5 * prior->min_effect, prior->max_effect);
}

struct levels *levels_new(const struct posterior_prior *prior)
{
	struct levels *l = xcalloc(1, sizeof(*l));

	l->prior = *prior;
	l->shift = shift_of(prior);
	l->noise = prior->noise;
	if (!(l->noise.df > 0.0))
		l->noise = (struct sd_prior){.sd = 2.5 * prior->min_effect, .df = 1.0};
	noise_init(&l->density, prior->outlier, prior->outlier_scale);
	return l;
}

static void drop_grid(struct levels *l)
{
	l->sigmas = 0;
}

static void make_grid(struct levels *l, size_t sigmas)
{
	l->sigmas = sigmas;
	if (sigmas <= l->cap_sigmas)
		return;
	l->grid = xreallocarray(l->grid, sigmas, sizeof(*l->grid));
	l->log_sigma = xreallocarray(l->log_sigma, sigmas, sizeof(*l->log_sigma));
	l->score = xreallocarray(l->score, sigmas, sizeof(*l->score));
	memset(l->grid + l->cap_sigmas, 0, (sigmas - l->cap_sigmas) * sizeof(*l->grid));
	l->cap_sigmas = sigmas;
}

void levels_free(struct levels *l)
{
	if (!l)
		return;
	for (size_t k = 0; k < l->cap_sigmas; k++)
		lattice_release(&l->grid[k]);
	aside_release(&l->aside);
	free(l->grid);
	free(l->log_sigma);
	free(l->score);
	free(l->y);
	free(l->group);
	noise_release(&l->density);
	lattice_plan_release(&l->plan);
	free(l->planned);
	lattice_products_release(&l->products);
	free(l);
}

void levels_hint(struct levels *l, double sigma, double sigma_sd)
{
	l->hint = log(sigma);
	l->hint_sd = sigma_sd / sigma;
}

static bool has_history(const struct levels *l)
{
	return l->prior.level_sd > 0.0;
}

void levels_add(struct levels *l, size_t group, double y)
{
	size_t n = l->n;

	if (n == 0)
		l->origin = has_history(l) ? l->prior.level : y;
	*array_push(l->y, l->n, l->cap_y) = y - l->origin;
	*array_push(l->group, n, l->cap_group) = group;
	l->groups = group >= l->groups ? group + 1 : l->groups;
	for (size_t k = 0; k < l->sigmas; k++)
		lattice_add(&l->grid[k], &l->density, group, y - l->origin);
}

/* The first of them wants a new grid, since that has no place for it. */
void levels_add_aside(struct levels *l, double y)
{
	if (!l->aside.n)
		drop_grid(l);
	aside_add(&l->aside, &l->density, y);
}

/* Boots that tell sigma. */
static double told(const struct levels *l)
{
	return (double)(l->n + l->aside.n);
}

/* Density in log sigma, up to a constant. */
static double log_sigma_prior(const struct levels *l, double log_sigma)
{
	double r = l->noise.sd / exp(log_sigma);

	return -l->noise.df * (log_sigma + 0.5 * r * r);
}

/* One side of one split. */
struct side {
	size_t n;
	double median, lo, hi;
};

struct split {
	struct side side[2];
	double sds; /* half width of its windows */
};

struct ranked {
	double y;
	size_t group;
};

static int by_y(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	return (x->y > y->y) - (x->y < y->y);
}

static struct ranked *rank_boots(const struct levels *l)
{
	struct ranked *ranked = xcalloc(l->n, sizeof(*ranked));

	for (size_t i = 0; i < l->n; i++)
		ranked[i] = (struct ranked){l->y[i], l->group[i]};
	qsort(ranked, l->n, sizeof(*ranked), by_y);
	return ranked;
}

static struct side side_of(const struct ranked *ranked, size_t n, const bool *after, bool which,
			   double *values)
{
	struct side side = {.n = 0};

	for (size_t i = 0; i < n; i++)
		if (after[ranked[i].group] == which)
			values[side.n++] = ranked[i].y;
	if (side.n == 0)
		return side;
	side.lo = values[0];
	side.hi = values[side.n - 1];
	side.median = 0.5 * (values[side.n / 2] + values[(side.n - 1) / 2]);
	return side;
}

/* Splits that are looked at, and how far each was behind the best when last seen. */
struct subset {
	size_t *split;
	double *behind;
	bool *after; /* [n][groups] */
	size_t n;
};

static void subset_release(struct subset *set)
{
	free(set->split);
	free(set->behind);
	free(set->after);
}

/* Those of n splits that are less than `most` behind the best; all when nothing is known yet. */
static void subset_init(struct subset *set, const struct levels *l, const bool *after, size_t n,
			const struct levels_fit *fit, double most)
{
	double best = -INFINITY;

	*set = (struct subset){
		.split = xcalloc(n, sizeof(*set->split)),
		.behind = xcalloc(n, sizeof(*set->behind)),
		.after = xcalloc(n * l->groups, sizeof(*set->after)),
	};
	for (size_t i = 0; fit && i < n; i++)
		best = fmax(best, fit[i].log_evidence);
	for (size_t i = 0; i < n; i++) {
		double behind = fit ? best - fit[i].log_evidence : 0.0;

		if (behind >= most)
			continue;
		memcpy(set->after + set->n * l->groups, after + i * l->groups,
		       l->groups * sizeof(*after));
		set->behind[set->n] = behind;
		set->split[set->n++] = i;
	}
}

static void list_splits(const struct subset *set, size_t groups, const struct ranked *ranked,
			size_t n, struct split *out)
{
	AUTO_FREE double *values = xcalloc(n, sizeof(*values));

	for (size_t i = 0; i < set->n; i++) {
		const bool *after = set->after + i * groups;

		out[i].sds = sqrt(2.0 * fmax(window_nats - set->behind[i], 1.0));
		for (int s = 0; s < 2; s++)
			out[i].side[s] = side_of(ranked, n, after, s == AFTER, values);
	}
}

/* Posterior deviation of the level of a side with n boots. */
static double level_sd(const struct levels *l, int s, size_t n, double sigma)
{
	double precision = (double)n / (sigma * sigma);

	if (s == BEFORE && has_history(l))
		precision += 1.0 / (l->prior.level_sd * l->prior.level_sd);
	return 1.0 / sqrt(precision);
}

static void range_cover(struct lattice_range *r, double centre, double half)
{
	r->lo = fmin(r->lo, centre - half);
	r->hi = fmax(r->hi, centre + half);
}

/* Levels at which the split does about best, or, when the sides come in the wrong order, where the
 * smallest shift allowed does. */
static void order_levels(const struct levels *l, const struct split *split, double level[2])
{
	double n0 = (double)split->side[BEFORE].n, n1 = (double)split->side[AFTER].n, pooled;

	level[BEFORE] = split->side[BEFORE].median;
	level[AFTER] = split->side[AFTER].median;
	if (n0 <= 0.0 || n1 <= 0.0 || level[AFTER] - level[BEFORE] >= l->shift.lo)
		return;
	pooled = (n0 * level[BEFORE] + n1 * level[AFTER]) / (n0 + n1);
	level[BEFORE] = pooled - l->shift.lo * n1 / (n0 + n1);
	level[AFTER] = level[BEFORE] + l->shift.lo;
}

/* Where the level of a side may lie; a few boots far apart may be an outlier each. */
static void cover_side(const struct levels *l, const struct split *split, int s, double sigma,
		       const double ordered[2], struct lattice_range *r)
{
	const struct side *side = &split->side[s];
	double half = split->sds * level_sd(l, s, side->n, sigma);

	if (s == BEFORE && has_history(l)) {
		double sd = l->prior.level_sd, w = (double)side->n * sd * sd / (sigma * sigma);

		range_cover(r, w / (1.0 + w) * (side->n ? side->median : 0.0), half);
		range_cover(r, 0.0, fmin(half, split->sds * sd));
		return;
	}
	range_cover(r, side->median, half);
	range_cover(r, ordered[s], half);
	if (side->n <= 3 && side->hi - side->lo < 60.0 * sigma) {
		range_cover(r, side->lo, split->sds * sigma);
		range_cover(r, side->hi, split->sds * sigma);
	}
}

static bool needs_points(const struct levels *l, const struct split *split, int s, double sigma)
{
	/* a level that history tells much better than the boots stays where it is, and the other
	 * with it when the shift is known */
	if (has_history(l) && (s == BEFORE || l->shift.hi <= l->shift.lo))
		return l->prior.level_sd * sqrt((double)l->n) > 0.3 * sigma;
	return split->side[s].n > 0;
}

static struct lattice_range range_at(const struct levels *l, const struct split *splits, size_t n,
				     double sigma)
{
	struct lattice_range r = {INFINITY, -INFINITY, INFINITY};

	for (size_t i = 0; i < n; i++) {
		double level[2];

		order_levels(l, &splits[i], level);
		for (int s = 0; s < 2; s++) {
			size_t boots = splits[i].side[s].n;

			if (boots || (s == BEFORE && has_history(l)))
				cover_side(l, &splits[i], s, sigma, level, &r);
			if (needs_points(l, &splits[i], s, sigma))
				r.h = fmin(r.h, level_step_sds * level_sd(l, s, boots, sigma));
		}
	}
	if (has_history(l) && l->shift.hi <= l->shift.lo)
		range_cover(&r, l->shift.lo, 0.0);
	if (isinf(r.h))
		r.h = l->shift.hi <= l->shift.lo ? l->shift.lo : level_step_sds * sigma;
	r.h = fmax(r.h, (r.hi - r.lo) / POINTS_MAX);
	return r;
}

/* lo .. hi in log sigma. */
struct stretch {
	double lo, hi, step;
};

static void lay(struct levels *l, const struct subset *set, const struct stretch *s)
{
	AUTO_FREE struct split *splits = xcalloc(set->n, sizeof(*splits));
	AUTO_FREE struct ranked *ranked = rank_boots(l);
	/* so that the order of the boots and a common offset leave the points where they are */
	double sd = l->prior.level_sd, anchor = has_history(l) ? 0.0 : ranked[l->n / 2].y;

	list_splits(set, l->groups, ranked, l->n, splits);
	make_grid(l, (size_t)fmax(0.0, ceil((s->hi - s->lo) / s->step - 1e-9)) + 1);
	l->log_step = l->sigmas > 1 ? log(s->step) : 0.0;
	l->laid_at = (size_t)told(l);
	for (size_t k = 0; k < l->sigmas; k++) {
		double sigma = exp(l->log_sigma[k] = s->lo + (double)k * s->step);
		struct lattice_range range = range_at(l, splits, set->n, sigma);

		lattice_init(&l->grid[k], sigma, &range, &l->shift, anchor, sd);
		for (size_t i = 0; i < l->n; i++)
			lattice_add(&l->grid[k], &l->density, l->group[i], l->y[i]);
	}
	aside_lay(&l->aside, &l->density, l->log_sigma, l->sigmas);
}

/* Everything between no spread at all (the prior alone then holds sigma up) and all boots being
 * one heap. */
static struct stretch all_sigmas(const struct levels *l)
{
	double n = told(l), sd = l->noise.sd, min = l->y[0], max = min, spread;
	struct stretch s;

	for (size_t i = 1; i < l->n; i++) {
		min = fmin(min, l->y[i]);
		max = fmax(max, l->y[i]);
	}
	spread = max - min + l->shift.lo;
	s.lo = log(sd * sqrt(l->noise.df / (l->noise.df + n)) / 6.0);
	s.hi = log(8.0 * fmax(sd, fmin(spread, sd * 1e4)));
	s.step = (s.hi - s.lo) / (COARSE - 1);
	return s;
}

struct look {
	const struct lattice_plan *plan;
	struct mixture *mixture; /* per split */
	double *bound;		 /* per split: the most its evidence can be */
	double best;
};

/* What split i is worth at sigma k. */
static struct sample look_at_split(struct levels *l, size_t k, size_t i, double log_scale,
				   struct look *look)
{
	const struct lattice *lattice = &l->grid[k];
	const struct lattice_products *p = &l->products;
	double top = p->top[BEFORE][i] * p->top[AFTER][i], log_z, z, edge;
	struct sample out = {.log_z = -INFINITY};

	if (!(top > 0.0))
		return out;
	out.log_scale = log_scale + p->log_scale[BEFORE][i] + p->log_scale[AFTER][i];
	log_z = out.log_scale + log(top * lattice->sigma);
	look->bound[i] = fmax(look->bound[i], log_z);
	if (log_z < look->best - far_behind)
		return out;
	if (log_z < look->best - rather_behind) {
		z = lattice_estimate(lattice, look->plan, p, i, &l->shift);
		out.log_z = z > 0.0 ? out.log_scale + log(z) : -INFINITY;
		return out;
	}
	edge = lattice_integrate(lattice, look->plan, p, i, &l->shift, &out.sum);
	if (!(out.sum.z > 0.0))
		return out;
	out.levels = true;
	out.log_z = out.log_scale + log(out.sum.z);
	look->best = fmax(look->best, out.log_z);
	if (edge > l->edge) /* the rest is 1 at most */
		l->edge = fmax(l->edge, edge * exp(out.log_z - look->best));
	return out;
}

static void take(const struct levels *l, size_t k, const struct sample *sample,
		 struct mixture *into)
{
	if (sample->levels)
		mixture_add(into, &sample->sum, sample->log_scale, l->grid[k].sigma);
	else
		mixture_add_rest(into, sample->log_z);
}

static double weight_of(const struct levels *l, size_t k)
{
	return log_sigma_prior(l, l->log_sigma[k]) - (double)l->n * l->log_sigma[k] + l->log_step +
	       aside_log(&l->aside, k);
}

static void look_at_sigma(struct levels *l, size_t k, struct look *look)
{
	double weight = weight_of(l, k);

	l->score[k] = -INFINITY;
	lattice_multiply(&l->grid[k], look->plan, &l->products);
	for (size_t i = 0; i < look->plan->splits; i++) {
		struct sample sample = look_at_split(l, k, i, weight, look);

		take(l, k, &sample, &look->mixture[i]);
		l->score[k] = fmax(l->score[k], sample.log_z);
	}
}

/* All splits at one of three sigmas. */
static void sample_sigma(struct levels *l, size_t k, struct look *look, struct sample *samples)
{
	double weight = weight_of(l, k);

	lattice_multiply(&l->grid[k], look->plan, &l->products);
	for (size_t i = 0; i < look->plan->splits; i++)
		samples[i * MIXTURE_SAMPLES] = look_at_split(l, k, i, weight, look);
}

static size_t leader_of(const struct sample *samples, size_t n)
{
	size_t best = 0;

	for (size_t i = 1; i < n; i++)
		if (samples[i * MIXTURE_SAMPLES].log_z > samples[best * MIXTURE_SAMPLES].log_z)
			best = i;
	return best;
}

/* The leader on all sigmas, the others on three. */
static void look_at_three(struct levels *l, size_t start, struct look *look)
{
	size_t n = look->plan->splits, leader;
	AUTO_FREE struct sample *samples = xcalloc(n * MIXTURE_SAMPLES, sizeof(*samples));
	CLEANUP(mixture_grid_release)
	struct mixture_grid grid = {
		.log_sigma = l->log_sigma,
		.sigmas = l->sigmas,
		.at = {start, start + THREE_APART, start - THREE_APART},
		.leader = l->score,
	};

	mixture_grid_lay(&grid);
	for (int j = 0; j < MIXTURE_SAMPLES; j++)
		sample_sigma(l, grid.at[j], look, samples + j);
	leader = leader_of(samples, n);
	for (int j = 0; j < MIXTURE_SAMPLES; j++)
		grid.log_z[j] = samples[leader * MIXTURE_SAMPLES + (size_t)j].log_z;
	for (size_t k = 0; k < l->sigmas; k++) {
		struct sample sample;

		lattice_multiply_one(&l->grid[k], look->plan, leader, &l->products);
		sample = look_at_split(l, k, leader, weight_of(l, k), look);
		take(l, k, &sample, &look->mixture[leader]);
		l->score[k] = sample.log_z;
	}
	for (size_t i = 0; i < n; i++)
		if (i != leader && !isinf(samples[i * MIXTURE_SAMPLES].log_z))
			mixture_interpolate(&look->mixture[i], &grid,
					    samples + i * MIXTURE_SAMPLES);
}

static double log_add(double a, double b)
{
	double top = fmax(a, b);

	return isinf(top) ? top : top + log(exp(a - top) + exp(b - top));
}

/* Splits that never counted are as far behind the best evidence as their bound is; those that did
 * so little that nobody asked for their levels take the best one's. */
static void fill_hopeless(const struct look *look, struct levels_fit *fit)
{
	size_t n = look->plan->splits, best = 0;
	double top = -INFINITY;

	for (size_t i = 0; i < n; i++) {
		double rest = look->mixture[i].rest;

		top = fmax(top, look->bound[i]);
		if (isinf(fit[i].log_evidence) && !isinf(rest))
			continue;
		fit[i].log_evidence = log_add(fit[i].log_evidence, rest);
		if (fit[i].log_evidence > fit[best].log_evidence)
			best = i;
	}
	for (size_t i = 0; i < n; i++)
		if (fit[i].log_evidence == -INFINITY) {
			double behind = fmin(top - look->bound[i], 1e4);
			double log_z = fit[best].log_evidence - fmax(behind, far_behind);
			double rest = look->mixture[i].rest;

			fit[i] = fit[best];
			fit[i].log_evidence = isinf(rest) ? log_z : rest;
		}
}

static size_t likeliest_sigma(const struct levels *l)
{
	size_t best = 0;

	for (size_t k = 1; k < l->sigmas; k++)
		if (l->score[k] > l->score[best])
			best = k;
	return best;
}

/* Enough of a grid about the likeliest sigma, and boots enough for it to be narrow. */
static bool three_tell(const struct levels *l, size_t start)
{
	return told(l) >= THREE_FROM && l->sigmas > 2 * MIXTURE_SAMPLES && start >= THREE_APART &&
	       start + THREE_APART < l->sigmas;
}

/* From the likeliest sigma outwards, so that hopeless splits are seen early. */
static void evaluate(struct levels *l, const struct lattice_plan *plan, size_t start,
		     struct levels_fit *fit)
{
	AUTO_FREE double *bound = xcalloc(plan->splits, sizeof(*bound));
	AUTO_FREE struct mixture *mixture = xcalloc(plan->splits, sizeof(*mixture));
	struct look look = {.plan = plan, .mixture = mixture, .bound = bound, .best = -INFINITY};

	for (size_t i = 0; i < plan->splits; i++) {
		mixture_init(&mixture[i]);
		bound[i] = -INFINITY;
	}
	l->edge = 0.0;
	if (three_tell(l, start)) {
		look_at_three(l, start, &look);
	} else {
		for (size_t k = start; k < l->sigmas; k++)
			look_at_sigma(l, k, &look);
		for (size_t k = start; k-- > 0;)
			look_at_sigma(l, k, &look);
	}
	for (size_t i = 0; i < plan->splits; i++)
		fit[i] = mixture_fit(&mixture[i]);
	fill_hopeless(&look, fit);
}

/* Where the scores of the grid at hand say that sigma lies. */
static struct stretch likely_sigmas(const struct levels *l)
{
	double top = l->score[likeliest_sigma(l)], old = exp(l->log_step);
	double sd = 1.0 / sqrt(2.0 * (told(l) + l->noise.df)), z = 0.0, x = 0.0;
	struct stretch s = {INFINITY, -INFINITY, sigma_step_sds * sd};

	for (size_t k = 0; k < l->sigmas; k++) {
		double w = exp(l->score[k] - top);

		z += w;
		x += w * l->log_sigma[k];
		if (l->score[k] < top - sigma_nats)
			continue;
		s.lo = fmin(s.lo, l->log_sigma[k] - 0.7 * old);
		s.hi = fmax(s.hi, l->log_sigma[k] + 0.7 * old);
	}
	if (sd < sigma_known_sd)
		s.lo = s.hi = x / z;
	return s;
}

/* History knows sigma far better than these boots can. */
static bool sigma_given(const struct levels *l)
{
	return l->noise.df > 20.0 * told(l) && 1.0 / sqrt(2.0 * l->noise.df) < sigma_known_sd;
}

static struct stretch next_sigmas(const struct levels *l)
{
	if (sigma_given(l))
		return (struct stretch){log(l->noise.sd), log(l->noise.sd), 1.0};
	return likely_sigmas(l);
}

static bool fits(const struct levels *l)
{
	double top = l->score[likeliest_sigma(l)];

	if (l->edge > edge_share_max)
		return false;
	return l->sigmas < 3 || (l->score[0] < top - sigma_nats_least &&
				 l->score[l->sigmas - 1] < top - sigma_nats_least);
}

/* Looks at the splits of the set alone. The others stay as far behind as they were. */
static void evaluate_set(struct levels *l, const struct subset *set, size_t n, size_t start,
			 struct levels_fit *fit)
{
	AUTO_FREE struct levels_fit *own = xcalloc(set->n, sizeof(*own));
	double before = -INFINITY, best = -INFINITY;
	size_t leader = 0, next = 0;

	if (l->plan.groups != l->groups || l->plan.splits != set->n ||
	    memcmp(l->planned, set->split, set->n * sizeof(*set->split)) != 0) {
		lattice_plan_release(&l->plan);
		lattice_plan_init(&l->plan, set->after, set->n, l->groups);
		l->planned = xreallocarray(l->planned, set->n, sizeof(*l->planned));
		memcpy(l->planned, set->split, set->n * sizeof(*set->split));
	}
	evaluate(l, &l->plan, start, own);
	for (size_t i = 0; i < n; i++)
		before = fmax(before, fit[i].log_evidence);
	for (size_t i = 0; i < set->n; i++)
		if (own[i].log_evidence > best)
			best = own[leader = i].log_evidence;
	for (size_t i = 0; i < n; i++) {
		double behind = before - fit[i].log_evidence;

		if (next < set->n && set->split[next] == i) {
			fit[i] = own[next++];
			continue;
		}
		fit[i] = own[leader];
		fit[i].log_evidence = best - behind;
	}
}

/* A first look over all sigmas, then the grid. */
static void lay_twice(struct levels *l, const bool *after, size_t n, struct levels_fit *fit)
{
	CLEANUP(subset_release) struct subset all = {0};
	CLEANUP(subset_release) struct subset counting = {0};
	struct stretch s = sigma_given(l) ? next_sigmas(l) : all_sigmas(l);

	subset_init(&all, l, after, n, NULL, INFINITY);
	lay(l, &all, &s);
	evaluate_set(l, &all, n, l->sigmas / 2, fit);
	subset_init(&counting, l, after, n, fit, far_behind);
	s = next_sigmas(l);
	lay(l, &counting, &s);
	evaluate_set(l, &all, n, l->sigmas / 2, fit);
}

/* No boots at all: what the priors say. */
static void fit_nothing(const struct levels *l, struct levels_fit *fit)
{
	double mean = shift_mean(&l->shift), var = shift_mean_sq(&l->shift) - mean * mean;
	double level = l->prior.level;
	double level_var = has_history(l) ? l->prior.level_sd * l->prior.level_sd : INFINITY;

	*fit = (struct levels_fit){
		.level0 = {level, level_var},
		.level1 = {level + mean, level_var + var},
		.shift = {mean, var},
		.sigma = {l->noise.sd, l->noise.sd * l->noise.sd / (2.0 * l->noise.df)},
	};
}

/* Few boots know too little about sigma to guess from. */
static bool guess_from_last(const struct levels *l)
{
	return l->sigmas && told(l) + l->noise.df > 12.0;
}

/* On the grid at hand; false when it no longer fits the boots. */
static bool fit_on_grid(struct levels *l, const bool *after, size_t n, struct levels_fit *fit)
{
	CLEANUP(subset_release) struct subset set = {0};

	if (!l->sigmas || told(l) >= outgrown * (double)l->laid_at + 1.0)
		return false;
	subset_init(&set, l, after, n, fit, far_behind);
	evaluate_set(l, &set, n, likeliest_sigma(l), fit);
	return fits(l);
}

/* On a new grid that the old one suggests; false when that cannot be. */
static bool fit_on_next_grid(struct levels *l, const bool *after, size_t n, struct levels_fit *fit)
{
	CLEANUP(subset_release) struct subset all = {0};
	CLEANUP(subset_release) struct subset counting = {0};
	struct stretch s;

	if (!guess_from_last(l))
		return false;
	subset_init(&all, l, after, n, NULL, INFINITY);
	evaluate_set(l, &all, n, likeliest_sigma(l), fit);
	subset_init(&counting, l, after, n, fit, far_behind);
	s = next_sigmas(l);
	lay(l, &counting, &s);
	evaluate_set(l, &all, n, l->sigmas / 2, fit);
	return fits(l);
}

/* On a grid about the hint, for the splits that counted in the fit which it came from or nearly
 * did; false when there is none or it does not fit the boots. */
static bool fit_as_hinted(struct levels *l, const bool *after, size_t n, struct levels_fit *fit)
{
	CLEANUP(subset_release) struct subset set = {0};
	double sd = fmax(l->hint_sd, 1.0 / sqrt(2.0 * (told(l) + l->noise.df)));
	struct stretch s = {l->hint - 4.2 * sd, l->hint + 4.2 * sd, sigma_step_sds * sd};

	if (l->sigmas || !(l->hint_sd > 0.0))
		return false;
	subset_init(&set, l, after, n, fit, 2.0 * far_behind);
	for (size_t i = 0; i < set.n; i++)
		set.behind[i] *= 0.5;
	lay(l, &set, &s);
	evaluate_set(l, &set, n, l->sigmas / 2, fit);
	return fits(l);
}

void levels_fit(struct levels *l, const bool *after, size_t n, struct levels_fit *fit)
{
	if (l->n == 0) {
		for (size_t i = 0; i < n; i++)
			fit_nothing(l, &fit[i]);
		return;
	}
	if (!fit_as_hinted(l, after, n, fit) && !fit_on_grid(l, after, n, fit) &&
	    !fit_on_next_grid(l, after, n, fit) && !fit_on_next_grid(l, after, n, fit))
		lay_twice(l, after, n, fit);
	for (size_t i = 0; i < n; i++) {
		fit[i].level0.mean += l->origin;
		fit[i].level1.mean += l->origin;
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Likelihoods on a lattice of levels. */
#include "stats/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Rows and products fall by about this much before they are scaled up again. */
static const double small = 1e-100;
static const float small_product = 1e-15f;
/* Points whose value is less than this share of the largest are left out of the sums. */
static const double nothing = 1e-6;

/* No fused multiply-add: the same seed gives the same answer on every machine. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* Eight numbers at a time; rows are aligned to 4 only. */
typedef float lanes __attribute__((vector_size(32), aligned(4), may_alias));
typedef int32_t lane_marks __attribute__((vector_size(32), aligned(4), may_alias));
/* Halves of those. */
typedef float half_lanes __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t half_marks __attribute__((vector_size(16), aligned(4), may_alias));
typedef int64_t wide_marks __attribute__((vector_size(32), aligned(4), may_alias));

/* Three or four sums at once. */
typedef double wide_lanes __attribute__((vector_size(32)));

/* Those elements of a, and behind them of b. */
#ifdef __clang__
#define PICK(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define PICK(a, b, ...) __builtin_shuffle(a, b, (half_marks){__VA_ARGS__})
#endif

/* Inlined into clones for wider machines. */
#define WITHIN static inline __attribute__((always_inline))

WITHIN void keep_larger(lanes *top, const lanes *v)
{
	lane_marks m = *v > *top;

	*top = (lanes)(((lane_marks)*v & m) | ((lane_marks)*top & ~m));
}

WITHIN void take_halves(const lanes *v, half_lanes *low, half_lanes *high)
{
	memcpy(low, v, sizeof(*low));
	memcpy(high, (const char *)v + sizeof(*low), sizeof(*high));
}

WITHIN float largest_lane(const lanes *v)
{
	half_lanes a, b;
	half_marks m;
	float x, y;

	take_halves(v, &a, &b);
	m = a > b;
	a = (half_lanes)(((half_marks)a & m) | ((half_marks)b & ~m));
	x = a[0] > a[1] ? a[0] : a[1];
	y = a[2] > a[3] ? a[2] : a[3];
	return x > y ? x : y;
}

/* The hats' moments, and all of it mirrored. */
static void lay_moments(struct lattice *l, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double d = ((double)i - (double)l->points) * l->h;

		l->hat[n + i] = (float)(l->hat[i] * d);
		l->hat[2 * n + i] = (float)(l->hat[i] * d * d);
	}
	for (size_t k = 0; k < 3; k++)
		for (size_t i = 0; i < n; i++)
			l->hat[(3 + k) * n + i] = l->hat[k * n + n - 1 - i];
}

/* The hats' integrals against the prior, less a twelfth of their second difference: a hat is wider
 * than a point by h^2 / 12 a side. */
static void lay_hats(struct lattice *l, const struct shift_prior *shift)
{
	size_t n = 2 * l->points + 1;
	AUTO_FREE double *ramp = xcalloc(n + 4, sizeof(*ramp));
	AUTO_FREE double *hat = xcalloc(n + 2, sizeof(*hat));

	l->hat = xcalloc(6 * n, sizeof(*l->hat));
	if (shift->hi <= shift->lo) {
		size_t at = (size_t)lround(shift->lo / l->h) + l->points;

		l->one_shift = true;
		if (at < n)
			l->hat[at] = 1.0f;
		lay_moments(l, n);
		return;
	}
	for (size_t i = 0; i < n + 4; i++)
		ramp[i] = shift_ramp(shift, ((double)i - 2.0 - (double)l->points) * l->h) / l->h;
	for (size_t i = 0; i < n + 2; i++)
		hat[i] = ramp[i] - 2.0 * ramp[i + 1] + ramp[i + 2];
	for (size_t i = 0; i < n; i++)
		l->hat[i] = (float)(hat[i + 1] - (hat[i] - 2.0 * hat[i + 1] + hat[i + 2]) / 12.0);
	lay_moments(l, n);
}

static void lay_history(struct lattice *l, double level, double sd)
{
	double sum = 0.0;

	l->history = xcalloc(l->points, sizeof(*l->history));
	for (size_t i = 0; i < l->points; i++) {
		double z = (l->from + (double)i * l->h - level) / sd;

		sum += l->history[i] = exp(-0.5 * z * z);
	}
	for (size_t i = 0; sum > 0.0 && i < l->points; i++)
		l->history[i] /= sum * l->h;
}

/* n is a multiple of the lanes. */
WIDE static double largest(const double *v, size_t n)
{
	double top[LATTICE_LANES] = {0};

	for (size_t i = 0; i < n; i += LATTICE_LANES)
		for (size_t k = 0; k < LATTICE_LANES; k++)
			top[k] = v[i + k] > top[k] ? v[i + k] : top[k];
	for (size_t k = 1; k < LATTICE_LANES; k++)
		top[0] = top[k] > top[0] ? top[k] : top[0];
	return top[0];
}

/* What products of rows begin with. */
static void lay_starts(struct lattice *l)
{
	double top = l->history ? largest(l->history, l->points) : 1.0;

	l->ones = xcalloc(2 * l->points, sizeof(*l->ones));
	l->first = l->ones + l->points;
	l->log_first = log(top);
	for (size_t i = 0; i < l->points; i++) {
		l->ones[i] = 1.0f;
		l->first[i] = l->history ? (float)(l->history[i] / top) : 1.0f;
	}
}

void lattice_init(struct lattice *l, double sigma, const struct lattice_range *range,
		  const struct shift_prior *shift, double level, double history_sd)
{
	struct lattice old = *l;
	double h = range->h, first;

	if (shift->hi <= shift->lo)
		h = shift->lo / ceil(shift->lo / h);
	/* known levels are points of the lattice */
	first = floor((range->lo - level) / h);
	free(old.hat);
	free(old.history);
	free(old.ones);
	/* rows are large: fresh pages for them would cost more than filling them */
	*l = (struct lattice){
		.sigma = sigma,
		.h = h,
		.from = level + first * h,
		.edge = {shift->lo / h, shift->hi / h},
		.row = old.row,
		.narrow = old.narrow,
		.room = old.room,
		.log_scale = old.log_scale,
		.log_narrow = old.log_narrow,
		.cap = old.cap,
	};
	l->points = (size_t)ceil((range->hi - l->from) / h) + 1;
	l->points += -l->points % LATTICE_LANES;
	lay_hats(l, shift);
	if (history_sd > 0.0)
		lay_history(l, level, history_sd);
	lay_starts(l);
}

void lattice_release(struct lattice *l)
{
	free(l->row);
	free(l->log_scale);
	free(l->narrow);
	free(l->log_narrow);
	free(l->hat);
	free(l->history);
	free(l->ones);
	*l = (struct lattice){0};
}

static void ensure_group(struct lattice *l, size_t group)
{
	if (group < l->groups)
		return;
	if (l->points * (group + 1) > l->room) {
		if (!l->groups) { /* of an earlier use: not worth copying */
			mem_free_ptr(&l->row);
			mem_free_ptr(&l->narrow);
		}
		l->room = l->points * (group * 2 + 64);
		l->row = xreallocarray(l->row, l->room, sizeof(*l->row));
		l->narrow = xreallocarray(l->narrow, l->room, sizeof(*l->narrow));
	}
	if (group >= l->cap) {
		l->cap = group * 2 + 16;
		l->log_scale = xreallocarray(l->log_scale, l->cap, sizeof(*l->log_scale));
		l->log_narrow = xreallocarray(l->log_narrow, l->cap, sizeof(*l->log_narrow));
	}
	for (; l->groups <= group; l->groups++) {
		l->log_scale[l->groups] = 0.0;
		for (size_t i = 0; i < l->points; i++)
			l->row[l->groups * l->points + i] = 1.0;
	}
}

/* exp(-z^2 / 2) over points of z that are b apart, from z on: the ratio of neighbours falls by
 * a constant factor. */
struct bell {
	double value, ratio, factor;
};

static struct bell bell_at(double z, double b)
{
	return (struct bell){exp(-0.5 * z * z), exp(-b * z - 0.5 * b * b), exp(-b * b)};
}

static void bell_step(struct bell *bell)
{
	bell->value *= bell->ratio;
	bell->ratio *= bell->factor;
}

/* Multiplies n points of the row, `stride` apart (1 or -1), the nearest to the boot first. */
static void multiply_run(const struct noise *noise, double *row, long stride, size_t n, double z,
			 double b)
{
	double k = noise->outlier_scale, far = exp(-0.5 * NOISE_FAR_OUT * NOISE_FAR_OUT);
	struct bell narrow = bell_at(z, b), broad = bell_at(z / k, b / k);

	for (size_t i = 0; i < n; i++, row += stride) {
		/* level beyond the end, see stats/noise.c; the narrow part is nothing there */
		*row *= (1.0 - noise->outlier) * narrow.value +
			noise->outlier / k * (broad.value > far ? broad.value : far);
		bell_step(&narrow);
		bell_step(&broad);
	}
}

static void scale_up(double *v, size_t n, double top, double *log_scale)
{
	for (size_t i = 0; i < n; i++)
		v[i] /= top;
	*log_scale += log(top);
}

WIDE static void narrow_row(float *into, const double *row, size_t n, double scale)
{
	for (size_t i = 0; i < n; i++)
		into[i] = (float)(row[i] * scale);
}

void lattice_add(struct lattice *l, const struct noise *noise, size_t group, double y)
{
	double at = (y - l->from) / l->h, b = l->h / l->sigma, top;
	size_t near = at <= 0.0 ? 0 : at >= (double)(l->points - 1) ? l->points - 1 : (size_t)at;
	double *row;

	ensure_group(l, group);
	row = l->row + group * l->points;
	multiply_run(noise, row + near, -1, near + 1, (at - (double)near) * b, b);
	if (near + 1 < l->points)
		multiply_run(noise, row + near + 1, 1, l->points - near - 1,
			     ((double)near + 1.0 - at) * b, b);
	top = largest(row, l->points);
	if (top < small && top > 0.0) {
		scale_up(row, l->points, top, &l->log_scale[group]);
		top = 1.0;
	}
	narrow_row(l->narrow + group * l->points, row, l->points, 1.0 / top);
	l->log_narrow[group] = l->log_scale[group] + log(top);
}

static size_t bits_in(const uint64_t *set, size_t words)
{
	size_t n = 0;

	for (size_t w = 0; w < words; w++)
		n += (size_t)__builtin_popcountll(set[w]);
	return n;
}

static bool within(const uint64_t *a, const uint64_t *b, size_t words)
{
	for (size_t w = 0; w < words; w++)
		if (a[w] & ~b[w])
			return false;
	return true;
}

struct sized {
	size_t n, split;
};

static int by_size(const void *a, const void *b)
{
	const struct sized *x = a, *y = b;

	if (x->n != y->n)
		return x->n < y->n ? -1 : 1;
	return (x->split > y->split) - (x->split < y->split);
}

/* Small sets first, each from the largest one that it contains. */
static void plan_side(struct lattice_plan *plan, int s)
{
	AUTO_FREE struct sized *sized = xcalloc(plan->splits, sizeof(*sized));
	size_t words = plan->words;

	for (size_t i = 0; i < plan->splits; i++)
		sized[i] = (struct sized){bits_in(plan->set[s] + i * words, words), i};
	qsort(sized, plan->splits, sizeof(*sized), by_size);
	for (size_t i = 0; i < plan->splits; i++) {
		size_t split = sized[i].split;
		const uint64_t *own = plan->set[s] + split * words;

		plan->order[s][i] = split;
		plan->from[s][split] = split;
		plan->any[s][split] = sized[i].n > 0;
		for (size_t k = i; k-- > 0 && plan->from[s][split] == split;)
			if (within(plan->set[s] + sized[k].split * words, own, words))
				plan->from[s][split] = sized[k].split;
	}
}

void lattice_plan_init(struct lattice_plan *plan, const bool *after, size_t splits, size_t groups)
{
	size_t words = (groups + 63) / 64;

	*plan = (struct lattice_plan){.splits = splits, .groups = groups, .words = words};
	for (int s = 0; s < 2; s++) {
		plan->set[s] = xcalloc(splits * words, sizeof(**plan->set));
		plan->from[s] = xcalloc(splits, sizeof(**plan->from));
		plan->order[s] = xcalloc(splits, sizeof(**plan->order));
		plan->any[s] = xcalloc(splits, sizeof(**plan->any));
	}
	for (size_t i = 0; i < splits; i++)
		for (size_t g = 0; g < groups; g++)
			plan->set[after[i * groups + g] ? AFTER : BEFORE][i * words + g / 64] |=
				UINT64_C(1) << (g % 64);
	for (int s = 0; s < 2; s++)
		plan_side(plan, s);
}

void lattice_plan_release(struct lattice_plan *plan)
{
	for (int s = 0; s < 2; s++) {
		free(plan->set[s]);
		free(plan->from[s]);
		free(plan->order[s]);
		free(plan->any[s]);
	}
}

static void make_room(struct lattice_products *p, size_t points, size_t splits)
{
	if (p->cap < points * splits) {
		p->cap = points * splits * 2;
		for (int s = 0; s < 2; s++)
			p->value[s] = xreallocarray(p->value[s], p->cap, sizeof(**p->value));
	}
	if (p->cap_splits >= splits)
		return;
	p->cap_splits = splits * 2;
	for (int s = 0; s < 2; s++) {
		p->log_scale[s] =
			xreallocarray(p->log_scale[s], p->cap_splits, sizeof(**p->log_scale));
		p->top[s] = xreallocarray(p->top[s], p->cap_splits, sizeof(**p->top));
	}
}

/* into = from x row; returns the largest. */
WITHIN float multiply_row(float *into, const float *from, const float *row, size_t points)
{
	lanes top = {0};

	for (size_t i = 0; i < points; i += LATTICE_LANES) {
		lanes v = *(const lanes *)(from + i) * *(const lanes *)(row + i);

		*(lanes *)(into + i) = v;
		keep_larger(&top, &v);
	}
	return largest_lane(&top);
}

WITHIN float scale_product(float *v, size_t points, float top, double *log_scale)
{
	if (top >= small_product || !(top > 0.0f))
		return top;
	for (size_t i = 0; i < points; i++)
		v[i] /= top;
	*log_scale += log((double)top);
	return 1.0f;
}

/* into = from, whose largest is top, x the rows of the groups in set that are not in had; returns its largest. */
WIDE static float multiply_set(const struct lattice *l, const uint64_t *set, const uint64_t *had,
			       size_t words, const float *from, float top, float *into,
			       double *log_scale)
{
	for (size_t w = 0; w < words; w++)
		for (uint64_t b = set[w] & ~(had ? had[w] : 0); b; b &= b - 1) {
			size_t g = w * 64 + (size_t)__builtin_ctzll(b);

			top = multiply_row(into, from, l->narrow + g * l->points, l->points);
			*log_scale += l->log_narrow[g];
			top = scale_product(into, l->points, top, log_scale);
			from = into;
		}
	if (from != into)
		memcpy(into, from, l->points * sizeof(*into));
	return top;
}

/* Over the product of another split; of itself: over nothing. */
static void multiply_split(const struct lattice *l, const struct lattice_plan *plan,
			   struct lattice_products *p, int s, size_t split, size_t from)
{
	const uint64_t *set = plan->set[s] + split * plan->words, *had = NULL;
	double *log_scale = &p->log_scale[s][split];
	float *into = p->value[s] + split * l->points, top;
	const float *start;

	if (from == split) { /* over nothing but what history knows */
		*log_scale = s == BEFORE ? l->log_first : 0.0;
		top = 1.0f;
		start = s == BEFORE ? l->first : l->ones;
	} else {
		*log_scale = p->log_scale[s][from];
		top = (float)p->top[s][from];
		start = p->value[s] + from * l->points;
		had = plan->set[s] + from * plan->words;
	}
	p->top[s][split] = multiply_set(l, set, had, plan->words, start, top, into, log_scale);
}

void lattice_multiply(const struct lattice *l, const struct lattice_plan *plan,
		      struct lattice_products *p)
{
	make_room(p, l->points, plan->splits);
	for (int s = 0; s < 2; s++)
		for (size_t i = 0; i < plan->splits; i++)
			multiply_split(l, plan, p, s, plan->order[s][i],
				       plan->from[s][plan->order[s][i]]);
}

void lattice_multiply_one(const struct lattice *l, const struct lattice_plan *plan, size_t split,
			  struct lattice_products *p)
{
	make_room(p, l->points, plan->splits);
	for (int s = 0; s < 2; s++)
		multiply_split(l, plan, p, s, split, split);
}

void lattice_products_release(struct lattice_products *p)
{
	for (int s = 0; s < 2; s++) {
		free(p->value[s]);
		free(p->log_scale[s]);
		free(p->top[s]);
	}
}

/* The points that count. */
struct span {
	const float *v;
	size_t first, end;
	float top; /* largest value */
};

WITHIN bool any_above(const float *v, const lanes *least)
{
	lane_marks m = *(const lanes *)v > *least;
	wide_marks w = (wide_marks)m;

	return (w[0] | w[1] | w[2] | w[3]) != 0;
}

/* Takes off what is not above least at both ends. */
WITHIN void narrow_to(struct span *span, float least)
{
	lanes all = least - (lanes){0};

	while (span->first + LATTICE_LANES < span->end && !any_above(span->v + span->first, &all))
		span->first += LATTICE_LANES;
	while (span->end > span->first + LATTICE_LANES &&
	       !any_above(span->v + span->end - LATTICE_LANES, &all))
		span->end -= LATTICE_LANES;
	while (span->first + 1 < span->end && span->v[span->first] <= least)
		span->first++;
	while (span->end > span->first + 1 && span->v[span->end - 1] <= least)
		span->end--;
}

WITHIN struct span span_of(const struct lattice *l, const struct lattice_products *p, int s,
			   size_t split)
{
	struct span span = {p->value[s] + split * l->points, 0, l->points, (float)p->top[s][split]};

	narrow_to(&span, (float)(nothing * p->top[s][split]));
	return span;
}

static double sum_one_side(const struct lattice *l, int s, const struct span *span,
			   const struct shift_prior *shift, struct sums *sum)
{
	double mean = shift_mean(shift), mean_sq = shift_mean_sq(shift);
	double other = s == BEFORE ? mean : -mean, x1 = 0.0, x2 = 0.0, z = 0.0, edge;

	for (size_t i = span->first; i < span->end; i++) {
		double x = l->from + (double)i * l->h, p = (double)span->v[i] * l->h;

		z += p;
		x1 += p * x;
		x2 += p * x * x;
	}
	*sum = (struct sums){.z = z, .d = z * mean, .dd = z * mean_sq};
	*(s == BEFORE ? &sum->x0 : &sum->x1) = x1;
	*(s == BEFORE ? &sum->xx0 : &sum->xx1) = x2;
	*(s == BEFORE ? &sum->x1 : &sum->x0) = x1 + z * other;
	*(s == BEFORE ? &sum->xx1 : &sum->xx0) = x2 + 2.0 * x1 * other + z * mean_sq;
	edge = (double)(span->v[0] + span->v[l->points - 1]) * l->h;
	return z > 0.0 ? edge / z : 0.0;
}

WITHIN half_lanes half_sums(const lanes *v)
{
	half_lanes low, high;

	take_halves(v, &low, &high);
	return low + high;
}

/* sum_lanes() of each, in the same order of additions; the fourth is the third again. */
WITHIN void sum_three(const lanes *x, const lanes *y, const lanes *z, wide_lanes *sums)
{
	half_lanes a = half_sums(x), b = half_sums(y), c = half_sums(z);
	half_lanes ab = PICK(a, b, 0, 2, 4, 6) + PICK(a, b, 1, 3, 5, 7);
	half_lanes cc = PICK(c, c, 0, 2, 4, 6) + PICK(c, c, 1, 3, 5, 7);
	half_lanes all = PICK(ab, cc, 0, 2, 4, 6) + PICK(ab, cc, 1, 3, 5, 7);

	*sums = __builtin_convertvector(all, wide_lanes);
}

WITHIN double sum_lanes(const lanes *v)
{
	half_lanes a = half_sums(v);

	return (double)((a[0] + a[1]) + (a[2] + a[3]));
}

/* Both sides have boots or history: every pair of levels, weighted by the prior of their
 * difference. The side that is known less well is the outer one, and not all of its points are
 * needed. The inner one comes eight points at a time. */
struct pairs {
	struct span outer, inner;
	size_t stride;	  /* of the outer side */
	const float *hat; /* so that hat[j - i] belongs to outer i and inner j */
	size_t n;	  /* from one moment's hats to the next */
	bool mirrored;	  /* outer is the side after */
};

/* The trapezoid rule is as good as exact while its points are less than a deviation apart. */
static const double step_sds = 1.2;
/* A normal curve is above this share of its largest within two deviations. */
static const double two_sds = 0.1353;
/* Share of the outer side's largest at which an end of the prior matters: below it a jump there
 * is less than what the rule is off by. */
static const double edge_counts = 1e-3;

/* The part of a span that has most of it, whatever the tails that outliers make. */
WITHIN struct span core_of(const struct span *span)
{
	struct span core = *span;

	narrow_to(&core, (float)two_sds * span->top);
	return core;
}

/* Points of it above that: a side divided between two levels has two peaks, no wider for the gap. */
WITHIN size_t core_points(const struct span *core)
{
	float least = (float)two_sds * core->top;
	size_t n = 0;

	for (size_t i = core->first; i < core->end; i++)
		n += core->v[i] > least;
	return n;
}

WITHIN double middle(const struct span *span)
{
	return 0.5 * (double)(span->first + span->end);
}

/* Whether this shift, seen from the inner side, falls where the outer side is likely. */
WITHIN bool meets(const struct pairs *p, const struct span *inner, double shift)
{
	double width = (double)(inner->end - inner->first);
	double at = middle(inner) + (p->mirrored ? shift : -shift);
	double from = fmax(at - width, (double)p->outer.first);
	double to = fmin(at + width, (double)p->outer.end - 1.0);
	float least = (float)edge_counts * p->outer.top;

	for (double x = from; x <= to; x += fmax(1.0, 0.25 * width))
		if (p->outer.v[(size_t)x] > least)
			return true;
	return false;
}

/* Whether the levels are apart by a shift beyond an end of the prior, or nearly. */
WITHIN bool meets_end(const struct lattice *l, const struct pairs *p, const struct span *inner,
		      const struct span *outer)
{
	double apart = p->mirrored ? middle(outer) - middle(inner) : middle(inner) - middle(outer);

	return apart < l->edge[0] || apart > l->edge[1] || meets(p, inner, l->edge[0]) ||
	       meets(p, inner, l->edge[1]);
}

/* By the deviation of the outer side, as long as the weight of its points is smooth: where an end of
 * the prior counts there is a jump, blurred by the inner side. */
WITHIN size_t stride_of(const struct lattice *l, const struct pairs *p)
{
	struct span inner, outer;
	double width;

	/* too few for two: a core has some two fifths of its span */
	if (l->one_shift || (double)(p->outer.end - p->outer.first) * 0.1 * step_sds < 2.0)
		return 1;
	inner = core_of(&p->inner);
	outer = core_of(&p->outer);
	width = (double)core_points(&outer);
	if (meets_end(l, p, &inner, &outer))
		width = fmin(width, (double)core_points(&inner));
	return (size_t)fmax(1.0, 0.25 * step_sds * width);
}

/* As few lanes as hold the span; rows are whole numbers of lanes, so they are there. */
WITHIN void whole_lanes(const struct lattice *l, struct span *span)
{
	size_t n = span->end - span->first;

	n += -n % LATTICE_LANES;
	if (span->first + n > l->points)
		span->first = l->points - n;
	span->end = span->first + n;
}

WITHIN struct pairs pairs_of(const struct lattice *l, const struct span *before,
			     const struct span *after)
{
	bool mirrored = after->end - after->first > before->end - before->first;
	struct pairs p = {
		.outer = mirrored ? *after : *before,
		.inner = mirrored ? *before : *after,
		.n = 2 * l->points + 1,
		.mirrored = mirrored,
	};

	p.stride = stride_of(l, &p);
	whole_lanes(l, &p.inner);
	p.hat = l->hat + l->points + (mirrored ? 3 * p.n : 0);
	return p;
}

WITHIN void sum_inner(const struct pairs *p, size_t i, wide_lanes *moments)
{
	const float *hat = p->hat - i;
	lanes s0 = {0}, s1 = {0}, s2 = {0};

	for (size_t j = p->inner.first; j < p->inner.end; j += LATTICE_LANES) {
		lanes v = *(const lanes *)(p->inner.v + j);

		s0 += v * *(const lanes *)(hat + j);
		s1 += v * *(const lanes *)(hat + p->n + j);
		s2 += v * *(const lanes *)(hat + 2 * p->n + j);
	}
	sum_three(&s0, &s1, &s2, moments);
}

WITHIN double sum_inner_total(const struct pairs *p, size_t i)
{
	const float *hat = p->hat - i;
	lanes s0 = {0};

	for (size_t j = p->inner.first; j < p->inner.end; j += LATTICE_LANES)
		s0 += *(const lanes *)(p->inner.v + j) * *(const lanes *)(hat + j);
	return sum_lanes(&s0);
}

WITHIN double edge_of(const struct lattice *l, const struct pairs *p, size_t i)
{
	const float *hat = p->hat - i;
	size_t last = l->points - 1;

	return (double)(p->inner.v[last] * hat[last] + p->inner.v[0] * hat[0]);
}

WITHIN double sum_two_sides(const struct lattice *l, const struct span *before,
			    const struct span *after, struct sums *sum)
{
	struct pairs p = pairs_of(l, before, after);
	wide_lanes sums = {0}, sums_at = {0},
		   sums_at2 = {0}; /* of hat, its moment, its second moment */
	double w = l->h * (double)p.stride, z, x, xx, d, xd, dd, edge = 0.0, other, others;

	for (size_t i = p.outer.first; i < p.outer.end; i += p.stride) {
		double v = (double)p.outer.v[i], at = l->from + (double)i * l->h;
		wide_lanes m;

		sum_inner(&p, i, &m);
		m *= v;
		sums += m;
		if (i == 0 || i + p.stride >= l->points)
			edge += m[0];
		m *= at;
		sums_at += m;
		sums_at2 += m * at;
		edge += v * edge_of(l, &p, i);
	}
	z = sums[0], d = sums[1], dd = sums[2];
	x = sums_at[0], xd = sums_at[1], xx = sums_at2[0];
	/* the inner level is the outer one and the difference, up or down */
	other = p.mirrored ? x - d : x + d;
	others = xx + (p.mirrored ? -2.0 : 2.0) * xd + dd;
	*sum = (struct sums){.z = w * z, .d = w * d, .dd = w * dd};
	sum->x0 = w * (p.mirrored ? other : x);
	sum->xx0 = w * (p.mirrored ? others : xx);
	sum->x1 = w * (p.mirrored ? x : other);
	sum->xx1 = w * (p.mirrored ? xx : others);
	return z > 0.0 ? edge / z : 0.0;
}

WIDE static double integrate(const struct lattice *l, const struct lattice_plan *plan,
			     const struct lattice_products *p, size_t split,
			     const struct shift_prior *shift, struct sums *sum)
{
	struct span before = span_of(l, p, BEFORE, split), after = span_of(l, p, AFTER, split);
	bool lower = plan->any[BEFORE][split] || l->history;

	if (lower && plan->any[AFTER][split])
		return sum_two_sides(l, &before, &after, sum);
	return sum_one_side(l, lower ? BEFORE : AFTER, lower ? &before : &after, shift, sum);
}

/* Clones are static: clang 14 calls those of another file by a name that they do not have there. */
double lattice_integrate(const struct lattice *lattice, const struct lattice_plan *plan,
			 const struct lattice_products *products, size_t split,
			 const struct shift_prior *shift, struct sums *sum)
{
	return integrate(lattice, plan, products, split, shift, sum);
}

WIDE static double estimate(const struct lattice *l, const struct lattice_plan *plan,
			    const struct lattice_products *p, size_t split,
			    const struct shift_prior *shift)
{
	struct span before = span_of(l, p, BEFORE, split), after = span_of(l, p, AFTER, split);
	bool lower = plan->any[BEFORE][split] || l->history;
	struct pairs pairs;
	double sum = 0.0;

	if (!lower || !plan->any[AFTER][split]) {
		struct sums sums;

		sum_one_side(l, lower ? BEFORE : AFTER, lower ? &before : &after, shift, &sums);
		return sums.z;
	}
	pairs = pairs_of(l, &before, &after);
	for (size_t i = pairs.outer.first; i < pairs.outer.end; i += pairs.stride)
		sum += (double)pairs.outer.v[i] * sum_inner_total(&pairs, i);
	return sum * l->h * (double)pairs.stride;
}

double lattice_estimate(const struct lattice *lattice, const struct lattice_plan *plan,
			const struct lattice_products *products, size_t split,
			const struct shift_prior *shift)
{
	return estimate(lattice, plan, products, split, shift);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The next boot, and the end. */
#include "stats/select.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/information.h"

const char *select_reason_name(enum select_reason reason)
{
	static const char *const names[] = {
		[SELECT_NOTHING] = "nothing",
		[SELECT_SPLIT] = "split",
		[SELECT_LEVEL_BEFORE] = "level-before",
		[SELECT_LEVEL_AFTER] = "level-after",
	};

	return names[reason];
}

static double plogp(double p)
{
	return p > 0.0 ? p * log2(p) : 0.0;
}

static double binary_entropy(double p)
{
	return -plogp(p) - plogp(1.0 - p);
}

/* I = p E1[log2(f1/m)] + (1-p) E0[log2(f0/m)], m = p f1 + (1-p) f0; trapezoid rule over the
 * standard normal, which is exact to 1e-6 for such smooth integrands. */
double select_capacity(double after, double d)
{
	enum {
		HALF = 28
	};
	const double step = 0.25;
	double p = after, q = 1.0 - after, sum = 0.0;

	if (!(p > 0.0) || !(q > 0.0))
		return 0.0;
	for (int i = -HALF; i <= HALF; i++) {
		double z = i * step, w = exp(-0.5 * z * z) * step / sqrt(2.0 * M_PI);
		double llr1 = d * z + 0.5 * d * d; /* log f1/f0 where f1 put it */
		double llr0 = d * z - 0.5 * d * d;

		sum -= w * p * log2(p + q * exp(-llr1));
		sum -= w * q * log2(q + p * exp(llr0));
	}
	return fmin(fmax(sum, 0.0), binary_entropy(p));
}

double select_yardstick(size_t n, double d)
{
	return log2((double)n) / select_capacity(0.5, d) + 11.0 / (d * d);
}

/* A node that booted once is taken again rather than a new one that would tell as much within so
 * little: it has an image, and boots. */
static const double known_image = 1.04;

enum {
	PENDING_MAX = 3, /* foreseen; more only count against the ends */
	SIGNS = 1 << PENDING_MAX,
	BINS = 8,
	SHORTLIST_MAX = BINS + 2,
};

/* Close to select_capacity() and much cheaper: d^2 p q / 2 nats for small d, the entropy of the
 * split for large ones. Off by at most 6 % between d = 0.5 and 4 at p = 1/2. */
static double rough_bits(double after, double d)
{
	double entropy = after > 0.0 && after < 1.0 ? binary_entropy(after) : 0.0;

	if (!(entropy > 1e-12))
		return 0.0;
	return entropy * (1.0 - exp(-d * d * after * (1.0 - after) / (2.0 * M_LN2 * entropy)));
}

static bool levels_known(const struct posterior *post)
{
	double doubt = hypot(post->shift_sd, post->level0_sd);

	return post->level_known && doubt < 0.03 * post->sigma;
}

/* The boots that run, and what they may tell: sign[h] has bit i when hypothesis h has the node of
 * pending boot i after it. */
struct foresight {
	size_t node[PENDING_MAX];
	size_t n;
	double told[PENDING_MAX]; /* chance that the boot reveals its node's side */
	unsigned char *sign;
};

static void foresee(struct foresight *f, const struct posterior *post, const size_t *pending)
{
	for (size_t i = 0; pending && i < post->nodes; i++)
		for (size_t k = 0; k < pending[i] && f->n < PENDING_MAX; k++)
			f->node[f->n++] = i;
	if (!f->n)
		return;
	f->sign = xcalloc(post->hypotheses, sizeof(*f->sign));
	for (size_t i = 0; i < f->n; i++) {
		double after = post->after[f->node[i]], entropy = binary_entropy(after);
		double bits = rough_bits(after, post->shift / post->sigma);

		f->told[i] = entropy > 1e-9 ? fmin(bits / entropy, 1.0) : 0.0;
		for (size_t h = 0; h < post->hypotheses; h++)
			if (sides_after(post->sides, h, f->node[i]))
				f->sign[h] |= (unsigned char)(1 << i);
	}
}

/* Bits of a split when the first n pending boots have yet to tell, or not to tell, their side.
 * upper and all are the masses per sign that are still possible. */
static double bits_foreseen(const struct foresight *f, size_t n, const double *all,
			    const double *upper, double d)
{
	double given_all[SIGNS], given_upper[SIGNS], sum_all = 0.0, sum_upper = 0.0, bits;

	for (size_t s = 0; s < SIGNS; s++) {
		sum_all += all[s];
		sum_upper += upper[s];
	}
	if (!(sum_all > 1e-6))
		return 0.0;
	if (n == 0)
		return sum_all * rough_bits(fmin(sum_upper / sum_all, 1.0), d);
	bits = (1.0 - f->told[n - 1]) * bits_foreseen(f, n - 1, all, upper, d);
	for (unsigned side = 0; f->told[n - 1] > 0.0 && side < 2; side++) {
		for (size_t s = 0; s < SIGNS; s++) {
			bool fits = ((s >> (n - 1)) & 1) == side;

			given_all[s] = fits ? all[s] : 0.0;
			given_upper[s] = fits ? upper[s] : 0.0;
		}
		bits += f->told[n - 1] * bits_foreseen(f, n - 1, given_all, given_upper, d);
	}
	return bits;
}

/* The share of a node's bits that the pending boots will leave. */
static double share_left(const struct foresight *f, const struct posterior *post, size_t node)
{
	const struct sides *sides = post->sides;
	double all[SIGNS] = {0}, upper[SIGNS] = {0}, d = post->shift / post->sigma;
	double now = rough_bits(post->after[node], d);
	size_t same = 0;

	for (size_t i = 0; i < f->n; i++)
		same += fabs(post->after[f->node[i]] - post->after[node]) < 1e-9;
	if (!(now > 1e-6)) /* an end: what is left of the doubt about its level */
		return 1.0 / (1.0 + (double)same);
	for (size_t h = 0; h < post->hypotheses; h++)
		all[f->sign[h]] += post->mass[h];
	for (size_t r = sides->first_run[node]; r < sides->first_run[node + 1]; r++)
		for (size_t h = sides->runs[r].from; h < sides->runs[r].to; h++)
			upper[f->sign[h]] += post->mass[h];
	return fmin(bits_foreseen(f, f->n, all, upper, d) / now, 1.0);
}

/* Boots that an end should have before predictions mean anything: two tell a first spread, one is
 * enough when history knows the noise. */
static size_t wanted_at_end(const struct posterior *post, bool upper)
{
	if ((!upper && post->level_known) || levels_known(post))
		return 0;
	return post->noise_df - (double)post->boots >= 4.0 ? 1 : 2;
}

/* The testable node that most surely lies on one side; the cheapest of equals. */
static size_t surest(const struct posterior *post, const bool *testable, const double *cost,
		     bool upper)
{
	size_t best = post->nodes;

	for (size_t n = 0; n < post->nodes; n++) {
		double gap;

		if (!testable[n])
			continue;
		if (best == post->nodes) {
			best = n;
			continue;
		}
		gap = (post->after[n] - post->after[best]) * (upper ? 1.0 : -1.0);
		if (gap > 1e-12 || (gap > -1e-12 && cost[n] < cost[best]))
			best = n;
	}
	return best;
}

static size_t boots_on_side(const struct posterior *post, const size_t *pending, double f)
{
	size_t n = 0;

	for (size_t i = 0; i < post->nodes; i++)
		if (fabs(post->after[i] - f) < 1e-9)
			n += post->boots_of[i] + (pending ? pending[i] : 0);
	return n;
}

/* Sets the choice when an end still lacks its first boots, or when those that it has are all still
 * running: nothing can be predicted before one has told a level. */
static bool choose_end(const struct posterior *post, const bool *testable, const double *cost,
		       const size_t *pending, struct select_choice *choice)
{
	size_t node[2], have[2];

	for (int upper = 0; upper < 2; upper++) {
		node[upper] = surest(post, testable, cost, upper == 1);
		have[upper] = boots_on_side(post, pending, post->after[node[upper]]);
	}
	for (int upper = 0; upper < 2; upper++) {
		if (have[upper] >= wanted_at_end(post, upper == 1) && isfinite(post->level0_sd))
			continue;
		if (upper == 0 && have[1] < have[0])
			continue; /* take turns */
		choice->node = node[upper];
		choice->reason = upper ? SELECT_LEVEL_AFTER : SELECT_LEVEL_BEFORE;
		choice->after = post->after[node[upper]];
		return true;
	}
	return false;
}

static enum select_reason why(const struct posterior *post, const struct select_choice *choice)
{
	if (choice->after > 1.0 - post->mass[0] - 1e-9)
		return SELECT_LEVEL_AFTER;
	if (choice->split_bits >= 0.5 * choice->bits && choice->after > 1e-9)
		return SELECT_SPLIT;
	return choice->after < 0.5 ? SELECT_LEVEL_BEFORE : SELECT_LEVEL_AFTER;
}

/* The nodes worth a close look: the best of each bin of F, and those most surely on either side. */
static size_t shortlist(const struct posterior *post, const bool *testable, const double *cost,
			size_t *list)
{
	double best[BINS] = {0};
	size_t at[BINS], n = 0, bin;

	for (size_t i = 0; i < post->nodes; i++) {
		double f = post->after[i], worth = f * (1.0 - f) / cost[i];

		if (post->boots_of[i])
			worth *= known_image;
		bin = (size_t)(fmin(fmax(f, 0.0), 0.999) * BINS);
		if (testable[i] && worth > best[bin] * (1.0 + 1e-9)) {
			best[bin] = worth;
			at[bin] = i;
		}
	}
	for (size_t b = 0; b < BINS; b++)
		if (best[b] > 0.0)
			list[n++] = at[b];
	for (int upper = 0; upper < 2; upper++)
		list[n++] = surest(post, testable, cost, upper == 1);
	return n;
}

struct select_choice select_next(const struct posterior *post, const bool *testable,
				 const double *cost, const size_t *pending)
{
	struct select_choice choice = {.reason = SELECT_NOTHING, .node = post->nodes};
	CLEANUP(information_release) struct information info = {0};
	struct foresight foresight = {0};
	size_t list[SHORTLIST_MAX], n;
	bool known = levels_known(post);
	double best = -1.0;

	if (surest(post, testable, cost, false) == post->nodes ||
	    choose_end(post, testable, cost, pending, &choice))
		return choice;
	if (!known)
		information_init(&info, post);
	foresee(&foresight, post, pending);
	n = shortlist(post, testable, cost, list);
	for (size_t i = 0; i < n; i++) {
		size_t node = list[i];
		double bits = known ? rough_bits(post->after[node], post->shift / post->sigma)
				    : information_bits(&info, node);

		if (foresight.n)
			bits *= share_left(&foresight, post, node);
		if (bits / cost[node] <= best * (1.0 + 1e-9))
			continue;
		best = bits / cost[node];
		choice.node = node;
		choice.bits = bits;
		choice.after = post->after[node];
	}
	free(foresight.sign);
	choice.split_bits = rough_bits(choice.after, post->shift / post->sigma);
	choice.reason = why(post, &choice);
	return choice;
}

struct heavy {
	double mass;
	size_t h;
};

static int by_falling_mass(const void *a, const void *b)
{
	const struct heavy *x = a, *y = b;

	if (x->mass != y->mass)
		return x->mass < y->mass ? 1 : -1;
	return (x->h > y->h) - (x->h < y->h);
}

/* The smallest set with mass >= enough of those for which use (NULL: all) says yes. */
static void heaviest(const struct posterior *post, const bool *use, double enough, size_t *set,
		     struct search_state *state)
{
	AUTO_FREE struct heavy *v = xcalloc(post->hypotheses, sizeof(*v));
	size_t n = 0;

	for (size_t h = 0; h < post->hypotheses; h++)
		if (!use || use[h])
			v[n++] = (struct heavy){post->mass[h], h};
	qsort(v, n, sizeof(*v), by_falling_mass);
	state->n = 0;
	state->mass = 0.0;
	for (size_t i = 0; i < n && (state->mass < enough || state->n == 0); i++) {
		set[state->n++] = v[i].h;
		state->mass += v[i].mass;
	}
}

static bool alike(const struct sides *sides, const uint64_t *mask, size_t a, size_t b)
{
	const uint64_t *x = sides->bits + a * sides->words, *y = sides->bits + b * sides->words;

	for (size_t w = 0; w < sides->words; w++)
		if ((x[w] ^ y[w]) & mask[w])
			return false;
	return true;
}

/* Marks the hypotheses of the heaviest set that no testable node splits and returns its mass, if
 * that is at least half of all: the set that a majority vote finds (Boyer and Moore). */
static double inseparable(const struct posterior *post, const struct sides *sides,
			  const bool *testable, bool *use)
{
	AUTO_FREE uint64_t *mask = xcalloc(sides->words, sizeof(*mask));
	double lead = 0.0, mass = 0.0, least = 1e-3 / (double)post->hypotheses;
	size_t leader = 0;

	for (size_t n = 0; n < sides->nodes; n++)
		if (testable[n])
			mask[n / 64] |= (uint64_t)1 << (n % 64);
	for (size_t h = 0; h < post->hypotheses; h++) {
		if (post->mass[h] < least)
			continue;
		if (lead <= 0.0)
			leader = h;
		lead += alike(sides, mask, leader, h) ? post->mass[h] : -post->mass[h];
		if (lead < 0.0) {
			leader = h;
			lead = -lead;
		}
	}
	for (size_t h = 0; h < post->hypotheses; h++) {
		use[h] = post->mass[h] > 0.0 && alike(sides, mask, leader, h);
		mass += use[h] ? post->mass[h] : 0.0;
	}
	return mass;
}

static size_t top_of(const struct posterior *post)
{
	size_t top = 0;

	for (size_t h = 1; h < post->hypotheses; h++)
		if (post->mass[h] > post->mass[top])
			top = h;
	return top;
}

struct search_state select_verdict(const struct posterior *post, const struct sides *sides,
				   const bool *testable, double stop, size_t boots, size_t budget,
				   size_t *set)
{
	AUTO_FREE bool *use = xcalloc(post->hypotheses, sizeof(*use));
	struct search_state state = {.verdict = SEARCH_MORE};

	set[0] = top_of(post);
	if (post->mass[set[0]] >= stop) {
		state.n = 1;
		state.mass = post->mass[set[0]];
		state.verdict = set[0] == 0 ? SEARCH_NONE : SEARCH_CULPRIT;
		return state;
	}
	if (inseparable(post, sides, testable, use) >= stop) {
		heaviest(post, use, stop, set, &state);
		state.verdict = SEARCH_NARROWED;
		return state;
	}
	if (boots >= budget) {
		heaviest(post, NULL, 0.9, set, &state);
		state.verdict = SEARCH_NARROWED;
		state.budget_spent = true;
	}
	return state;
}

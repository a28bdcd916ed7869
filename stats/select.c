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

enum {
	PENDING_MAX = 3
};

/* Adds share x bits[] as they will be once the pending boots have told what they can: a boot
 * either reveals its node's side, with the chance that its bits are of the split's entropy, or
 * tells nothing. */
static void add_foreseen(const struct information *info, const double *mass, double share,
			 const size_t *pending, size_t n_pending, double *sum)
{
	const struct posterior *post = info->post;
	AUTO_FREE double *bits = xcalloc(post->nodes, sizeof(*bits));
	AUTO_FREE double *after = xcalloc(post->nodes, sizeof(*after));
	AUTO_FREE double *given = NULL;
	double f, told;

	if (share < 1e-3)
		return;
	information_bits(info, mass, bits, after);
	if (n_pending == 0) {
		for (size_t n = 0; n < post->nodes; n++)
			sum[n] += share * bits[n];
		return;
	}
	f = after[pending[0]];
	told = f > 1e-6 && f < 1.0 - 1e-6 ? fmin(bits[pending[0]] / binary_entropy(f), 1.0) : 0.0;
	add_foreseen(info, mass, share * (1.0 - told), pending + 1, n_pending - 1, sum);
	given = xcalloc(post->hypotheses, sizeof(*given));
	for (int side = 0; told > 0.0 && side < 2; side++) {
		double p = side ? f : 1.0 - f;

		for (size_t h = 0; h < post->hypotheses; h++)
			given[h] = sides_after(post->sides, h, pending[0]) == (side == 1)
					   ? mass[h] / p
					   : 0.0;
		add_foreseen(info, given, share * told * p, pending + 1, n_pending - 1, sum);
	}
}

static size_t list_pending(const struct posterior *post, const size_t *pending, size_t *list)
{
	size_t n = 0;

	for (size_t i = 0; pending && i < post->nodes; i++)
		for (size_t k = 0; k < pending[i] && n < PENDING_MAX; k++)
			list[n++] = i;
	return n;
}

/* Boots that an end should have before predictions mean anything: two tell a first spread, one is
 * enough when history knows the noise. */
static size_t wanted_at_end(const struct posterior *post, bool upper)
{
	if (!upper && post->level_known)
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

/* Sets the choice when an end still lacks its first boots. */
static bool choose_end(const struct posterior *post, const bool *testable, const double *cost,
		       const size_t *pending, struct select_choice *choice)
{
	size_t node[2], have[2];

	for (int upper = 0; upper < 2; upper++) {
		node[upper] = surest(post, testable, cost, upper == 1);
		have[upper] = boots_on_side(post, pending, post->after[node[upper]]);
	}
	for (int upper = 0; upper < 2; upper++) {
		if (have[upper] >= wanted_at_end(post, upper == 1))
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

struct select_choice select_next(const struct posterior *post, const bool *testable,
				 const double *cost, const size_t *pending, double stop)
{
	struct select_choice choice = {.reason = SELECT_NOTHING, .node = post->nodes};
	AUTO_FREE double *bits = xcalloc(post->nodes, sizeof(*bits));
	CLEANUP(information_release) struct information info = {0};
	size_t list[PENDING_MAX];
	double best = -1.0;

	(void)stop;
	if (surest(post, testable, cost, false) == post->nodes ||
	    choose_end(post, testable, cost, pending, &choice))
		return choice;
	information_init(&info, post);
	add_foreseen(&info, post->mass, 1.0, list, list_pending(post, pending, list), bits);
	for (size_t n = 0; n < post->nodes; n++)
		if (testable[n] && bits[n] / cost[n] > best * (1.0 + 1e-9)) {
			best = bits[n] / cost[n];
			choice.node = n;
			choice.bits = bits[n];
			choice.after = post->after[n];
		}
	choice.split_bits = select_capacity(choice.after, post->shift / post->sigma);
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

/* The smallest set with mass >= 0.9 of those for which use (NULL: all) says yes. */
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

/* Marks the hypotheses that no testable node can tell from the heaviest one; returns their mass. */
static double inseparable(const struct posterior *post, const struct sides *sides,
			  const bool *testable, bool *use)
{
	AUTO_FREE size_t *class_of = xcalloc(post->hypotheses, sizeof(*class_of));
	AUTO_FREE double *mass = NULL;
	size_t classes = sides_classes(sides, testable, class_of), best = 0;

	mass = xcalloc(classes, sizeof(*mass));
	for (size_t h = 0; h < post->hypotheses; h++)
		mass[class_of[h]] += post->mass[h];
	for (size_t c = 1; c < classes; c++)
		if (mass[c] > mass[best])
			best = c;
	for (size_t h = 0; h < post->hypotheses; h++)
		use[h] = class_of[h] == best && post->mass[h] > 0.0;
	return mass[best];
}

struct search_state select_verdict(const struct posterior *post, const struct sides *sides,
				   const bool *testable, double stop, size_t boots, size_t budget,
				   size_t *set)
{
	AUTO_FREE bool *use = xcalloc(post->hypotheses, sizeof(*use));
	struct search_state state = {.verdict = SEARCH_MORE};

	heaviest(post, NULL, 0.0, set, &state);
	if (state.mass >= stop) {
		state.verdict = set[0] == 0 ? SEARCH_NONE : SEARCH_CULPRIT;
		return state;
	}
	if (inseparable(post, sides, testable, use) >= stop) {
		heaviest(post, use, 0.9, set, &state);
		state.verdict = SEARCH_NARROWED;
		return state;
	}
	heaviest(post, NULL, 0.9, set, &state);
	if (boots >= budget) {
		state.verdict = SEARCH_NARROWED;
		state.budget_spent = true;
	}
	return state;
}

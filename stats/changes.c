// SPDX-License-Identifier: GPL-2.0-or-later
/* One change or two. */
#include "stats/changes.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* That there is a second change; no change at all is as likely (bisector/lineup.h). */
static const double second_prior = 0.15;
/* The culprit of one change is worth looking beside from here on: two changes may keep either from
 * ever reaching 0.99. */
static const double worth_a_look = 0.9;
/* From here on each is searched for given the other. */
static const double is_second = 0.9;
/* A second change is looked for from this share of the first one's shift on (and from half of what is
 * worth reporting): a smaller one costs more boots than the whole search did, and the next search
 * finds it. Above this one it would have been the first. */
static const double least_share = 0.35, most_share = 1.0;
/* The first one's shift is known to such a factor; in its steps the prior of the second follows. */
static const double shift_step = 1.3;

static size_t top_of(const struct posterior *post)
{
	size_t top = 0;

	for (size_t h = 1; h < post->hypotheses; h++)
		if (post->mass[h] > post->mass[top])
			top = h;
	return top;
}

/* Does h divide the nodes on this side of the given change? */
static bool divides(const struct sides *sides, size_t h, size_t given, bool after)
{
	const uint64_t *own = sides->bits + h * sides->words;
	const uint64_t *side = sides->bits + given * sides->words;
	bool with = false, without = false;

	for (size_t w = 0; w < sides->words; w++) {
		size_t left = sides->nodes - w * 64;
		uint64_t all = left < 64 ? (UINT64_C(1) << left) - 1 : ~UINT64_C(0);
		uint64_t mask = (after ? side[w] : ~side[w]) & all;

		with |= (own[w] & mask) != 0;
		without |= (~own[w] & mask) != 0;
	}
	return with && without;
}

/* The other's shift is as the search's prior has it. */
#define ANY_SHIFT INT_MAX

/* The shift of `given` as the model with one change has it, in whole steps. */
static int steps_of_shift(const struct changes *c, size_t given)
{
	double shift = c->one.fit[c->one.class_of[given]].shift.mean;

	return (int)lround(log(shift) / log(shift_step));
}

static void narrow_shift(struct posterior_prior *prior, int steps)
{
	double shift = pow(shift_step, steps);

	if (steps == ANY_SHIFT)
		return;
	if (!(prior->noise.df > 0.0)) /* as it follows from the search's own least effect */
		prior->noise = (struct sd_prior){2.5 * prior->min_effect, 1.0};
	prior->min_effect = fmax(prior->min_effect, 2.0 * least_share * shift);
	prior->max_effect = fmin(prior->max_effect, fmax(prior->min_effect, most_share * shift));
}

static void start_look(const struct changes *c, struct changes_look *look, size_t given, bool after,
		       int steps)
{
	const struct posterior *one = &c->one;
	AUTO_FREE double *mass = xcalloc(one->hypotheses, sizeof(*mass));
	struct posterior_prior prior = c->prior;
	double suspects = 0.0, all = 0.0;

	for (size_t h = 1; h < one->hypotheses; h++) {
		all += c->prior_mass[h];
		if (h != given && divides(one->sides, h, given, after))
			suspects += mass[h] = c->prior_mass[h];
	}
	for (size_t h = 1; h < one->hypotheses && suspects > 0.0; h++)
		mass[h] *= second_prior / all;
	mass[0] = suspects > 0.0 ? 1.0 - second_prior * suspects / all : 1.0;
	if (after)
		prior.level_sd = 0.0; /* history tells the good level only */
	narrow_shift(&prior, steps);
	posterior_release(&look->post);
	*look = (struct changes_look){
		.given = given, .after = after, .steps = steps, .prior_second = 1.0 - mass[0]};
	posterior_start(&look->post, one->sides, mass, &prior);
}

/* What is new: on this side, or telling the noise. */
static void update_look(const struct changes *c, struct changes_look *look)
{
	AUTO_FREE struct posterior_obs *obs = xcalloc(c->n - look->seen + 1, sizeof(*obs));
	size_t n = c->n - look->seen;

	for (size_t i = 0; i < n; i++) {
		obs[i] = c->obs[look->seen + i];
		if (sides_after(c->one.sides, look->given, obs[i].node) != look->after)
			obs[i].node = POSTERIOR_ASIDE;
	}
	if (n)
		posterior_add(&look->post, obs, n);
	look->seen = c->n;
}

static struct changes_look *look_at(struct changes *c, size_t given, bool after, int steps)
{
	struct changes_look *look = NULL, *oldest = &c->look[0];

	for (size_t i = 0; i < CHANGES_LOOKS; i++) {
		if (c->look[i].given == given && c->look[i].after == after &&
		    c->look[i].steps == steps)
			look = &c->look[i];
		if (c->look[i].used < oldest->used)
			oldest = &c->look[i];
	}
	if (!look) {
		look = oldest;
		start_look(c, look, given, after, steps);
	}
	look->used = ++c->clock;
	update_look(c, look);
	return look;
}

/* Boots of this side of `given` on both sides of h: the side where h can be told. */
static bool side_of(const struct changes *c, size_t given, size_t h)
{
	size_t seen[2][2] = {{0}};

	for (size_t i = 0; i < c->n; i++)
		seen[sides_after(c->one.sides, given, c->obs[i].node)]
		    [sides_after(c->one.sides, h, c->obs[i].node)]++;
	return (seen[1][0] < seen[1][1] ? seen[1][0] : seen[1][1]) >
	       (seen[0][0] < seen[0][1] ? seen[0][0] : seen[0][1]);
}

static struct changes_look *look_beside(struct changes *c, size_t first, bool after)
{
	return look_at(c, first, after, steps_of_shift(c, first));
}

/* Each given the other, until neither moves. */
static void settle_two(struct changes *c, size_t first, size_t second)
{
	enum {
		ROUNDS = 8
	};

	for (int i = 0; i < ROUNDS && first && second; i++) {
		size_t was[2] = {first, second};

		c->sides[0] = look_at(c, second, side_of(c, second, first), ANY_SHIFT);
		first = top_of(&c->sides[0]->post);
		if (!first)
			return;
		c->sides[1] = look_beside(c, first, side_of(c, first, second));
		second = top_of(&c->sides[1]->post);
		if (first == was[0] && second == was[1])
			break;
	}
	if (!first || !second)
		return;
	c->sides[0] = look_at(c, second, side_of(c, second, first), ANY_SHIFT);
	c->first = first;
	c->second = second;
	c->phase = CHANGES_TWO;
}

static void settle(struct changes *c)
{
	size_t top = top_of(&c->one);
	struct changes_look *more;

	c->phase = CHANGES_ONE;
	c->first = top;
	c->second = 0;
	c->sides[0] = c->sides[1] = NULL;
	if (!top || c->prior.known_shift > 0.0 || !(c->prior.second_odds > 0.0) ||
	    c->one.mass[top] < worth_a_look)
		return;
	c->phase = CHANGES_BESIDE;
	c->sides[0] = look_beside(c, top, false);
	c->sides[1] = look_beside(c, top, true);
	more = c->sides[c->sides[1]->post.mass[0] < c->sides[0]->post.mass[0]];
	c->second = top_of(&more->post);
	if (more->post.mass[0] > 1.0 - is_second)
		return;
	settle_two(c, top, c->second);
	if (c->phase == CHANGES_TWO)
		return;
	c->sides[0] = look_beside(c, top, false);
	c->sides[1] = look_beside(c, top, true);
}

void changes_start(struct changes *c, const struct sides *sides, const double *prior_mass,
		   const struct posterior_prior *prior)
{
	*c = (struct changes){.prior = *prior};
	c->prior_mass = xcalloc(sides->hypotheses, sizeof(*c->prior_mass));
	memcpy(c->prior_mass, prior_mass, sides->hypotheses * sizeof(*prior_mass));
	posterior_start(&c->one, sides, prior_mass, prior);
	settle(c);
}

void changes_add(struct changes *c, const struct posterior_obs *obs, size_t n_obs)
{
	for (size_t i = 0; i < n_obs; i++)
		*array_push(c->obs, c->n, c->cap) = obs[i];
	posterior_add(&c->one, obs, n_obs);
	settle(c);
}

void changes_release(struct changes *c)
{
	for (size_t i = 0; i < CHANGES_LOOKS; i++)
		posterior_release(&c->look[i].post);
	posterior_release(&c->one);
	free(c->prior_mass);
	free(c->obs);
	*c = (struct changes){0};
}

double changes_second(const struct changes *c)
{
	if (c->phase == CHANGES_ONE)
		return 0.0;
	if (c->phase == CHANGES_TWO)
		return 1.0 - c->sides[1]->post.mass[0];
	return 1.0 - fmin(c->sides[0]->post.mass[0], c->sides[1]->post.mass[0]);
}

const double *changes_mass(const struct changes *c)
{
	return c->phase == CHANGES_TWO ? c->sides[0]->post.mass : c->one.mass;
}

/* The nodes that a look can use. */
static bool *own_nodes(const struct changes *c, const struct changes_look *look,
		       const bool *testable)
{
	bool *own = xcalloc(c->one.nodes, sizeof(*own));

	for (size_t n = 0; n < c->one.nodes; n++)
		own[n] = testable[n] && sides_after(c->one.sides, look->given, n) == look->after;
	return own;
}

static struct search_state verdict_of(const struct changes *c, const struct changes_look *look,
				      const bool *testable, double stop, size_t boots,
				      size_t budget, size_t *set)
{
	AUTO_FREE bool *own = own_nodes(c, look, testable);

	return select_verdict(&look->post, c->one.sides, own, stop, boots, budget, set);
}

/* Where the i-th of two may stop, so that both are right with `stop`: half of the doubt each, or what
 * the other leaves of it. */
static double stop_of(const struct changes *c, size_t i, double stop)
{
	size_t other = i ? c->first : c->second;
	double doubt = 1.0 - c->sides[1 - i]->post.mass[other];

	return 1.0 - fmax((1.0 - stop) / 2.0, 1.0 - stop - doubt);
}

/* Nothing more to ask there: dismissed, or found as far as can be. */
static bool quiet(const struct changes *c, const struct changes_look *look, const bool *testable,
		  double stop)
{
	AUTO_FREE size_t *set = xcalloc(c->one.hypotheses, sizeof(*set));
	double none = look->post.mass[0], odds = c->prior.second_odds;

	return (1.0 - none) * odds <= look->prior_second ||
	       verdict_of(c, look, testable, fmax(stop, 1.0 - look->prior_second / odds), 0,
			  SIZE_MAX, set)
			       .verdict != SEARCH_MORE;
}

struct changes_state changes_verdict(const struct changes *c, const bool *testable, double stop,
				     size_t boots, size_t budget, size_t *first, size_t *second)
{
	struct changes_state s = {.second.verdict = SEARCH_NONE};

	if (c->phase == CHANGES_TWO) {
		s.first = verdict_of(c, c->sides[0], testable, stop_of(c, 0, stop), boots, budget,
				     first);
		s.second = verdict_of(c, c->sides[1], testable, stop_of(c, 1, stop), boots, budget,
				      second);
		if (s.first.verdict == SEARCH_MORE || s.second.verdict == SEARCH_MORE)
			s.first.verdict = s.second.verdict = SEARCH_MORE;
		return s;
	}
	s.first = select_verdict(&c->one, c->one.sides, testable, stop, boots, budget, first);
	if (s.first.verdict != SEARCH_CULPRIT || c->phase != CHANGES_BESIDE || boots >= budget)
		return s;
	for (size_t i = 0; i < 2; i++)
		if (!quiet(c, c->sides[i], testable, stop))
			s.first.verdict = SEARCH_MORE;
	return s;
}

static struct select_choice next_of(const struct changes *c, const struct changes_look *look,
				    const bool *testable, const double *cost, const size_t *pending)
{
	AUTO_FREE bool *own = own_nodes(c, look, testable);
	AUTO_FREE size_t *waiting = xcalloc(c->one.nodes, sizeof(*waiting));

	for (size_t n = 0; pending && n < c->one.nodes; n++)
		waiting[n] = own[n] ? pending[n] : 0;
	return select_next(&look->post, own, cost, waiting);
}

struct select_choice changes_next(const struct changes *c, const bool *testable, const double *cost,
				  const size_t *pending, double stop)
{
	struct select_choice best = {.reason = SELECT_NOTHING, .node = c->one.nodes};
	size_t top = top_of(&c->one);

	if (c->phase == CHANGES_ONE || (c->phase == CHANGES_BESIDE && c->one.mass[top] < stop))
		return select_next(&c->one, testable, cost, pending);
	for (size_t i = 0; i < 2; i++) {
		double own_stop = c->phase == CHANGES_TWO ? stop_of(c, i, stop) : stop;
		struct select_choice own;

		if (quiet(c, c->sides[i], testable, own_stop))
			continue;
		own = next_of(c, c->sides[i], testable, cost, pending);
		if (own.reason != SELECT_NOTHING &&
		    (best.reason == SELECT_NOTHING ||
		     own.bits / cost[own.node] > best.bits / cost[best.node]))
			best = own;
	}
	return best.reason == SELECT_NOTHING ? select_next(&c->one, testable, cost, pending) : best;
}

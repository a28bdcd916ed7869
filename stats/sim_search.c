// SPDX-License-Identifier: GPL-2.0-or-later
/* Searches over made-up boots. */
#include "stats/sim_search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/usable.h"

void sim_search_init(struct sim_search *spec)
{
	*spec = (struct sim_search){
		.suspects = 256,
		.shift = 2.0,
		.second_odds = 0.2,
		.none_prior = 0.15,
		.outlier_model = 0.03,
		.floor = 0.25,
		.ceiling = 20.0,
		.stop = 0.99,
		.budget = 4000,
		.outlier_at = 8.0,
		.drift_boots = 100,
		.culprit_weight = 1.0,
		.machines = 1,
	};
}

/* The two parents of each node; equal unless it is a merge. */
struct lineage {
	size_t (*parents)[2];
	size_t n; /* nodes so far, node 0 the root */
};

static size_t add_commit(struct lineage *line, size_t first, size_t second)
{
	line->parents[line->n][0] = first;
	line->parents[line->n][1] = second;
	return line->n++;
}

static size_t add_run(struct lineage *line, size_t from, size_t commits)
{
	for (size_t i = 0; i < commits; i++)
		from = add_commit(line, from, from);
	return from;
}

/* Now and then 2 to 6 commits stand on a side branch, as many beside them on the main line, and a
 * merge brings the two together. */
static void grow(struct lineage *line, const struct sim_search *spec, struct rng *rng)
{
	size_t tip = add_commit(line, 0, 0);

	while (line->n <= spec->suspects) {
		size_t length = 2 + rng_below(rng, 5);
		/* b of (b side + b main + 1 merge) wanted in `branches` of all commits */
		bool fork = rng_uniform(rng) < spec->branches / (4.0 - 7.0 * spec->branches);

		if (fork && line->n + 2 * length + 1 <= spec->suspects + 1) {
			size_t side = add_run(line, tip, length), main = add_run(line, tip, length);

			tip = add_commit(line, main, side);
		} else {
			tip = add_commit(line, tip, tip);
		}
	}
}

static void fill_sides(struct sides *sides, const struct lineage *line)
{
	sides_init(sides, line->n, line->n);
	for (size_t k = 1; k < line->n; k++) {
		sides_set_after(sides, k, k);
		for (size_t h = 1; h < k; h++)
			if (sides_after(sides, h, line->parents[k][0]) ||
			    sides_after(sides, h, line->parents[k][1]))
				sides_set_after(sides, h, k);
	}
	sides_index(sides);
}

/* History that is worth so many boots tells the level; the noise then has as many degrees. */
static const double history_boots = 1e4;

static void fill_prior(struct posterior_prior *prior, const struct sim_search *spec)
{
	posterior_prior_init(prior, 2.0 * spec->floor);
	prior->max_effect = spec->ceiling;
	prior->outlier = spec->outlier_model;
	prior->second_odds = spec->second_odds;
	if (spec->known != SIM_NOTHING) {
		prior->noise = (struct sd_prior){1.0, history_boots};
		prior->level_sd = 1.0 / sqrt(history_boots);
	}
	if (spec->known == SIM_LEVELS)
		prior->known_shift = spec->shift > 0.0 ? spec->shift : 2.0 * spec->floor;
	if (spec->machines > 1)
		prior->machine_sd = spec->machine_sd;
	prior->noise.sd = hypot(prior->noise.sd, spec->layout);
}

void sim_world_init(struct sim_world *world, const struct sim_search *spec, struct rng *rng)
{
	AUTO_FREE size_t(*parents)[2] = xcalloc(spec->suspects + 1, sizeof(*parents));
	struct lineage line = {.parents = parents};

	*world = (struct sim_world){.spec = *spec};
	grow(&line, spec, rng);
	fill_sides(&world->sides, &line);
	fill_prior(&world->prior, spec);
}

void sim_world_release(struct sim_world *world)
{
	sides_release(&world->sides);
	*world = (struct sim_world){0};
}

struct trial {
	const struct sim_world *world;
	struct rng *rng;
	size_t culprit, other;
	double shift;
	double *prior, *cost, *offset;
	struct tape_head noise;
	bool *sound; /* boots; what decides learns of it by trying */
	bool *testable;
	enum usable_seen *seen;
	size_t *pending, *set;
	size_t lost;
	struct posterior_obs *obs;
	size_t n, cap;
	struct changes changes;
	size_t *second_set;
};

static void trial_release(struct trial *t)
{
	free(t->prior);
	free(t->cost);
	free(t->offset);
	free(t->sound);
	free(t->testable);
	free(t->seen);
	free(t->pending);
	free(t->set);
	free(t->obs);
	free(t->second_set);
	changes_release(&t->changes);
}

/* Breakage comes in clusters; the ends boot. */
static void draw_skips(struct trial *t)
{
	size_t n = t->world->sides.nodes, left = 0;

	for (size_t i = 0; i < n; i++) {
		if (!left && rng_uniform(t->rng) < t->world->spec.skips / 4.0)
			left = 1 + rng_below(t->rng, 7);
		t->sound[i] = !left || i == 0 || i == n - 1;
		t->testable[i] = true;
		left -= left > 0;
	}
}

static void draw_truth(struct trial *t)
{
	const struct sim_search *spec = &t->world->spec;
	bool any = spec->shift > 0.0;

	t->shift = spec->shift;
	if (spec->from_prior) {
		any = rng_uniform(t->rng) >= spec->none_prior;
		t->shift = spec->floor * pow(spec->ceiling / spec->floor, rng_uniform(t->rng));
	}
	t->culprit = any ? 1 + rng_below(t->rng, spec->suspects) : 0;
	while (spec->second > 0.0 && (!t->other || labs((long)t->other - (long)t->culprit) < 4))
		t->other = 1 + rng_below(t->rng, spec->suspects);
}

static void trial_init(struct trial *t, const struct sim_world *world, struct rng *rng)
{
	const struct sim_search *spec = &world->spec;
	size_t n = world->sides.hypotheses;

	*t = (struct trial){
		.world = world,
		.rng = rng,
		.prior = xcalloc(n, sizeof(*t->prior)),
		.cost = xcalloc(n, sizeof(*t->cost)),
		.offset = xcalloc(spec->machines, sizeof(*t->offset)),
		.sound = xcalloc(n, sizeof(*t->sound)),
		.testable = xcalloc(n, sizeof(*t->testable)),
		.seen = xcalloc(n, sizeof(*t->seen)),
		.pending = xcalloc(n, sizeof(*t->pending)),
		.set = xcalloc(n, sizeof(*t->set)),
		.second_set = xcalloc(n, sizeof(*t->second_set)),
	};
	if (spec->tape)
		t->noise = tape_start(spec->tape, rng);
	draw_truth(t);
	for (size_t h = 0; h < n; h++)
		t->prior[h] =
			h ? (1.0 - spec->none_prior) / (double)spec->suspects : spec->none_prior;
	t->prior[t->culprit] *= spec->culprit_weight;
	for (size_t m = 0; m < spec->machines; m++)
		t->offset[m] = spec->machine_sd * rng_normal(rng);
	draw_skips(t);
}

static double draw_boot(struct trial *t, size_t node, size_t machine)
{
	const struct sim_search *spec = &t->world->spec;
	double y = spec->tape ? tape_next(&t->noise) : rng_normal(t->rng);

	if (spec->outliers > 0.0 && rng_uniform(t->rng) < spec->outliers)
		y = spec->outlier_at + 2.0 * y;
	else if (t->culprit && sides_after(&t->world->sides, t->culprit, node))
		y += t->shift;
	if (t->other && sides_after(&t->world->sides, t->other, node))
		y += spec->second;
	if (spec->layout > 0.0)
		y += spec->layout * rng_normal(t->rng);
	return y + t->offset[machine] + spec->drift * (double)t->n / (double)spec->drift_boots;
}

static void boot(struct trial *t, size_t node, size_t machine)
{
	t->seen[node] = t->sound[node] ? USABLE_SOUND : USABLE_BROKEN;
	t->testable[node] = t->sound[node];
	t->lost += !t->sound[node];
	if (!t->sound[node])
		return;
	*array_push(t->obs, t->n, t->cap) = (struct posterior_obs){
		.node = node,
		.y = draw_boot(t, node, machine),
		.machine = machine,
	};
}

/* In boots, of a number from each node. */
static void find_costs(struct trial *t)
{
	usable_chances(&t->world->sides, t->seen, t->cost);
	for (size_t i = 0; i < t->world->sides.nodes; i++)
		t->cost[i] = t->world->spec.skips_alone ? 1.0 : 1.0 / t->cost[i];
}

/* One boot on every machine, each chosen knowing which others run. */
static void boot_round(struct trial *t)
{
	const struct sim_search *spec = &t->world->spec;
	AUTO_FREE size_t *nodes = xcalloc(spec->machines, sizeof(*nodes));

	find_costs(t);
	for (size_t m = 0; m < spec->machines; m++) {
		nodes[m] = changes_next(&t->changes, t->testable, t->cost, t->pending, spec->stop)
				   .node;
		t->pending[nodes[m]]++;
	}
	for (size_t m = 0; m < spec->machines; m++) {
		t->pending[nodes[m]]--;
		boot(t, nodes[m], m);
	}
}

static bool is_step(const struct trial *t, size_t h)
{
	return h && (h == t->culprit || h == t->other);
}

static void conclude_second(const struct trial *t, const struct changes_state *state,
			    struct sim_search_end *end)
{
	bool first = end->state.verdict == SEARCH_CULPRIT;
	bool second = state->second.verdict == SEARCH_CULPRIT;

	end->other = t->other;
	end->two = t->changes.phase == CHANGES_TWO;
	end->blamed =
		(first && !is_step(t, t->set[0])) || (second && !is_step(t, t->second_set[0]));
	end->both = first && second && is_step(t, t->set[0]) && is_step(t, t->second_set[0]);
}

static void conclude(const struct trial *t, const struct changes_state *state,
		     struct sim_search_end *end)
{
	enum search_verdict verdict = end->state.verdict;

	end->boots = t->n;
	end->lost = t->lost;
	end->culprit = t->culprit;
	end->mass = end->state.n ? t->changes.one.mass[t->set[0]] : 0.0;
	end->top = end->state.n > 0 && t->set[0] == t->culprit;
	end->right = t->culprit ? verdict == SEARCH_CULPRIT && t->set[0] == t->culprit
				: verdict == SEARCH_NONE;
	conclude_second(t, state, end);
	end->holds = false;
	for (size_t i = 0; i < end->state.n; i++)
		end->holds |= t->set[i] == t->culprit;
}

void sim_search_run(const struct sim_world *world, struct rng *rng, struct sim_search_end *end)
{
	const struct sim_search *spec = &world->spec;
	CLEANUP(trial_release) struct trial t;

	trial_init(&t, world, rng);
	changes_start(&t.changes, &world->sides, t.prior, &world->prior);
	for (*end = (struct sim_search_end){0};; end->rounds++) {
		struct changes_state state;

		if (t.n > t.changes.n)
			changes_add(&t.changes, t.obs + t.changes.n, t.n - t.changes.n);
		state = changes_verdict(&t.changes, t.testable, spec->stop, t.n + t.lost,
					spec->budget, t.set, t.second_set);
		end->state = state.first;
		if (end->state.verdict == SEARCH_MORE) {
			boot_round(&t);
			continue;
		}
		conclude(&t, &state, end);
		return;
	}
}

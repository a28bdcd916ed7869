// SPDX-License-Identifier: GPL-2.0-or-later
/* Which commit did it. */
#include "stats/posterior.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "stats/levels.h"
#include "stats/offsets.h"

void posterior_prior_init(struct posterior_prior *prior, double min_effect)
{
	*prior = (struct posterior_prior){
		.min_effect = min_effect,
		.max_effect = 5.0,
		.outlier = 0.03,
		.outlier_scale = 10.0,
		.second_odds = 0.2,
	};
}

struct posterior_state {
	struct posterior_prior prior;
	double *prior_mass;
	double prior_total;
	bool all_possible; /* no prior is 0 */
	struct levels *levels;
	struct posterior_obs *obs;
	size_t n, cap;
	size_t *group_of; /* per node, + 1; 0: not booted */
	size_t *node_of;  /* per group */
	size_t groups, cap_groups;
	bool *after; /* [classes][groups] */
	size_t machines;
};

/* A node's first boot: its group, and the classes that it tells apart. */
static void add_node(struct posterior *post, size_t node)
{
	struct posterior_state *s = post->state_;

	AUTO_FREE size_t *old = xmalloc(post->hypotheses * sizeof(*old));
	AUTO_FREE struct levels_fit *fit = post->fit;

	*array_push(s->node_of, s->groups, s->cap_groups) = node;
	s->group_of[node] = s->groups;
	memcpy(old, post->class_of, post->hypotheses * sizeof(*old));
	post->classes = sides_refine(post->sides, node, post->class_of, post->classes);
	post->fit = xcalloc(post->classes, sizeof(*post->fit));
	for (size_t h = 0; fit && h < post->hypotheses; h++)
		post->fit[post->class_of[h]].log_evidence = fit[old[h]].log_evidence;
}

static void fill_after(struct posterior *post)
{
	struct posterior_state *s = post->state_;

	s->after = xreallocarray(s->after, post->classes * s->groups + 1, sizeof(*s->after));
	for (size_t h = post->hypotheses; h-- > 0;) {
		bool *row = s->after + post->class_of[h] * s->groups;

		if (h + 1 < post->hypotheses && post->class_of[h] == post->class_of[h + 1])
			continue;
		for (size_t g = 0; g < s->groups; g++)
			row[g] = sides_after(post->sides, h, s->node_of[g]);
	}
}

static void set_masses(struct posterior *post)
{
	const struct posterior_state *s = post->state_;
	const double *prior_mass = s->prior_mass;
	AUTO_FREE double *likelihood = xcalloc(post->classes, sizeof(*likelihood));
	AUTO_FREE bool *used = xcalloc(post->classes, sizeof(*used));
	double top = -INFINITY, total = 0.0;

	for (size_t h = 0; h < post->hypotheses && !s->all_possible; h++)
		used[post->class_of[h]] |= prior_mass[h] > 0.0;
	for (size_t c = 0; c < post->classes; c++)
		if (s->all_possible || used[c])
			top = fmax(top, post->fit[c].log_evidence);
	for (size_t c = 0; c < post->classes; c++)
		likelihood[c] =
			s->all_possible || used[c] ? exp(post->fit[c].log_evidence - top) : 0.0;
	for (size_t h = 0; h < post->hypotheses; h++)
		total += post->mass[h] = prior_mass[h] * likelihood[post->class_of[h]];
	for (size_t h = 0; h < post->hypotheses; h++)
		post->mass[h] /= total;
	post->log_evidence = top + log(total / s->prior_total);
}

/* Mixes a fit into sum, which has weight `have` so far. */
static void add_fit(struct levels_fit *sum, double have, const struct levels_fit *fit, double mass)
{
	double b = mass / (have + mass);

	if (!(mass > 0.0))
		return;
	moment_mix(&sum->level0, 1.0 - b, &fit->level0, b);
	moment_mix(&sum->level1, 1.0 - b, &fit->level1, b);
	moment_mix(&sum->shift, 1.0 - b, &fit->shift, b);
	moment_mix(&sum->sigma, 1.0 - b, &fit->sigma, b);
}

static void set_moments(struct posterior *post)
{
	AUTO_FREE double *of_class = xcalloc(post->classes, sizeof(*of_class));
	struct levels_fit given = {0}, all;
	double culprit = 0.0;

	for (size_t h = 1; h < post->hypotheses; h++)
		of_class[post->class_of[h]] += post->mass[h];
	for (size_t c = 0; c < post->classes; c++) {
		add_fit(&given, culprit, &post->fit[c], of_class[c]);
		culprit += of_class[c];
	}
	all = given;
	add_fit(&all, culprit, &post->fit[post->class_of[0]], post->mass[0]);
	if (!(culprit > 0.0))
		given = all;
	post->level0 = all.level0.mean;
	post->level0_sd = sqrt(all.level0.var);
	post->sigma = all.sigma.mean;
	post->sigma_sd = sqrt(all.sigma.var);
	post->level1 = given.level1.mean;
	post->level1_sd = sqrt(given.level1.var);
	post->shift = given.shift.mean;
	post->shift_sd = sqrt(given.shift.var);
}

static void conclude(struct posterior *post)
{
	set_masses(post);
	set_moments(post);
	sides_mass(post->sides, post->mass, post->after);
}

/* All splits, as if machine m had the given offset; similar (or NULL) is the fit of other
 * offsets. */
static void fit_given(const struct posterior *post, const double *offset,
		      const struct levels_fit *similar, struct levels_fit *fit)
{
	const struct posterior_state *s = post->state_;
	struct levels *levels = levels_new(&s->prior);

	if (similar) {
		memcpy(fit, similar, post->classes * sizeof(*fit));
		levels_hint(levels, post->sigma, post->sigma_sd);
	} else {
		memset(fit, 0, post->classes * sizeof(*fit));
	}
	for (size_t i = 0; i < s->n; i++)
		levels_add(levels, s->group_of[s->obs[i].node] - 1,
			   s->obs[i].y - offset[s->obs[i].machine]);
	levels_fit(levels, s->after, post->classes, fit);
	levels_free(levels);
}

/* Adds exp(log_weight) x from to a fit that is such a sum already. */
static void sum_fit(struct levels_fit *into, const struct levels_fit *from, double log_weight)
{
	double log_z = from->log_evidence + log_weight;
	double top = fmax(into->log_evidence, log_z);

	add_fit(into, exp(into->log_evidence - top), from, exp(log_z - top));
	into->log_evidence = top + log(exp(into->log_evidence - top) + exp(log_z - top));
}

static void place_offsets(const struct posterior *post, double *point, double *log_weight)
{
	const struct posterior_state *s = post->state_;
	AUTO_FREE double *after = xcalloc(s->n, sizeof(*after));
	AUTO_FREE double *y = xcalloc(s->n, sizeof(*y));
	AUTO_FREE size_t *machine = xcalloc(s->n, sizeof(*machine));
	struct offsets_boots boots = {
		.n = s->n,
		.y = y,
		.after = after,
		.machine = machine,
		.machines = s->machines,
		.sigma = post->sigma,
		.machine_sd = s->prior.machine_sd,
	};

	for (size_t i = 0; i < s->n; i++) {
		y[i] = s->obs[i].y - post->level0;
		machine[i] = s->obs[i].machine;
		after[i] = post->after[s->obs[i].node];
	}
	offsets_points(&boots, point, log_weight);
}

static void centre_of(const double *point, size_t machines, double *centre)
{
	for (size_t m = 0; m < machines; m++) {
		centre[m] = 0.0;
		for (size_t k = 0; k < OFFSETS_POINTS; k++)
			centre[m] += point[k * machines + m] / OFFSETS_POINTS;
	}
}

/* Two looks at where the offsets may lie, the second from what the first made of the boots; then
 * the sum over the points. */
static void integrate_offsets(struct posterior *post)
{
	size_t machines = post->state_->machines;
	AUTO_FREE double *point = xcalloc(OFFSETS_POINTS * machines, sizeof(*point));
	AUTO_FREE double *centre = xcalloc(machines, sizeof(*centre));
	AUTO_FREE struct levels_fit *fit = xcalloc(post->classes, sizeof(*fit));
	AUTO_FREE struct levels_fit *centred = xcalloc(post->classes, sizeof(*centred));
	double log_weight[OFFSETS_POINTS];

	for (int look = 0; look < 2; look++) {
		fit_given(post, centre, NULL, post->fit);
		conclude(post);
		place_offsets(post, point, log_weight);
		centre_of(point, machines, centre);
	}
	memcpy(centred, post->fit, post->classes * sizeof(*centred));
	for (size_t c = 0; c < post->classes; c++)
		post->fit[c] = (struct levels_fit){.log_evidence = -INFINITY};
	for (size_t k = 0; k < OFFSETS_POINTS; k++) {
		fit_given(post, point + k * machines, centred, fit);
		for (size_t c = 0; c < post->classes; c++)
			sum_fit(&post->fit[c], &fit[c], log_weight[k]);
	}
}

void posterior_start(struct posterior *post, const struct sides *sides, const double *prior_mass,
		     const struct posterior_prior *prior)
{
	struct posterior_state *s = xcalloc(1, sizeof(*s));

	*post = (struct posterior){
		.sides = sides,
		.hypotheses = sides->hypotheses,
		.nodes = sides->nodes,
		.mass = xcalloc(sides->hypotheses, sizeof(*post->mass)),
		.after = xcalloc(sides->nodes, sizeof(*post->after)),
		.boots_of = xcalloc(sides->nodes, sizeof(*post->boots_of)),
		.noise_df = prior->noise.df,
		.level_known = prior->level_sd > 0.0,
		.classes = 1,
		.class_of = xcalloc(sides->hypotheses, sizeof(*post->class_of)),
		.state_ = s,
	};
	s->prior = *prior;
	s->prior_mass = xcalloc(sides->hypotheses, sizeof(*s->prior_mass));
	memcpy(s->prior_mass, prior_mass, sides->hypotheses * sizeof(*prior_mass));
	s->all_possible = true;
	for (size_t h = 0; h < sides->hypotheses; h++) {
		s->prior_total += prior_mass[h];
		s->all_possible &= prior_mass[h] > 0.0;
	}
	s->group_of = xcalloc(sides->nodes, sizeof(*s->group_of));
	s->levels = levels_new(prior);
	post->fit = xcalloc(1, sizeof(*post->fit));
	posterior_add(post, NULL, 0);
}

static void take(struct posterior *post, const struct posterior_obs *obs)
{
	struct posterior_state *s = post->state_;

	post->noise_df += 1.0;
	if (obs->node == POSTERIOR_ASIDE) {
		levels_add_aside(s->levels, obs->y);
		return;
	}
	if (!s->group_of[obs->node])
		add_node(post, obs->node);
	*array_push(s->obs, s->n, s->cap) = *obs;
	s->machines = obs->machine >= s->machines ? obs->machine + 1 : s->machines;
	levels_add(s->levels, s->group_of[obs->node] - 1, obs->y);
	post->boots++;
	post->boots_of[obs->node]++;
}

void posterior_add(struct posterior *post, const struct posterior_obs *obs, size_t n_obs)
{
	struct posterior_state *s = post->state_;
	size_t groups = s->groups;

	for (size_t i = 0; i < n_obs; i++)
		take(post, &obs[i]);
	if (s->groups > groups || !s->after)
		fill_after(post);
	if (s->prior.machine_sd > 0.0 && s->machines > 1 && s->machines <= OFFSETS_MACHINES_MAX)
		integrate_offsets(post);
	else
		levels_fit(s->levels, s->after, post->classes, post->fit);
	conclude(post);
}

void posterior_init(struct posterior *post, const struct sides *sides, const double *prior_mass,
		    const struct posterior_obs *obs, size_t n_obs,
		    const struct posterior_prior *prior)
{
	posterior_start(post, sides, prior_mass, prior);
	posterior_add(post, obs, n_obs);
}

void posterior_release(struct posterior *post)
{
	struct posterior_state *s = post->state_;

	if (s) {
		levels_free(s->levels);
		free(s->prior_mass);
		free(s->obs);
		free(s->group_of);
		free(s->node_of);
		free(s->after);
		free(s);
	}
	free(post->mass);
	free(post->after);
	free(post->boots_of);
	free(post->class_of);
	free(post->fit);
	*post = (struct posterior){0};
}

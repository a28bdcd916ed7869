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
		.outlier = 0.05,
		.outlier_scale = 10.0,
	};
}

/* The boots as levels_fit() wants them, and the distinct splits of the booted nodes. */
struct problem {
	double origin; /* taken off all numbers: levels are small beside their spread then */
	double *y;
	size_t *group; /* per boot */
	size_t *machine;
	size_t machines;  /* distinct ones, numbered from 0 */
	bool *booted;	  /* per node */
	size_t *group_of; /* per node; only where booted */
	size_t *class_of; /* per hypothesis */
	size_t groups, classes;
	bool *after;		/* [classes][groups] */
	struct levels_fit *fit; /* per class */
};

static void problem_release(struct problem *p)
{
	free(p->y);
	free(p->group);
	free(p->machine);
	free(p->booted);
	free(p->group_of);
	free(p->class_of);
	free(p->after);
	free(p->fit);
}

static void number_groups(struct problem *p, const struct posterior_obs *obs, size_t n_obs)
{
	for (size_t i = 0; i < n_obs; i++) {
		size_t node = obs[i].node;

		if (!p->booted[node]) {
			p->booted[node] = true;
			p->group_of[node] = p->groups++;
		}
		p->y[i] = obs[i].y;
		p->group[i] = p->group_of[node];
	}
}

/* By rising number, so that the order of the boots does not matter. */
static void number_machines(struct problem *p, const struct posterior_obs *obs, size_t n_obs)
{
	size_t largest = 0;
	AUTO_FREE bool *seen = NULL;
	AUTO_FREE size_t *number = NULL;

	for (size_t i = 0; i < n_obs; i++)
		largest = obs[i].machine > largest ? obs[i].machine : largest;
	seen = xcalloc(largest + 1, sizeof(*seen));
	number = xcalloc(largest + 1, sizeof(*number));
	for (size_t i = 0; i < n_obs; i++)
		seen[obs[i].machine] = true;
	for (size_t m = 0; m <= largest; m++)
		if (seen[m])
			number[m] = p->machines++;
	for (size_t i = 0; i < n_obs; i++)
		p->machine[i] = number[obs[i].machine];
}

static void fill_after(struct problem *p, const struct sides *sides)
{
	p->after = xcalloc(p->classes * p->groups, sizeof(*p->after));
	for (size_t h = sides->hypotheses; h-- > 0;)
		for (size_t n = 0; n < sides->nodes; n++)
			if (p->booted[n])
				p->after[p->class_of[h] * p->groups + p->group_of[n]] =
					sides_after(sides, h, n);
}

static void problem_init(struct problem *p, const struct sides *sides,
			 const struct posterior_obs *obs, size_t n_obs)
{
	*p = (struct problem){
		.y = xcalloc(n_obs, sizeof(*p->y)),
		.group = xcalloc(n_obs, sizeof(*p->group)),
		.machine = xcalloc(n_obs, sizeof(*p->machine)),
		.booted = xcalloc(sides->nodes, sizeof(*p->booted)),
		.group_of = xcalloc(sides->nodes, sizeof(*p->group_of)),
		.class_of = xcalloc(sides->hypotheses, sizeof(*p->class_of)),
	};
	number_groups(p, obs, n_obs);
	number_machines(p, obs, n_obs);
	if (n_obs)
		p->origin = estimate_median(p->y, n_obs);
	for (size_t i = 0; i < n_obs; i++)
		p->y[i] -= p->origin;
	p->classes = sides_classes(sides, p->booted, p->class_of);
	fill_after(p, sides);
	p->fit = xcalloc(p->classes, sizeof(*p->fit));
}

static void set_masses(struct posterior *post, const struct problem *p, const double *prior_mass)
{
	double top = -INFINITY, total = 0.0, prior_total = 0.0;

	for (size_t h = 0; h < post->hypotheses; h++) {
		prior_total += prior_mass[h];
		if (prior_mass[h] > 0.0)
			top = fmax(top, p->fit[p->class_of[h]].log_evidence);
	}
	for (size_t h = 0; h < post->hypotheses; h++) {
		double log_z = p->fit[p->class_of[h]].log_evidence;

		post->mass[h] = prior_mass[h] > 0.0 ? prior_mass[h] * exp(log_z - top) : 0.0;
		total += post->mass[h];
	}
	for (size_t h = 0; h < post->hypotheses; h++)
		post->mass[h] /= total;
	post->log_evidence = top + log(total / prior_total);
}

/* Mixes the fit of one class into sum, which has weight `have` so far. */
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

static void set_moments(struct posterior *post, const struct problem *p)
{
	struct levels_fit given = {0}, all;
	double culprit = 0.0;

	for (size_t h = 1; h < post->hypotheses; h++) {
		add_fit(&given, culprit, &p->fit[p->class_of[h]], post->mass[h]);
		culprit += post->mass[h];
	}
	all = given;
	add_fit(&all, culprit, &p->fit[p->class_of[0]], post->mass[0]);
	if (!(culprit > 0.0))
		given = all;
	post->level0 = all.level0.mean + p->origin;
	post->level0_sd = sqrt(all.level0.var);
	post->sigma = all.sigma.mean;
	post->sigma_sd = sqrt(all.sigma.var);
	post->level1 = given.level1.mean + p->origin;
	post->level1_sd = sqrt(given.level1.var);
	post->shift = given.shift.mean;
	post->shift_sd = sqrt(given.shift.var);
}

/* All splits, as if machine m had the given offset (NULL: none has one). */
static void fit_given(const struct posterior *post, const struct problem *p, const double *offset,
		      const struct posterior_prior *prior, struct levels_fit *fit)
{
	AUTO_FREE double *y = xcalloc(post->boots, sizeof(*y));
	struct levels_boots boots = {
		.n = post->boots, .y = y, .group = p->group, .groups = p->groups};

	for (size_t i = 0; i < post->boots; i++)
		y[i] = p->y[i] - (offset ? offset[p->machine[i]] : 0.0);
	levels_fit(&boots, p->after, p->classes, prior, fit);
}

/* Adds exp(log_weight) x from to a fit that is such a sum already. */
static void sum_fit(struct levels_fit *into, const struct levels_fit *from, double log_weight)
{
	double log_z = from->log_evidence + log_weight;
	double top = fmax(into->log_evidence, log_z);

	add_fit(into, exp(into->log_evidence - top), from, exp(log_z - top));
	into->log_evidence = top + log(exp(into->log_evidence - top) + exp(log_z - top));
}

static void conclude(struct posterior *post, const struct problem *p, const double *prior_mass)
{
	set_masses(post, p, prior_mass);
	set_moments(post, p);
	sides_mass(post->sides, post->mass, post->after);
}

static void place_offsets(const struct posterior *post, const struct problem *p, double machine_sd,
			  const struct posterior_obs *obs, double *point, double *log_weight)
{
	AUTO_FREE double *after = xcalloc(post->boots, sizeof(*after));
	struct offsets_boots boots = {
		.n = post->boots,
		.y = p->y,
		.after = after,
		.machine = p->machine,
		.machines = p->machines,
		.sigma = post->sigma,
		.machine_sd = machine_sd,
	};

	for (size_t i = 0; i < post->boots; i++)
		after[i] = post->after[obs[i].node];
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
static void integrate_offsets(struct posterior *post, struct problem *p, const double *prior_mass,
			      const struct posterior_obs *obs, const struct posterior_prior *prior)
{
	AUTO_FREE double *point = xcalloc(OFFSETS_POINTS * p->machines, sizeof(*point));
	AUTO_FREE double *centre = xcalloc(p->machines, sizeof(*centre));
	AUTO_FREE struct levels_fit *fit = xcalloc(p->classes, sizeof(*fit));
	double log_weight[OFFSETS_POINTS];

	for (int look = 0; look < 2; look++) {
		fit_given(post, p, look ? centre : NULL, prior, p->fit);
		conclude(post, p, prior_mass);
		place_offsets(post, p, prior->machine_sd, obs, point, log_weight);
		centre_of(point, p->machines, centre);
	}
	for (size_t c = 0; c < p->classes; c++)
		p->fit[c] = (struct levels_fit){.log_evidence = -INFINITY};
	for (size_t k = 0; k < OFFSETS_POINTS; k++) {
		fit_given(post, p, point + k * p->machines, prior, fit);
		for (size_t c = 0; c < p->classes; c++)
			sum_fit(&p->fit[c], &fit[c], log_weight[k]);
	}
}

static void evaluate(struct posterior *post, struct problem *p, const double *prior_mass,
		     const struct posterior_obs *obs, const struct posterior_prior *prior)
{
	struct posterior_prior moved = *prior;

	moved.level -= p->origin;
	if (prior->machine_sd > 0.0 && p->machines > 1 && p->machines <= OFFSETS_MACHINES_MAX)
		integrate_offsets(post, p, prior_mass, obs, &moved);
	else
		fit_given(post, p, NULL, &moved, p->fit);
	conclude(post, p, prior_mass);
}

void posterior_init(struct posterior *post, const struct sides *sides, const double *prior_mass,
		    const struct posterior_obs *obs, size_t n_obs,
		    const struct posterior_prior *prior)
{
	CLEANUP(problem_release) struct problem p;

	*post = (struct posterior){
		.sides = sides,
		.hypotheses = sides->hypotheses,
		.nodes = sides->nodes,
		.mass = xcalloc(sides->hypotheses, sizeof(*post->mass)),
		.after = xcalloc(sides->nodes, sizeof(*post->after)),
		.boots = n_obs,
		.boots_of = xcalloc(sides->nodes, sizeof(*post->boots_of)),
		.noise_df = (double)n_obs + prior->noise.df,
		.level_known = prior->level_sd > 0.0,
	};
	for (size_t i = 0; i < n_obs; i++)
		post->boots_of[obs[i].node]++;
	problem_init(&p, sides, obs, n_obs);
	evaluate(post, &p, prior_mass, obs, prior);
	for (size_t c = 0; c < p.classes; c++) {
		p.fit[c].level0.mean += p.origin;
		p.fit[c].level1.mean += p.origin;
	}
	post->classes = p.classes;
	post->class_of = TAKE(p.class_of);
	post->fit = TAKE(p.fit);
}

void posterior_release(struct posterior *post)
{
	free(post->mass);
	free(post->after);
	free(post->boots_of);
	free(post->class_of);
	free(post->fit);
	*post = (struct posterior){0};
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The posterior against brute force. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/posterior.h"
#include "stats/rng.h"

enum {
	N = 8,
	MAX_BOOTS = 64
};

/* Nodes 0 .. n - 1 in a row; hypothesis h > 0: node h brought it; node 0 is always before. */
static void chain(struct sides *sides, size_t n)
{
	sides_init(sides, n, n);
	for (size_t h = 1; h < n; h++)
		for (size_t k = h; k < n; k++)
			sides_set_after(sides, h, k);
	sides_index(sides);
}

struct brute {
	const struct posterior_obs *obs;
	size_t n_obs;
	size_t nodes;
	const struct posterior_prior *prior;
	struct sd_prior noise;
};

/* ell[node] = log likelihood of its boots at this level and sigma. */
static void node_logs(const struct brute *b, double level, double sigma, double *ell)
{
	memset(ell, 0, b->nodes * sizeof(*ell));
	for (size_t i = 0; i < b->n_obs; i++) {
		double z = (b->obs[i].y - level) / sigma;
		double w = b->prior->outlier, k = b->prior->outlier_scale;
		double p = (1.0 - w) * exp(-0.5 * z * z) + w / k * exp(-0.5 * z * z / k / k);

		ell[b->obs[i].node] += log(p / sigma);
	}
}

/* Plain midpoint sums over log sigma, level0 and log shift; sum[h], h = 0: no shift. */
static void brute_sums(const struct brute *b, double lo, double hi, double s_lo, double s_hi,
		       double *sum)
{
	enum {
		SIGMAS = 40,
		LEVELS = 120,
		SHIFTS = 200
	};
	double d_lo = log(b->prior->min_effect / 2.0), d_hi = log(b->prior->max_effect);
	double e0[N], e1[N];

	memset(sum, 0, b->nodes * sizeof(*sum));
	for (int i = 0; i < SIGMAS; i++) {
		double ls = s_lo + (i + 0.5) * (s_hi - s_lo) / SIGMAS, s = exp(ls);
		double r = b->noise.sd / s;
		double ps = exp(-b->noise.df * (ls + 0.5 * r * r));

		for (int j = 0; j < LEVELS; j++) {
			double l = lo + (j + 0.5) * (hi - lo) / LEVELS, p = ps, all = 0.0;

			if (b->prior->level_sd > 0.0) {
				double z = (l - b->prior->level) / b->prior->level_sd;

				p *= exp(-0.5 * z * z);
			}
			node_logs(b, l, s, e0);
			for (size_t n = 0; n < b->nodes; n++)
				all += e0[n];
			sum[0] += p * exp(all);
			for (int k = 0; k < SHIFTS; k++) {
				double d = exp(d_lo + (k + 0.5) * (d_hi - d_lo) / SHIFTS);
				double t = all;

				node_logs(b, l + d, s, e1);
				for (size_t h = b->nodes; h-- > 1;) {
					t += e1[h] - e0[h];
					sum[h] += p * exp(t) / SHIFTS;
				}
			}
		}
	}
}

static void against_brute(const struct posterior_obs *obs, size_t n_obs,
			  const struct posterior_prior *prior, double lo, double hi, double s_lo,
			  double s_hi)
{
	struct brute b = {.obs = obs, .n_obs = n_obs, .nodes = N, .prior = prior};
	double mass[N], prior_mass[N], total = 0.0;
	CLEANUP(sides_release) struct sides sides;
	CLEANUP(posterior_release) struct posterior post;

	b.noise = prior->noise;
	if (!(b.noise.df > 0.0))
		b.noise = (struct sd_prior){2.5 * prior->min_effect, 1.0};
	brute_sums(&b, lo, hi, s_lo, s_hi, mass);
	for (int h = 0; h < N; h++) {
		prior_mass[h] = h == 0 ? 0.2 : 0.8 / (N - 1);
		total += mass[h] *= prior_mass[h];
	}
	chain(&sides, N);
	posterior_init(&post, &sides, prior_mass, obs, n_obs, prior);
	for (int h = 0; h < N; h++)
		assert_true(fabs(post.mass[h] - mass[h] / total) < 1e-3);
}

static size_t draw(struct posterior_obs *obs, uint64_t seed, size_t culprit, double d,
		   const size_t *boots)
{
	struct rng rng;
	size_t n = 0;

	rng_seed(&rng, seed);
	for (size_t k = 0; k < N; k++)
		for (size_t i = 0; i < boots[k]; i++)
			obs[n++] = (struct posterior_obs){
				.node = k, .y = (k >= culprit ? d : 0.0) + rng_normal(&rng)};
	return n;
}

static void test_brute_blind(void **state)
{
	static const size_t boots[N] = {4, 0, 1, 2, 1, 0, 1, 4};
	struct posterior_obs obs[MAX_BOOTS];
	struct posterior_prior prior;

	(void)state;
	posterior_prior_init(&prior, 0.5);
	prior.max_effect = 20.0;
	for (uint64_t seed = 1; seed <= 2; seed++)
		against_brute(obs, draw(obs, seed, 3, 1.5, boots), &prior, -6.0, 8.0, log(0.15),
			      log(8.0));
}

static void test_brute_history(void **state)
{
	static const size_t boots[N] = {0, 0, 2, 0, 1, 0, 0, 3};
	struct posterior_obs obs[MAX_BOOTS];
	struct posterior_prior prior;

	(void)state;
	posterior_prior_init(&prior, 0.2);
	prior.max_effect = 20.0;
	prior.noise = (struct sd_prior){1.1, 12.0};
	prior.level = 0.1;
	prior.level_sd = 0.4;
	against_brute(obs, draw(obs, 7, 3, 1.0, boots), &prior, -3.0, 3.0, log(0.3), log(4.0));
}

static void test_brute_outlier(void **state)
{
	static const size_t boots[N] = {5, 0, 1, 2, 1, 0, 1, 5};
	struct posterior_obs obs[MAX_BOOTS];
	struct posterior_prior prior;
	size_t n = draw(obs, 11, 4, 3.0, boots);

	(void)state;
	posterior_prior_init(&prior, 0.5);
	prior.max_effect = 20.0;
	obs[1].y += 9.0;
	obs[6].y += 12.0;
	against_brute(obs, n, &prior, -6.0, 12.0, log(0.2), log(12.0));
}

static void test_brute_null(void **state)
{
	static const size_t boots[N] = {6, 0, 1, 1, 1, 0, 1, 6};
	struct posterior_obs obs[MAX_BOOTS];
	struct posterior_prior prior;

	(void)state;
	posterior_prior_init(&prior, 0.3);
	prior.max_effect = 20.0;
	against_brute(obs, draw(obs, 5, N, 0.0, boots), &prior, -6.0, 6.0, log(0.15), log(8.0));
}

/* One evaluation of a chain with an even prior; the null has 0.2. */
/* As brute_sums() when the level before is 0 and sigma 1: what is left is the shift. */
static void sums_of_shift(const struct brute *b, double *sum)
{
	enum {
		SHIFTS = 2000
	};
	double lo = log(b->prior->min_effect / 2.0), hi = log(b->prior->max_effect);
	int shifts = b->prior->known_shift > 0.0 ? 1 : SHIFTS;
	double e0[N], e1[N], all = 0.0;

	memset(sum, 0, b->nodes * sizeof(*sum));
	node_logs(b, 0.0, 1.0, e0);
	for (size_t n = 0; n < b->nodes; n++)
		all += e0[n];
	sum[0] = exp(all);
	for (int k = 0; k < shifts; k++) {
		double d = exp(lo + (k + 0.5) * (hi - lo) / SHIFTS), t = all;

		node_logs(b, shifts == 1 ? b->prior->known_shift : d, 1.0, e1);
		for (size_t h = b->nodes; h-- > 1;) {
			t += e1[h] - e0[h];
			sum[h] += exp(t) / shifts;
		}
	}
}

/* After each of 60 boots, with outliers in the model that make long tails of levels. */
static double off_with_history(double known_shift, double d, uint64_t seed)
{
	struct posterior_obs obs[60];
	struct posterior_prior prior;
	struct brute b = {.obs = obs, .nodes = N, .prior = &prior};
	double prior_mass[N], mass[N], worst = 0.0;
	CLEANUP(sides_release) struct sides sides;
	CLEANUP(posterior_release) struct posterior post;
	struct rng rng;

	posterior_prior_init(&prior, 0.5);
	prior.max_effect = 20.0;
	prior.known_shift = known_shift;
	prior.noise = (struct sd_prior){1.0, 1e6};
	prior.level_sd = 1e-3;
	for (int h = 0; h < N; h++)
		prior_mass[h] = h == 0 ? 0.2 : 0.8 / (N - 1);
	rng_seed(&rng, seed);
	chain(&sides, N);
	posterior_start(&post, &sides, prior_mass, &prior);
	while (b.n_obs < ARRAY_SIZE(obs)) {
		size_t node = rng_below(&rng, N);
		double total = 0.0;

		obs[b.n_obs] = (struct posterior_obs){
			.node = node, .y = (node >= 3 ? d : 0.0) + rng_normal(&rng)};
		posterior_add(&post, &obs[b.n_obs++], 1);
		sums_of_shift(&b, mass);
		for (int h = 0; h < N; h++)
			total += mass[h] *= prior_mass[h];
		for (int h = 0; h < N; h++)
			worst = fmax(worst, fabs(post.mass[h] - mass[h] / total));
	}
	return worst;
}

static void test_sharp_history(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 2; seed++)
		for (double d = 0.5; d <= 2.0; d *= 2.0) {
			assert_true(off_with_history(d, d, seed) < 1e-4);
			assert_true(off_with_history(0.0, d, seed) < 2e-3);
		}
}

static void evaluate(struct posterior *post, struct sides *sides, size_t nodes,
		     const struct posterior_obs *obs, size_t n_obs,
		     const struct posterior_prior *prior)
{
	AUTO_FREE double *mass = xcalloc(nodes, sizeof(*mass));

	for (size_t h = 0; h < nodes; h++)
		mass[h] = h == 0 ? 0.2 : 0.8 / (double)(nodes - 1);
	chain(sides, nodes);
	posterior_init(post, sides, mass, obs, n_obs, prior);
}

static void assert_sane(const struct posterior *post)
{
	double total = 0.0;

	for (size_t h = 0; h < post->hypotheses; h++) {
		assert_true(isfinite(post->mass[h]) && post->mass[h] >= 0.0);
		total += post->mass[h];
	}
	assert_true(fabs(total - 1.0) < 1e-9);
	assert_true(isfinite(post->log_evidence));
	assert_true(isfinite(post->sigma) && post->sigma > 0.0);
	assert_true(isfinite(post->shift) && post->shift > 0.0);
}

static void test_no_boots(void **state)
{
	struct posterior_prior prior;
	CLEANUP(sides_release) struct sides sides;
	CLEANUP(posterior_release) struct posterior post;

	(void)state;
	posterior_prior_init(&prior, 0.02);
	evaluate(&post, &sides, 4, NULL, 0, &prior);
	assert_sane(&post);
	assert_true(fabs(post.mass[0] - 0.2) < 1e-12);
	assert_true(isinf(post.level0_sd));
}

static void test_one_suspect(void **state)
{
	static const struct posterior_obs obs[] = {{0, 10.0, 0},  {1, 10.5, 0}, {0, 10.02, 0},
						   {1, 10.48, 0}, {0, 9.99, 0}, {1, 10.51, 0}};
	struct posterior_prior prior;
	CLEANUP(sides_release) struct sides sides;
	CLEANUP(posterior_release) struct posterior post;

	(void)state;
	posterior_prior_init(&prior, 0.02);
	prior.noise = (struct sd_prior){0.02, 10.0};
	evaluate(&post, &sides, 2, obs, ARRAY_SIZE(obs), &prior);
	assert_sane(&post);
	assert_true(post.mass[1] > 0.999);
	assert_true(fabs(post.level0 - 10.003) < 0.02);
	assert_true(fabs(post.shift - 0.493) < 0.03);
	assert_true(fabs(post.level1 - post.level0 - post.shift) < 1e-6);
}

/* Boots on one side only say nothing about where the culprit is. */
static void test_one_sided(void **state)
{
	static const struct posterior_obs obs[] = {{0, 1.0, 0}, {0, 1.1, 0}, {0, 0.9, 0}};
	struct posterior_prior prior;

	(void)state;
	posterior_prior_init(&prior, 0.02);
	for (int side = 0; side < 2; side++) {
		struct posterior_obs o[ARRAY_SIZE(obs)];
		CLEANUP(sides_release) struct sides sides;
		CLEANUP(posterior_release) struct posterior post;

		memcpy(o, obs, sizeof(o));
		for (size_t i = 0; i < ARRAY_SIZE(o); i++)
			o[i].node = side ? 5 : 0;
		evaluate(&post, &sides, 6, o, ARRAY_SIZE(o), &prior);
		assert_sane(&post);
		for (int h = 1; h < 6; h++)
			assert_true(fabs(post.mass[h] - 0.16) < 1e-6);
	}
}

static void test_wild_numbers(void **state)
{
	static const double wild[] = {1e6, -1e6, 50.0, 5e3};
	struct posterior_prior prior;

	(void)state;
	posterior_prior_init(&prior, 0.02);
	for (size_t k = 0; k < ARRAY_SIZE(wild); k++) {
		struct posterior_obs obs[13];
		CLEANUP(sides_release) struct sides sides;
		CLEANUP(posterior_release) struct posterior post;

		for (size_t i = 0; i < 12; i++)
			obs[i] = (struct posterior_obs){
				i < 5	? 0
				: i < 7 ? 2
					: 4,
				3.0 + 0.01 * (double)(i % 3) + (i < 7 ? 0.0 : 0.4), 0};
		obs[12] = (struct posterior_obs){2, wild[k], 0};
		prior.noise = (struct sd_prior){0.02, 8.0};
		evaluate(&post, &sides, 5, obs, ARRAY_SIZE(obs), &prior);
		assert_sane(&post);
		assert_true(post.mass[3] + post.mass[4] > 0.9);
	}
}

static void test_no_spread(void **state)
{
	struct posterior_obs obs[10];
	struct posterior_prior prior;
	CLEANUP(sides_release) struct sides sides;
	CLEANUP(posterior_release) struct posterior post;

	(void)state;
	posterior_prior_init(&prior, 0.02);
	for (size_t i = 0; i < 10; i++)
		obs[i] = (struct posterior_obs){i < 5 ? 0 : 3, i < 5 ? 2.0 : 2.3, 0};
	evaluate(&post, &sides, 4, obs, 10, &prior);
	assert_sane(&post);
	assert_true(post.mass[0] < 0.01);
	assert_true(fabs(post.mass[1] - post.mass[3]) < 1e-9);
}

/* The order of boots and a common offset change nothing. */
static void test_invariance(void **state)
{
	static const size_t boots[N] = {3, 1, 2, 0, 2, 1, 0, 3};
	struct posterior_obs obs[MAX_BOOTS], moved[MAX_BOOTS];
	struct posterior_prior prior;
	size_t n = draw(obs, 21, 4, 2.0, boots);
	CLEANUP(sides_release) struct sides sides_a;
	CLEANUP(sides_release) struct sides sides_b;
	struct rng rng;
	CLEANUP(posterior_release) struct posterior a;
	CLEANUP(posterior_release) struct posterior b;

	(void)state;
	rng_seed(&rng, 4);
	memcpy(moved, obs, sizeof(moved));
	rng_shuffle(&rng, moved, n, sizeof(*moved));
	for (size_t i = 0; i < n; i++)
		moved[i].y += 20.0;
	posterior_prior_init(&prior, 0.5);
	evaluate(&a, &sides_a, N, obs, n, &prior);
	evaluate(&b, &sides_b, N, moved, n, &prior);
	for (int h = 0; h < N; h++)
		assert_true(fabs(a.mass[h] - b.mass[h]) < 1e-6);
	assert_true(fabs(b.level0 - a.level0 - 20.0) < 1e-6);
}

/* In other units nothing changes but the units. */
static void test_scale(void **state)
{
	static const size_t boots[N] = {3, 1, 2, 0, 2, 1, 0, 3};
	struct posterior_obs obs[MAX_BOOTS];
	struct posterior_prior prior;
	size_t n = draw(obs, 22, 5, 1.5, boots);
	CLEANUP(sides_release) struct sides sides_a;
	CLEANUP(sides_release) struct sides sides_b;
	CLEANUP(posterior_release) struct posterior a;
	CLEANUP(posterior_release) struct posterior b;

	(void)state;
	posterior_prior_init(&prior, 0.5);
	prior.max_effect = 20.0;
	prior.noise = (struct sd_prior){1.0, 5.0};
	evaluate(&a, &sides_a, N, obs, n, &prior);
	for (size_t i = 0; i < n; i++)
		obs[i].y *= 0.02;
	prior.min_effect *= 0.02;
	prior.max_effect *= 0.02;
	prior.noise.sd *= 0.02;
	evaluate(&b, &sides_b, N, obs, n, &prior);
	for (int h = 0; h < N; h++)
		assert_true(fabs(a.mass[h] - b.mass[h]) < 1e-6);
	assert_true(fabs(b.shift - 0.02 * a.shift) < 1e-6);
	assert_true(fabs(b.sigma - 0.02 * a.sigma) < 1e-6);
}

/* Boot by boot comes to the same as all at once. */
static void test_steps(void **state)
{
	static const size_t boots[N] = {6, 2, 3, 4, 5, 3, 2, 6};
	struct posterior_obs obs[MAX_BOOTS];
	struct posterior_prior prior;
	size_t n = draw(obs, 23, 4, 1.0, boots);
	double mass[N];
	struct rng rng;

	(void)state;
	posterior_prior_init(&prior, 0.5);
	prior.max_effect = 20.0;
	rng_seed(&rng, 6);
	for (int trial = 0; trial < 10; trial++) {
		CLEANUP(sides_release) struct sides sides;
		CLEANUP(sides_release) struct sides again;
		CLEANUP(posterior_release) struct posterior post;
		CLEANUP(posterior_release) struct posterior whole;

		for (int h = 0; h < N; h++)
			mass[h] = h ? 0.8 / (N - 1) : 0.2;
		rng_shuffle(&rng, obs, n, sizeof(*obs));
		chain(&sides, N);
		posterior_start(&post, &sides, mass, &prior);
		for (size_t i = 0; i < n; i++)
			posterior_add(&post, &obs[i], 1);
		evaluate(&whole, &again, N, obs, n, &prior);
		for (int h = 0; h < N; h++)
			assert_true(fabs(post.mass[h] - whole.mass[h]) < 1e-3);
	}
}

/* With known levels a number above their middle speaks for its node having the culprit, and the
 * more the higher it is, until it looks like an outlier. */
static void test_monotone(void **state)
{
	struct posterior_prior prior;
	double last = 0.0;

	(void)state;
	posterior_prior_init(&prior, 0.5);
	prior.noise = (struct sd_prior){1.0, 1e4};
	prior.level_sd = 0.01;
	prior.known_shift = 2.0;
	for (int i = 0; i <= 16; i++) {
		const struct posterior_obs obs = {3, -1.0 + 0.25 * i, 0};
		CLEANUP(sides_release) struct sides sides;
		CLEANUP(posterior_release) struct posterior post;
		double prior_after;

		evaluate(&post, &sides, N, &obs, 1, &prior);
		prior_after = 0.8 * 3.0 / 7.0;
		assert_true(post.after[3] > last);
		if (obs.y != 1.0)
			assert_true((post.after[3] > prior_after) == (obs.y > 1.0));
		last = post.after[3];
	}
}

/* Offsets: learned when the machines share nodes, and no ground for blame when they do not. */
static void test_machines(void **state)
{
	struct posterior_prior prior;
	struct posterior_obs obs[16];
	struct rng rng;
	double found[2];

	(void)state;
	posterior_prior_init(&prior, 0.3);
	prior.noise = (struct sd_prior){0.1, 30.0};
	prior.machine_sd = 0.5;
	for (int shared = 0; shared < 2; shared++) {
		CLEANUP(sides_release) struct sides sides;
		CLEANUP(posterior_release) struct posterior post;

		rng_seed(&rng, 9);
		for (size_t i = 0; i < 16; i++) {
			size_t node = i < 8 ? 0 : 1;
			size_t machine = shared ? i % 2 : node;

			obs[i] = (struct posterior_obs){node,
							(node ? 0.6 : 0.0) + (machine ? 0.4 : 0.0) +
								0.1 * rng_normal(&rng),
							machine};
		}
		evaluate(&post, &sides, 2, obs, 16, &prior);
		assert_sane(&post);
		found[shared] = post.mass[1];
		if (shared)
			assert_true(fabs(post.shift - 0.6) < 0.15);
	}
	assert_true(found[0] < 0.95);
	assert_true(found[1] > 0.999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_brute_blind),   cmocka_unit_test(test_brute_history),
		cmocka_unit_test(test_brute_outlier), cmocka_unit_test(test_brute_null),
		cmocka_unit_test(test_sharp_history), cmocka_unit_test(test_no_boots),
		cmocka_unit_test(test_one_suspect),   cmocka_unit_test(test_one_sided),
		cmocka_unit_test(test_wild_numbers),  cmocka_unit_test(test_no_spread),
		cmocka_unit_test(test_invariance),    cmocka_unit_test(test_machines),
		cmocka_unit_test(test_scale),	      cmocka_unit_test(test_steps),
		cmocka_unit_test(test_monotone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

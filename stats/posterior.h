/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_POSTERIOR_H
#define STATS_POSTERIOR_H

/*
 * The bisection's posterior: which commit brought the shift, given one number per boot.
 *
 *   y = level0 + side * shift + noise;  y is log(value + floor), signed so that larger is worse
 *   noise: (1 - outlier) N(0, sigma) + outlier N(0, outlier_scale * sigma), level beyond 4 broad
 *   deviations
 *   sigma^2 ~ scaled inverse chi^2 (sd, df);  level0 ~ N(level, level_sd) or flat
 *   shift ~ log-uniform on [min_effect / 2, max_effect]; 0 under hypothesis 0
 *
 * Levels, shift and sigma are integrated out on a grid that follows the data.
 */

#include <stddef.h>
#include <stdint.h>

#include "stats/estimate.h"
#include "stats/levels.h"
#include "stats/sides.h"

/* No node: a boot of a level that no hypothesis is about, the same for all of these. It tells the
 * noise only. (With machines that have offsets it tells nothing.) */
#define POSTERIOR_ASIDE SIZE_MAX

struct posterior_obs {
	size_t node;
	double y;
	size_t machine; /* 0.. ; matters only when machine_sd > 0 */
};

struct posterior_prior {
	double min_effect;	/* smallest log ratio worth reporting, > 0 */
	double max_effect;	/* upper end of the shift's prior */
	double known_shift;	/* > 0: the shift is this one, whatever min_effect says */
	struct sd_prior noise;	/* df = 0: a very weak one about 2.5 min_effect is used */
	double level, level_sd; /* of the good end, from history; level_sd = 0: unknown */
	double outlier;		/* weight of the broad component, 0 <= outlier < 1 */
	double outlier_scale;
	double second_odds; /* for stats/changes.h: by which a second change is dismissed; 0: none is
			     * looked for */
	double machine_sd;  /* spread of the machines' own offsets; 0: machines are equal */
};

/* max_effect 5 (150 times as slow), outliers 3 % at 10 sigma: the most that searches were
 * simulated with, and four sigma are worth two boots still. The rest unknown. */
void posterior_prior_init(struct posterior_prior *prior, double min_effect);

struct posterior {
	const struct sides *sides; /* borrowed from posterior_start() */
	size_t hypotheses, nodes;
	double *mass;	     /* per hypothesis, sums to 1 */
	double *after;	     /* per node: mass of the hypotheses under which it has the culprit */
	double log_evidence; /* of all boots; known up to a factor when the level is flat */
	/* Posterior means and standard deviations. level1 and shift are given that there is a
	 * culprit. Infinite sd: no boot and no history tells that level. */
	double level0, level0_sd;
	double level1, level1_sd;
	double shift, shift_sd;
	double sigma, sigma_sd;
	size_t boots;
	size_t *boots_of; /* per node */
	/* Hypotheses that agree on all booted nodes form a class and share one fit. */
	size_t classes;
	size_t *class_of;	/* per hypothesis */
	struct levels_fit *fit; /* per class */
	double noise_df;	/* boots + the prior's df: how well sigma is known */
	bool level_known;	/* history tells the good level */
	struct posterior_state *state_;
};

/*
 * prior_mass has one number >= 0 per hypothesis (any scale, at least one > 0). sides must be indexed
 * and outlive post.
 */
void posterior_start(struct posterior *post, const struct sides *sides, const double *prior_mass,
		     const struct posterior_prior *prior);
/*
 * Adds boots and updates all of the above. Cost: distinct splits of the booted nodes x grid, plus
 * the hypotheses; when several machines (at most 40) have offsets, boots x grid x 66.
 * The order of the boots and the steps in which they come matter only to the error of the
 * quadrature: against a grid four times as fine masses were off by 4e-4 on average and 2e-3 at most from 24 boots
 * on (1,024 commits, a shift of one deviation).
 */
void posterior_add(struct posterior *post, const struct posterior_obs *obs, size_t n_obs);
/* Both. */
void posterior_init(struct posterior *post, const struct sides *sides, const double *prior_mass,
		    const struct posterior_obs *obs, size_t n_obs,
		    const struct posterior_prior *prior);
void posterior_release(struct posterior *post);

#endif

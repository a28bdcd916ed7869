/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_SIM_DETECT_H
#define STATS_SIM_DETECT_H

/*
 * One series through the shipped detector, confirmation and proof, over noise of which the truth is
 * known. Numbers are in standard deviations of one boot. What decides sees only the boots.
 */

#include "stats/detect.h"
#include "stats/rng.h"
#include "stats/tape.h"

/* What lies about a level; each has deviation 1, if not said otherwise. */
enum sim_noise {
	SIM_GAUSSIAN,
	SIM_LOGNORMAL, /* skewed to the worse even on the scale of logs: exp(N / 2) */
	SIM_DRIFT,     /* first-order autoregression, 0.6, over all boots in the order of time */
	SIM_BIMODAL,   /* 3 of 10 boots are off by 3 deviations of a mode */
	SIM_OUTLIERS,  /* 1 of 100 is off by 8 */
	SIM_LAYOUT,    /* each build is off by its own, deviation 0.5; confirmed with fresh ones */
	SIM_NOISES
};

extern const char *const sim_noise_names[SIM_NOISES];

struct sim_source {
	struct rng *rng;
	enum sim_noise noise;
	double drift;	       /* where the autoregression is */
	struct tape_head head; /* recorded noise instead, when it has a tape */
};

void sim_source_init(struct sim_source *source, enum sim_noise noise, struct rng *rng);
/* From here on, from anywhere on this tape; borrowed. */
void sim_source_replay(struct sim_source *source, const struct tape *tape);
/* The next boot in the order of time, less its level and, but for `fresh`, less its layout. */
double sim_boot(struct sim_source *source, bool fresh);
/* Fresh boots of two images in one random order, `each` of either. */
void sim_block(struct sim_source *source, double before, double after, size_t each, double *b,
	       double *a);

struct sim_detect {
	enum sim_noise noise;
	const struct tape *tape; /* recorded noise instead; borrowed; NULL: none */
	size_t commits, boots;	 /* of each */
	double step;		 /* > 0 is worse; 0: no change */
	bool exactly;		 /* the step is what is said to be found at that commit, instead */
	double detectable;	 /* exactly: what confirm_detectable() says of `rule` at 0.98 */
	size_t step_at;		 /* commit */
	size_t seen;		 /* commits with the step before the series ends; 0: all */
	size_t proof_boots;	 /* of each side */
	struct confirm_rule rule;
};

/* 200 commits of 2 boots, no change, and all else as the settings' defaults. */
void sim_detect_init(struct sim_detect *spec);

struct sim_detect_end {
	size_t candidates, worse;    /* raised where nothing had changed; those to the worse */
	bool false_alarm;	     /* one of these was confirmed */
	bool raised, confirmed;	     /* the step */
	size_t delay;		     /* its commits until it was raised, the first is 1 */
	size_t wasted;		     /* boots that confirmed nothing, where nothing had changed */
	double step, stated, lo, hi; /* as planted; by the proof, when confirmed */
};

void sim_detect_run(const struct sim_detect *spec, struct rng *rng, struct sim_detect_end *end);

/* One confirmation by itself: its verdict; *boots of both sides. */
enum confirm_verdict sim_confirm(const struct sim_detect *spec, struct sim_source *source,
				 double shift, const struct sd_prior *prior, size_t *boots);

#endif

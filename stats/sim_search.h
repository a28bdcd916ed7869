/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_SIM_SEARCH_H
#define STATS_SIM_SEARCH_H

/*
 * Whole searches by the shipped posterior and choice of boots, over noise of which the truth is
 * known. Numbers are in standard deviations of one boot. What decides sees only the boots.
 */

#include "stats/rng.h"
#include "stats/changes.h"
#include "stats/tape.h"

enum sim_knowledge {
	SIM_NOTHING, /* all is learned from the search's boots */
	SIM_HISTORY, /* the good level and sigma are known */
	SIM_LEVELS,  /* the shift too */
};

struct sim_search {
	size_t suspects;
	double shift;	    /* 0: no change */
	double second;	    /* another change, at least 4 commits away; 0: none */
	double second_odds; /* as in stats/posterior.h */
	enum sim_knowledge known;
	double none_prior;    /* of "no culprit"; 0: not among the hypotheses */
	double outlier_model; /* weight of the broad component in the model */
	double floor;	      /* least shift of the model: half of what is worth reporting */
	double ceiling;	      /* largest shift of the model */
	bool from_prior;      /* truth is drawn from the model, and shift is not looked at */
	double stop;	      /* posterior at which the search ends */
	size_t budget;	      /* boots */
	double outliers;      /* share of boots that are off by about outlier_at */
	double outlier_at;
	double layout; /* deviation of the layouts; each boot has a fresh one */
	double drift;  /* sum of a linear drift over drift_boots boots */
	size_t drift_boots;
	double skips;		 /* share of nodes that do not boot, in clusters */
	bool skips_alone;	 /* what does not boot is taken as no hint about its neighbours */
	double branches;	 /* share of the suspects on side branches */
	double culprit_weight;	 /* the culprit's prior beside the others' */
	size_t machines;	 /* boots at a time */
	double machine_sd;	 /* of the machines' offsets, which are unknown */
	const struct tape *tape; /* recorded noise instead of normal; borrowed; NULL: none */
};

/* 256 suspects on a line, shift 2, one machine, nothing known, as the bisector ships. */
void sim_search_init(struct sim_search *spec);

struct sim_search_end {
	struct search_state state;
	size_t culprit; /* hypothesis; 0: none */
	bool right;	/* the exact commit, or rightly none */
	bool holds;	/* the answer's set holds it */
	size_t other;	/* hypothesis of the second change; 0: none */
	bool blamed;	/* a commit was named that brought neither */
	bool two;	/* the search ended with two changes */
	bool both;	/* and named both exactly */
	bool top;	/* the first of the set is it */
	double mass;	/* of the first of the set */
	size_t boots, rounds;
	size_t lost; /* boots of nodes that do not boot; not among `boots` */
};

/* What all searches of one kind share. */
struct sim_world {
	struct sim_search spec;
	struct sides sides;
	struct posterior_prior prior;
};

void sim_world_init(struct sim_world *world, const struct sim_search *spec, struct rng *rng);
void sim_world_release(struct sim_world *world);
/* One search to its end. */
void sim_search_run(const struct sim_world *world, struct rng *rng, struct sim_search_end *end);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Broken commits and their neighbours. */
#include "stats/usable.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"

/* Prior of the share of broken commits: one in twenty, worth ten commits; a search soon knows better. */
static const double prior_broken = 0.5;
static const double prior_sound = 9.5;
/* Mean run of broken commits. A patch that breaks the build is mended by a later one of its series,
 * and those have a handful. With 2 or 8 a neighbour is broken with 0.5 or 0.9, with this with 0.76. */
static const double mean_run = 4.0;
static const double least = 0.01;

/* The chain's share of broken commits, and its correlation from one commit to the next. */
struct chain {
	double share, keep;
};

static struct chain chain_of(const enum usable_seen *seen, size_t n)
{
	double broken = prior_broken, sound = prior_sound, share;

	for (size_t i = 0; i < n; i++) {
		broken += seen[i] == USABLE_BROKEN;
		sound += seen[i] == USABLE_SOUND;
	}
	share = broken / (broken + sound);
	/* a run ends with (1 - share) (1 - keep) a commit */
	return (struct chain){share, fmax(0.0, 1.0 - 1.0 / (mean_run * (1.0 - share)))};
}

/* Odds of being broken, over those of any commit, `apart` commits from one that is `seen`. */
static double odds_beside(const struct chain *chain, enum usable_seen seen, double apart)
{
	double q = chain->share, kept = pow(chain->keep, apart);
	double p = seen == USABLE_BROKEN ? q + (1.0 - q) * kept : q * (1.0 - kept);

	return p / fmax(1.0 - p, 1e-9) * (1.0 - q) / q;
}

/* Per node, the suspects that it has, as bits. */
struct held {
	size_t words;
	uint64_t *bits;
};

static struct held held_of(const struct sides *sides)
{
	struct held held = {.words = (sides->hypotheses + 63) / 64};

	held.bits = xcalloc(sides->nodes * held.words, sizeof(*held.bits));
	for (size_t n = 0; n < sides->nodes; n++)
		for (size_t r = sides->first_run[n]; r < sides->first_run[n + 1]; r++)
			for (size_t h = sides->runs[r].from; h < sides->runs[r].to; h++)
				held.bits[n * held.words + h / 64] |= UINT64_C(1) << (h % 64);
	return held;
}

/* Suspects that node a has and b has not. */
static size_t beyond(const struct held *held, size_t a, size_t b)
{
	const uint64_t *x = held->bits + a * held->words, *y = held->bits + b * held->words;
	size_t n = 0;

	for (size_t w = 0; w < held->words; w++)
		n += (size_t)__builtin_popcountll(x[w] & ~y[w]);
	return n;
}

/* The nearest tried node on either side; of equally near ones a broken one. */
struct nearest {
	enum usable_seen seen;
	size_t apart;
};

static void look(struct nearest *nearest, enum usable_seen seen, size_t apart)
{
	if (nearest->seen == USABLE_UNTRIED || apart < nearest->apart ||
	    (apart == nearest->apart && seen == USABLE_BROKEN))
		*nearest = (struct nearest){seen, apart};
}

static double chance_of(const struct held *held, const struct chain *chain,
			const enum usable_seen *seen, size_t nodes, size_t n)
{
	struct nearest side[2] = {{USABLE_UNTRIED, 0}, {USABLE_UNTRIED, 0}};
	double odds = chain->share / (1.0 - chain->share);

	for (size_t k = 0; k < nodes; k++) {
		size_t more, less;

		if (seen[k] == USABLE_UNTRIED)
			continue;
		more = beyond(held, k, n);
		less = beyond(held, n, k);
		look(&side[more > less], seen[k], more + less);
	}
	for (int s = 0; s < 2; s++)
		if (side[s].seen != USABLE_UNTRIED)
			odds *= odds_beside(chain, side[s].seen, (double)side[s].apart);
	return fmax(least, 1.0 / (1.0 + odds));
}

void usable_chances(const struct sides *sides, const enum usable_seen *seen, double *chance)
{
	struct chain chain = chain_of(seen, sides->nodes);
	AUTO_FREE uint64_t *bits = NULL;
	struct held held;
	bool any = false;

	for (size_t n = 0; n < sides->nodes; n++) {
		chance[n] = 1.0;
		any |= seen[n] == USABLE_BROKEN;
	}
	if (!any)
		return;
	held = held_of(sides);
	bits = held.bits;
	for (size_t n = 0; n < sides->nodes; n++) {
		if (seen[n] == USABLE_UNTRIED)
			chance[n] = chance_of(&held, &chain, seen, sides->nodes, n);
		else if (seen[n] == USABLE_BROKEN)
			chance[n] = least;
	}
}

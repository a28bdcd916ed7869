/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_BENCH_DECIDE_H
#define TESTS_BENCH_DECIDE_H

/*
 * Figures of the decisions. A part measures some rows of the table; parts run side by side, each
 * in a process of its own.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct decide {
	uint64_t seed;	  /* SEED=; a part derives its own */
	bool full;	  /* the large counts of trials */
	double scale;	  /* of the counts of trials, for a quick look; 1 otherwise */
	const char *data; /* folder of labelled series; may be NULL */
};

struct decide_part {
	const char *name;
	void (*run)(const struct decide *decide);
};

/* ended by a zeroed entry */
extern const struct decide_part decide_search_parts[];
extern const struct decide_part decide_detect_parts[];
extern const struct decide_part decide_labelled_parts[];

/* One row: goal is "<= 1.05" or ">= 98.7"; "-" when the figure is only printed. */
void decide_row(const char *what, const char *condition, const char *goal, double measured,
		const char *unit);
/* usual trials, or `full` ones for the full run; never below 10. */
size_t decide_trials(const struct decide *decide, size_t usual, size_t full);

#endif

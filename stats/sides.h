/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_SIDES_H
#define STATS_SIDES_H

/*
 * Which node lies on which side of which hypothesis: a bit matrix, so that a chain and a DAG
 * look the same. Hypothesis 0 is "no culprit" and has every node before.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sides {
	size_t hypotheses;
	size_t nodes;
	size_t words; /* per hypothesis */
	uint64_t *bits;
	/* Per node, the hypotheses under which it is after as runs from .. to - 1: one run in a
	 * chain, few in a DAG. Of sides_index(). */
	struct sides_run *runs;
	size_t *first_run; /* [nodes + 1] */
};

struct sides_run {
	size_t from, to;
};

/* All bits 0 = before. hypotheses >= 1. */
void sides_init(struct sides *sides, size_t hypotheses, size_t nodes);
void sides_release(struct sides *sides);
/* If h is the culprit, node n has it. h > 0. */
void sides_set_after(struct sides *sides, size_t h, size_t n);
/* To be called when all are set. */
void sides_index(struct sides *sides);
bool sides_after(const struct sides *sides, size_t h, size_t n);
/* after[n] = total mass of the hypotheses under which node n is after: F of the split.
 * Wants sides_index(). */
void sides_mass(const struct sides *sides, const double *mass, double *after);

/*
 * Numbers the hypotheses by what they say about the nodes with use[n] true: equal rows get equal
 * class numbers, 0.. in order of appearance, so hypothesis 0 is in class 0. Returns how many.
 */
size_t sides_classes(const struct sides *sides, const bool *use, size_t *class_of);
/* The same numbering when node n joins those that are used; classes is how many there were. */
size_t sides_refine(const struct sides *sides, size_t n, size_t *class_of, size_t classes);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_EVALUE_H
#define STATS_EVALUE_H

/*
 * Evidence that may be looked at after every number. An e-value is >= 0 and has mean <= 1 when
 * nothing changed, so that it ever exceeds 1 / alpha with probability alpha at most (Ville 1939).
 */

#include <stddef.h>

/* Numbers of before and of after that were measured in one random order: every arrangement of the
 * two sides was as likely as any other. At most EVALUE_SIDE_MAX of a side. */
struct evalue_block {
	const double *before, *after; /* borrowed */
	size_t n0, n1;
};

enum {
	EVALUE_SIDE_MAX = 6,
	EVALUE_RATES = 4,
};

/* {0} is no evidence yet. */
struct evalue {
	double log_e[EVALUE_RATES]; /* of each rate */
	double now, best; /* log e-values: of the mixture after all blocks, its largest after any */
};

/*
 * Joins a block: evidence that after lies above before. When nothing changed, the labels of the two
 * sides were dealt at random over the numbers that came, whatever these are, so that drift, outliers
 * and skew cannot lie. The factor of a block is exp(k T) over its mean over all choose(n0 + n1, n1)
 * arrangements, where T is the sum of the after numbers: the likelihood ratio of a normal shift by k
 * deviations, given the numbers without their labels (Lehmann and Romano, "Testing Statistical
 * Hypotheses", 5.9, for the test; its mean is 1 by construction). Numbers are first standardised all
 * together, which does not look at labels; k is mixed over. At most log choose(n0 + n1, n1) a block; a
 * block with one side only, or with equal numbers, says nothing.
 */
void evalue_add(struct evalue *e, const struct evalue_block *block);

/* The most that a full block of so many numbers a side can add. */
double evalue_most(size_t each);

/*
 * How many of n hypotheses to reject so that the expected share of false ones among them is at
 * most alpha, however they depend on each other (Wang and Ramdas 2022, "False discovery rate
 * control with e-values"): those whose log e-value is at least *log_least, which is set.
 */
size_t evalue_bh(const double *log_e, size_t n, double alpha, double *log_least);

/*
 * The log e-value that one hypothesis more needs to be among those that evalue_bh() rejects of it and these n. With it,
 * and after each of the others that gets there, the set is what evalue_bh() gives.
 */
double evalue_bh_bar(const double *log_e, size_t n, double alpha);

/*
 * The error that the next of many tests may have when `spent` of `budget` is gone, however many follow: a fiftieth of
 * what is left, which never ends (alpha spending), and at most alpha. Sum of errors = expected number of false
 * alarms at most, whatever depends on what.
 */
double evalue_spend(double alpha, double budget, double spent);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_EVALUE_H
#define STATS_EVALUE_H

/*
 * Evidence that may be looked at after every number. An e-value is >= 0 and has mean <= 1 when
 * nothing changed, so that it ever exceeds 1 / alpha with probability alpha at most (Ville 1939).
 */

#include <stddef.h>

/*
 * Log e-value that differences after - before lie above 0, from pairs whose order was drawn at
 * random: when nothing changed each sign is a fair coin whatever the sizes are, so drift, outliers
 * and skew cannot lie. Each pair multiplies by 1 + tanh(k d / m), which is the likelihood ratio of
 * a normal difference against its mirror image; m is the median size so far, k is mixed over. At
 * most log 2 a pair. best: the largest after any number of these pairs; may be NULL.
 */
double evalue_pairs(const double *diffs, size_t n, double *best);

/*
 * How many of n hypotheses to reject so that the expected share of false ones among them is at
 * most alpha, however they depend on each other (Wang and Ramdas 2022, "False discovery rate
 * control with e-values"): those whose log e-value is at least *log_least, which is set.
 */
size_t evalue_bh(const double *log_e, size_t n, double alpha, double *log_least);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef STATS_COMPONENTS_H
#define STATS_COMPONENTS_H

/*
 * Where noise comes from: layouts of a build hold boots, boots hold iterations, each level adds its own variance.
 * Method of moments for the nested random model (Searle, Casella, McCulloch 1992, "Variance components", ch. 3), unequal numbers
 * allowed; what comes out below zero is zero.
 */

#include <stddef.h>

struct components_boot {
	size_t layout;	 /* 0, 1, ... */
	double number;	 /* what is stored of the boot, on the log scale */
	const double *y; /* its iterations, on the log scale; borrowed */
	size_t n;	 /* >= 1 */
};

/* Variances are those of logarithms; NAN where the design cannot tell. */
struct components {
	size_t layouts, boots;
	double iterations; /* of a boot: harmonic mean */
	double iteration;  /* variance within boots; NAN: no boot has two */
	double boot; /* variance of boots beside what iterations add; NAN: no layout has two boots */
	double layout; /* NAN: one layout */
	double sd;     /* of a boot's number about its layout's mean; NAN as boot */
	double df;     /* of sd: boots - layouts */
};

/* n > 0 boots, in any order. */
void components_find(const struct components_boot *boots, size_t n, struct components *out);

/*
 * Iterations per boot that give the most precision for the time, when a boot costs boot_s and an iteration iteration_s:
 * sqrt(boot_s / iteration_s * iteration / boot), rounded up (Kalibera and Jones 2013, "Rigorous benchmarking in reasonable time",
 * eq. 3). At most `most`, which is what boots that do not differ want. 0: not known.
 */
int components_iterations(const struct components *c, double boot_s, double iteration_s, int most);

/*
 * The change, as a log ratio, that a two-sided 5 % comparison of `boots` boots on each side sees 9 times in 10, its noise pooled with
 * what is known already. With `built`, both sides are kernels built for it: then layouts add a part that boots do not
 * average out (nothing, where it is not known). INFINITY when the noise is not known.
 */
double components_detectable(const struct components *c, size_t boots, int built);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_NOISE_H
#define DB_NOISE_H

/* What pilots (mmperf noise) measured of the noise of series. */

#include "db/estimate.h"

/* One boot of a pilot in one series. */
struct noise_boot {
	int64_t series;
	int64_t boot;
	char role[8];	/* of its layout */
	double number;	/* what is stored of the boot, in the metric's unit */
	double *values; /* one per iteration, in the metric's unit */
	size_t n;
	double run_s;	 /* of the run that gave them; NAN when it was not told */
	double others_s; /* of the whole boot without its runs; NAN likewise */
};

struct noise_boots {
	struct noise_boot *v;
	size_t n, cap;
};

void noise_boots_release(struct noise_boots *boots);
/* Good boots of a request, by series, then in the order of the boots. */
bool noise_boots_read(struct db *db, int64_t request, struct noise_boots *out,
		      struct err *err) _must_check;

/* A row of the table noise: standard deviations on the log scale, NAN where not known. */
struct noise_row {
	int64_t request, series, last_boot;
	size_t layouts, boots;
	double iterations;
	double sd_iteration, sd_boot, sd_layout;
	double sd; /* of a boot's number about its layout's mean */
	double df;
	double boot_s, iteration_s;
	int best_iterations; /* 0: not known */
};

bool noise_add(struct db *db, const struct noise_row *row, struct err *err) _must_check;
/* Standard deviations of layouts, and of boots of one layout, by the newest pilot of the series that had several
 * layouts; 0 when there was none. */
bool noise_layout(struct db *db, int64_t series, double *layout, double *boot,
		  struct err *err) _must_check;

#endif

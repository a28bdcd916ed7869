/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_COUNTER_H
#define DB_COUNTER_H

/* The kernel's counters of two sides. */

#include "db/compare.h"

/* One counter of the clean runs of one benchmark with one set of parameters. */
struct compared_counter {
	char *benchmark;
	char *params; /* "size=16M threads=4" */
	char *name;
	double *before; /* one number per boot; a counter that was not told did not move: 0 */
	size_t before_n;
	double *after;
	size_t after_n;
};

struct compared_counters {
	struct compared_counter *v;
	size_t n, cap;
};

void compared_counters_release(struct compared_counters *counters);
bool compared_counters_read(struct db *db, const struct compare_key *key,
			    struct compared_counters *out, struct err *err) _must_check;

#endif

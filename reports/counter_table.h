/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_COUNTER_TABLE_H
#define REPORTS_COUNTER_TABLE_H

/* Metrics that differ: the counters of two sides, the most changed first. */

#include "base/js.h"
#include "db/counter.h"
#include "stats/standardise.h"

struct counter_row {
	const struct compared_counter *counter;
	struct standardised stats; /* its p is Holm's over all counters */
};

struct counter_table {
	struct counter_row *v; /* by the size of the standardised change */
	size_t n, cap;
	size_t compared; /* counters with two boots on each side */
};

void counter_table_release(struct counter_table *table);
/* Keeps those that differ by more than chance (p < 0.05); counters must outlive out. */
void counter_table_compute(const struct compared_counters *counters, struct counter_table *out);
void counter_table_print(struct str *out, const struct counter_table *table, const char *before,
			 const char *after);
/* A new reference: [{benchmark, params, name, before, after, change_sd, p}] */
json_t *counter_table_json(const struct counter_table *table);

#endif

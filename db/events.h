/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_EVENTS_H
#define DB_EVENTS_H

/*
 * The events behind a boot's number: metrics that are a share of them (huge pages that succeeded), or a
 * quantile (the p99.9 of faults). Which metric counts what is a table in events.c.
 */

#include "db/conn.h"

enum events_kind {
	EVENTS_NONE, /* the metric counts nothing, or a boot did not tell */
	EVENTS_SHARE,
	EVENTS_TAIL
};

/* Of n boots, in the order that was asked. */
struct events {
	enum events_kind kind;
	size_t n;
	int64_t *hits, *of; /* EVENTS_SHARE: 0 <= hits <= of */
	double q;	    /* EVENTS_TAIL: the quantile that the metric is */
	size_t buckets;	    /* EVENTS_TAIL: log2, of each boot's histogram */
	int64_t **boots;    /* EVENTS_TAIL: histograms */
};

void events_release(struct events *events);

/* Whether a metric of this benchmark is one, by name ("percentage_huge-4" is percentage_huge of a step). */
enum events_kind events_of(const char *benchmark, const char *metric);

/* What these boots counted in the runs that gave the series. */
bool events_read(struct db *db, const char *benchmark, const char *metric, int64_t series,
		 const int64_t *boots, size_t n, struct events *out, struct err *err) _must_check;

#endif

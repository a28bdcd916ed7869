/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_TAPE_H
#define DB_TAPE_H

/* Stored boots of one series as noise that can be replayed (stats/tape.h). */

#include "db/conn.h"

/* What series: of this metric; class and benchmark NULL: any. */
struct tape_query {
	const char *metric, *class_name, *benchmark;
};

struct tape_boots {
	int64_t series;
	char *class_name;
	int64_t *image;
	double *value; /* in the metric's unit, in the order of the boots */
	size_t n;
};

void tape_boots_release(struct tape_boots *boots);
/* The last `most` good boots of the series that has the most of them among those asked for; ERR_NOTFOUND when none has any. */
bool tape_boots_read(struct db *db, const struct tape_query *query, int most,
		     struct tape_boots *out, struct err *err) _must_check;

#endif

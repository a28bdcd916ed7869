// SPDX-License-Identifier: GPL-2.0-or-later
/* Two sides of one series. */
#include "bisector/pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/events.h"

struct side {
	double *values;
	int64_t *boots;
	size_t n;
	struct events events;
};

static void side_release(struct side *side)
{
	free(side->values);
	free(side->boots);
	events_release(&side->events);
}

static bool read_side(struct db *db, const struct estimates *estimates, const struct series *series,
		      const char *role, struct side *out, struct err *err)
{
	out->values = xcalloc(estimates->n, sizeof(*out->values));
	out->boots = xcalloc(estimates->n, sizeof(*out->boots));
	for (size_t i = 0; i < estimates->n; i++) {
		const struct estimate *e = &estimates->v[i];
		double y = e->value + series->floor;

		if (e->series != series->id || strcmp(e->role, role) || !isfinite(y) || !(y > 0))
			continue;
		out->values[out->n] = e->value;
		out->boots[out->n++] = e->boot;
	}
	return events_read(db, series->benchmark, series->metric, series->id, out->boots, out->n,
			   &out->events, err);
}

static struct compare_events counted(const struct events *events)
{
	if (events->kind == EVENTS_NONE)
		return (struct compare_events){0};
	return (struct compare_events){
		.n = events->n,
		.hits = events->hits,
		.of = events->of,
		.histograms = (const int64_t *const *)events->boots,
		.buckets = events->buckets,
		.q = events->q,
	};
}

bool pair_compare(struct db *db, const struct estimates *estimates, const struct series *series,
		  struct comparison *out, struct err *err)
{
	CLEANUP(side_release) struct side before = {0}, after = {0};
	struct compare_events b, a;

	*out = (struct comparison){0};
	if (!read_side(db, estimates, series, "before", &before, err) ||
	    !read_side(db, estimates, series, "after", &after, err))
		return false;
	if (!before.n || !after.n)
		return true;
	if (!compare_boots(before.values, before.n, after.values, after.n, series->floor,
			   better_parse(series->direction), out, err))
		return false;
	b = counted(&before.events);
	a = counted(&after.events);
	compare_events(&b, &a, series->floor, better_parse(series->direction), out);
	return true;
}

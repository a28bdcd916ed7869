// SPDX-License-Identifier: GPL-2.0-or-later
/* Every commit. */
#include "bisector/spans.h"

#include <math.h>
#include <stdlib.h>

#include "bisector/detect.h"
#include "db/span.h"
#include "stats/detect.h"

#define POWER 0.9

struct point {
	struct span_point at;
	double head; /* log ratio that it would have shown as a head, against its history; inf: it is none */
};

/* A head also speaks by its history, and beside gaps only heads and the base are compared. */
static size_t find_points(const struct span_points *all, const struct watch_history *history,
			  bool gaps, struct point *out)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++) {
		struct point p = {.at = all->v[i], .head = INFINITY};
		bool head = !p.at.pos;

		for (size_t k = 0; k < history->n; k++)
			if (history->v[k].image == p.at.image) {
				head = true;
				p.head = history->v[k].down_to;
			}
		if (gaps || head)
			out[n++] = p;
	}
	return n;
}

static double down_to(const struct point *before, const struct point *after,
		      const struct sd_prior *noise, double z)
{
	if (before->at.image == after->at.image)
		return 0;
	return fmin(after->head,
		    detect_detectable(noise, before->at.boots, after->at.boots, z, POWER));
}

bool spans_make(struct bisector *bisector, const struct series *series, int64_t branch,
		int64_t snapshot, const struct watch_history *history, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	bool gaps = conf_bool(conf, "detect", NULL, "gaps");
	double z = gaps ? DETECT_NEIGHBOUR_Z : conf_f64(conf, "detect", NULL, "z");
	struct span_points measured = {0};
	AUTO_FREE struct span_point *owned = NULL;
	AUTO_FREE struct point *points = NULL;
	AUTO_FREE struct db_span *spans = NULL;
	struct sd_prior noise;
	size_t n;
	bool fine = span_points_read(bisector->db, series, snapshot,
				     (int)conf_i64(conf, "detect", NULL, "boots"), &measured, err);

	owned = measured.v;
	if (!fine || !bisector_noise(bisector->db, series, 0, 0, 0, &noise, err))
		return false;
	points = xcalloc(measured.n + 1, sizeof(*points));
	spans = xcalloc(measured.n + 1, sizeof(*spans));
	n = find_points(&measured, history, gaps, points);
	for (size_t i = 1; i < n; i++)
		spans[i - 1] = (struct db_span){
			.first_pos = points[i - 1].at.pos + 1,
			.last_pos = points[i].at.pos,
			.down_to = down_to(&points[i - 1], &points[i], &noise, z),
		};
	return spans_store(bisector->db, series->id, branch, snapshot, spans, n ? n - 1 : 0, err);
}

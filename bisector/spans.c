// SPDX-License-Identifier: GPL-2.0-or-later
/* Every commit. */
#include "bisector/spans.h"

#include <math.h>
#include <stdlib.h>

#include "bisector/detect.h"
#include "db/span.h"
#include "stats/detect.h"

#define POWER	     0.9
#define NOISE_DF_MAX 30 /* as where pairs are judged */

/* A measured commit. */
struct point {
	int pos;
	int64_t image;
	size_t boots;
	double head; /* log ratio that it would have shown as a head, against its history; inf: it is none */
};

/* A head also speaks by its history, and beside gaps only heads and the base are compared. */
static size_t find_points(const struct span_boots *boots, const struct watch_history *history,
			  bool gaps, struct point *out)
{
	size_t n = 0, next;

	for (size_t i = 0; i < boots->n; i = next) {
		const struct span_boot *of = &boots->v[i];
		struct point p = {.pos = of->pos, .image = of->image, .head = INFINITY};
		bool head = !of->pos;

		for (next = i; next < boots->n && boots->v[next].pos == of->pos; next++)
			p.boots++;
		for (size_t k = 0; k < history->n; k++)
			if (history->v[k].image == of->image) {
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
	if (before->image == after->image)
		return 0;
	return fmin(after->head, detect_detectable(noise, before->boots, after->boots, z, POWER));
}

bool spans_make(struct bisector *bisector, const struct series *series, int64_t branch,
		int64_t snapshot, const struct watch_history *history, struct err *err)
{
	const struct conf *conf = bisector->settings->conf;
	bool gaps = conf_bool(conf, "detect", NULL, "gaps");
	double z = gaps ? DETECT_NEIGHBOUR_Z : conf_f64(conf, "detect", NULL, "z");
	struct span_boots boots = {0};
	AUTO_FREE struct span_boot *owned = NULL;
	AUTO_FREE struct point *points = NULL;
	AUTO_FREE struct db_span *spans = NULL;
	struct sd_prior noise;
	size_t n;
	bool fine = span_boots_read(bisector->db, series, snapshot,
				    (int)conf_i64(conf, "detect", NULL, "boots"), &boots, err);

	owned = boots.v;
	if (!fine || !series_noise(bisector->db, series, 0, 0, 0, &noise.sd, &noise.df, err))
		return false;
	noise.df = fmin(noise.df, NOISE_DF_MAX);
	points = xcalloc(boots.n + 1, sizeof(*points));
	spans = xcalloc(boots.n + 1, sizeof(*spans));
	n = find_points(&boots, history, gaps, points);
	for (size_t i = 1; i < n; i++)
		spans[i - 1] = (struct db_span){
			.first_pos = points[i - 1].pos + 1,
			.last_pos = points[i].pos,
			.down_to = down_to(&points[i - 1], &points[i], &noise, z),
		};
	return spans_store(bisector->db, series->id, branch, snapshot, spans, n ? n - 1 : 0, err);
}

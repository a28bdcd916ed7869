// SPDX-License-Identifier: GPL-2.0-or-later
/* Replays. */
#include "bisector/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "db/watch.h"
#include "stats/compare.h"
#include "stats/estimate.h"
#include "stats/online.h"

struct replay {
	const struct series *series;
	struct watched_list list;
	struct online *online;
	size_t *heads; /* first boot of each commit of the detector, in list.v */
	size_t n;
};

static void replay_release(struct replay *r)
{
	watched_release(&r->list);
	online_free(r->online);
	free(r->heads);
}

/* Logs, larger is worse, of the boots of the image that starts at `from`; *end: where the next does. */
static size_t logs_of(const struct replay *r, size_t from, double *out, size_t *end)
{
	double sign = better_sign(better_parse(r->series->direction));
	size_t n = 0, i = from;

	for (; i < r->list.n && r->list.v[i].image == r->list.v[from].image; i++) {
		double y = r->list.v[i].value + r->series->floor;

		if (isfinite(y) && y > 0)
			out[n++] = sign * log(y);
	}
	*end = i;
	return n;
}

/* NULL: none was raised by it. */
static const char *came_of(const struct replay *r, int64_t image)
{
	for (size_t i = 0; i < r->list.n_ends; i++)
		if (r->list.ends[i].after_image == image)
			return r->list.ends[i].state;
	return NULL;
}

static void answer(const struct replay *r, const struct alarm *a, struct watch *out)
{
	const struct watched *before = &r->list.v[r->heads[a->after]];

	out->raised = true;
	out->before_image = before->image;
	out->before_commit = before->commit;
	out->effect = a->effect;
	out->z = a->z;
}

/* One image; true when it is the one that is asked about. */
static bool step(struct replay *r, size_t from, size_t boots, const double *logs, int64_t image,
		 struct watch *out)
{
	bool last = r->list.v[from].image == image;
	const char *state = came_of(r, r->list.v[from].image);
	struct alarm a;

	if (!boots)
		return last;
	if (last) {
		out->down_to = online_detectable(r->online, 1, boots, 0.9);
		out->knows = isfinite(out->down_to);
	}
	r->heads[r->n++] = from;
	a = online_push(r->online, logs, boots);
	if (a.raised && last && !state)
		answer(r, &a, out);
	else if (a.raised)
		online_settle(r->online, a.since,
			      state && (!strcmp(state, "confirmed") || !strcmp(state, "better")));
	return last;
}

bool watch_head(struct bisector *bisector, const struct series *series, int64_t branch,
		int64_t image, int64_t twin_of, struct watch *out, struct err *err)
{
	CLEANUP(replay_release) struct replay r = {.series = series, .online = online_new()};
	const struct watched_twin twin = {.image = twin_of ? image : 0, .of = twin_of};
	AUTO_FREE double *logs = NULL;
	int boots = (int)conf_i64(bisector->settings->conf, "detect", NULL, "boots");

	*out = (struct watch){.down_to = INFINITY};
	if (!watched_read(bisector->db, series, branch, boots, &twin, &r.list, err))
		return false;
	logs = xcalloc(r.list.n, sizeof(*logs));
	r.heads = xcalloc(r.list.n, sizeof(*r.heads));
	for (size_t i = 0, end; i < r.list.n; i = end) {
		size_t n = logs_of(&r, i, logs, &end);

		if (step(&r, i, n, logs, image, out))
			break;
	}
	return true;
}

static size_t head_of(const struct watch_history *history, int64_t image)
{
	size_t i = 0;

	while (i < history->n && history->v[i].image != image)
		i++;
	return i;
}

static void fill_past(const struct watched_list *list, struct watch_history *out)
{
	out->past = xcalloc(list->n_ends, sizeof(*out->past));
	for (size_t i = 0; i < list->n_ends; i++) {
		struct watched_past *p = &out->past[out->n_past++];

		p->before = head_of(out, list->ends[i].before_image);
		p->after = head_of(out, list->ends[i].after_image);
		memcpy(p->state, list->ends[i].state, sizeof(p->state));
	}
}

bool watch_history(struct bisector *bisector, const struct series *series, int64_t branch,
		   struct watch_history *out, struct err *err)
{
	enum {
		NEXT = 3
	};
	CLEANUP(replay_release) struct replay r = {.series = series, .online = online_new()};
	AUTO_FREE double *logs = NULL;
	int boots = (int)conf_i64(bisector->settings->conf, "detect", NULL, "boots");
	const struct watched_twin no_twin = {0};
	struct watch none;

	*out = (struct watch_history){0};
	if (!watched_read(bisector->db, series, branch, boots, &no_twin, &r.list, err))
		return false;
	logs = xcalloc(r.list.n, sizeof(*logs));
	r.heads = xcalloc(r.list.n, sizeof(*r.heads));
	out->v = xcalloc(r.list.n, sizeof(*out->v));
	out->boots = xcalloc(r.list.n, sizeof(*out->boots));
	out->head = xcalloc(r.list.n, sizeof(*out->head));
	for (size_t i = 0, end; i < r.list.n; i = end) {
		size_t n = logs_of(&r, i, logs, &end);
		const struct watched *of = &r.list.v[i];

		for (size_t k = 0; k < n; k++) {
			out->boots[out->n_boots] = logs[k];
			out->head[out->n_boots++] = out->n;
		}
		if (n)
			out->v[out->n++] =
				(struct watched_head){of->image, of->commit, estimate_mean(logs, n),
						      online_detectable(r.online, 1, n, 0.9)};
		step(&r, i, n, logs, 0, &none);
	}
	out->down_to = online_detectable(r.online, NEXT, (size_t)boots, 0.9);
	fill_past(&r.list, out);
	return true;
}

void watch_history_release(struct watch_history *history)
{
	free(history->v);
	free(history->boots);
	free(history->head);
	free(history->past);
	*history = (struct watch_history){0};
}

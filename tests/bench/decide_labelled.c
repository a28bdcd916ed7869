// SPDX-License-Identifier: GPL-2.0-or-later
/* Segmentation against series that people marked: DATA=DIR, which holds tcpd/ and perfherder/. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/js.h"
#include "base/mem.h"
#include "stats/segment.h"
#include "tests/bench/decide.h"

enum {
	MARGIN = 5 /* of the published benchmark: van den Burg and Williams 2020 */
};

struct marks {
	size_t *v, n, cap;
};

static void marks_release(struct marks *m)
{
	free(m->v);
}

static void mark(struct marks *m, size_t at)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->v[i] == at)
			return;
	*array_push(m->v, m->n, m->cap) = at;
}

static int by_size(const void *a, const void *b)
{
	size_t x = *(const size_t *)a, y = *(const size_t *)b;

	return (x > y) - (x < y);
}

static size_t apart(size_t a, size_t b)
{
	return a > b ? a - b : b - a;
}

/* How many of the true marks have a found one of their own within the margin, the nearest. */
static size_t matched(const struct marks *truth, const struct marks *found)
{
	AUTO_FREE bool *used = xcalloc(found->n, sizeof(*used));
	size_t hits = 0;

	if (truth->n)
		qsort(truth->v, truth->n, sizeof(*truth->v), by_size);
	for (size_t i = 0; i < truth->n; i++) {
		size_t best = found->n;

		for (size_t k = 0; k < found->n; k++)
			if (!used[k] && apart(found->v[k], truth->v[i]) <= MARGIN &&
			    (best == found->n ||
			     apart(found->v[k], truth->v[i]) < apart(found->v[best], truth->v[i])))
				best = k;
		if (best == found->n)
			continue;
		used[best] = true;
		hits++;
	}
	return hits;
}

/* F1 of one series; `zero`: index 0 counts as a change on both sides, as published. */
static double f1(const json_t *people, const struct marks *steps, bool zero)
{
	CLEANUP(marks_release) struct marks all = {0}, found = {0};
	double recall = 0, precision;
	const char *name;
	json_t *list;

	if (zero)
		mark(&found, 0);
	for (size_t i = 0; i < steps->n; i++)
		mark(&found, steps->v[i]);
	if (zero)
		mark(&all, 0);
	json_object_foreach((json_t *)people, name, list)
	{
		CLEANUP(marks_release) struct marks own = {0};

		if (zero)
			mark(&own, 0);
		for (size_t i = 0; i < json_array_size(list); i++) {
			mark(&own, (size_t)json_integer_value(json_array_get(list, i)));
			mark(&all, (size_t)json_integer_value(json_array_get(list, i)));
		}
		recall += own.n ? (double)matched(&own, &found) / (double)own.n : 1;
	}
	recall /= (double)json_object_size(people);
	precision = found.n ? (double)matched(&all, &found) / (double)found.n : all.n == 0;
	return precision + recall > 0 ? 2 * precision * recall / (precision + recall) : 0;
}

static struct marks segment(const double *y, size_t n)
{
	CLEANUP(segmentation_release) struct segmentation s = {0};
	struct marks m = {0};

	segment_series(y, n, &segment_rule_default, &s);
	for (size_t i = 1; i < s.n; i++)
		mark(&m, s.starts[i]);
	return m;
}

static double *numbers(const json_t *list, size_t column, size_t *n)
{
	double *y = xcalloc(json_array_size(list), sizeof(*y));

	*n = 0;
	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *v = json_array_get(list, i);

		if (json_is_array(v))
			v = json_array_get(v, column);
		if (json_is_number(v))
			y[(*n)++] = json_number_value(v);
	}
	return y;
}

static json_t *load(const char *folder, const char *kind, const char *name)
{
	AUTO_FREE char *path = xasprintf("%s/%s/%s.json", folder, kind, name);
	json_t *doc = NULL;
	struct err err;

	if (!js_load(path, &doc, &err))
		fprintf(stderr, "labelled: %s\n", err.msg);
	return doc;
}

static void marked_by_people(const struct decide *decide)
{
	AUTO_JSON *annotations = load(decide->data, "tcpd", "annotations");
	double with = 0, without = 0, n = 0;
	const char *name;
	json_t *people;

	json_object_foreach(annotations, name, people)
	{
		AUTO_JSON *doc = load(decide->data, "tcpd", name);
		const json_t *first = json_array_get(json_object_get(doc, "series"), 0);
		CLEANUP(marks_release) struct marks steps = {0};
		AUTO_FREE double *y = NULL;
		size_t points;

		if (!first)
			continue;
		y = numbers(json_object_get(first, "raw"), 0, &points);
		steps = segment(y, points);
		with += f1(people, &steps, true);
		without += f1(people, &steps, false);
		n++;
	}
	decide_row("labelled", "tcpd, F1 at margin 5, mean over series", ">= 0.8", with / n, "F1");
	decide_row("labelled", "tcpd, without index 0", "-", without / n, "F1");
}

/* Beside another detector, which is a reference and no truth. */
static void marked_by_another(const struct decide *decide, const char *name)
{
	AUTO_JSON *doc = load(decide->data, "perfherder", name);
	AUTO_FREE char *condition = xasprintf("perfherder %s", name);
	CLEANUP(marks_release) struct marks steps = {0}, truth = {0};
	AUTO_FREE double *y = NULL, *at = NULL, *times = NULL;
	size_t points, n;

	if (!doc)
		return;
	y = numbers(json_object_get(doc, "points"), 1, &points);
	at = numbers(json_object_get(doc, "points"), 0, &points);
	times = numbers(json_object_get(doc, "detector_change_times"), 0, &n);
	for (size_t i = 0; i < points; i++) {
		y[i] = log(y[i]);
		for (size_t k = 0; k < n; k++)
			if (at[i] >= times[k] && (!i || at[i - 1] < times[k]))
				mark(&truth, i);
	}
	steps = segment(y, points);
	n = matched(&truth, &steps);
	decide_row("labelled", condition, "-", (double)n, "of its hits");
	decide_row("labelled", condition, "-", (double)truth.n, "its hits");
	decide_row("labelled", condition, "-", (double)(steps.n - n), "extras");
}

static void labelled(const struct decide *decide)
{
	static const char *const names[] = {"runs1", "runs2", "runs3"};

	if (!decide->data || !*decide->data) {
		fprintf(stderr, "labelled: no folder of labelled series; DATA=DIR names one\n");
		return;
	}
	marked_by_people(decide);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		marked_by_another(decide, names[i]);
}

const struct decide_part decide_labelled_parts[] = {
	{"labelled", labelled},
	{0},
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Counted events. */
#include "db/events.h"

#include <stdlib.h>
#include <string.h>

#include "db/row.h"

/*
 * hits and of name what their numbers are summed over: histograms, with the metric's suffix behind them, or, with a % in
 * them, counters that are like it; `of` of counters leaves the hits out, which are added.
 */
static const struct source {
	const char *benchmark, *metric;
	enum events_kind kind;
	const char *hits, *of; /* EVENTS_TAIL: of is the histogram */
	double q;
} sources[] = {
	{"compaction", "percentage_huge", EVENTS_SHARE, "fault_huge", "fault_both", 0},
	/* One folio size is allowed, so that the others do not count. */
	{"fault", "folio_fallback", EVENTS_SHARE, "mthp.%.anon_fault_fallback",
	 "mthp.%.anon_fault_alloc", 0},
	{"fault", "latency_p99", EVENTS_TAIL, NULL, "latency_mean", 0.99},
	{"fault", "latency_p999", EVENTS_TAIL, NULL, "latency_mean", 0.999},
};

/* *suffix: what stands behind the table's name, "" or "-4". */
static const struct source *find(const char *benchmark, const char *metric, const char **suffix)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		size_t n = strlen(sources[i].metric);

		if (strcmp(benchmark, sources[i].benchmark) ||
		    strncmp(metric, sources[i].metric, n) || (metric[n] && metric[n] != '-'))
			continue;
		*suffix = metric + n;
		return &sources[i];
	}
	return NULL;
}

enum events_kind events_of(const char *benchmark, const char *metric)
{
	const char *suffix;
	const struct source *source = find(benchmark, metric, &suffix);

	return source ? source->kind : EVENTS_NONE;
}

void events_release(struct events *events)
{
	for (size_t i = 0; events->boots && i < events->n; i++)
		free(events->boots[i]);
	free(events->boots);
	free(events->hits);
	free(events->of);
	*events = (struct events){0};
}

/* Rows of hits and of, one per boot in their order; `of` null where a boot did not tell. */
static void take_shares(const struct rows *rows, struct events *out)
{
	out->hits = xcalloc(out->n, sizeof(*out->hits));
	out->of = xcalloc(out->n, sizeof(*out->of));
	out->kind = rows_n(rows) == out->n ? EVENTS_SHARE : EVENTS_NONE;
	for (size_t i = 0; out->kind && i < out->n; i++) {
		if (row_is_null(rows, i, "of")) {
			out->kind = EVENTS_NONE;
			break;
		}
		out->hits[i] = row_i64(rows, i, "hits");
		out->of[i] = row_i64(rows, i, "of");
		if (out->hits[i] < 0 || out->hits[i] > out->of[i])
			out->kind = EVENTS_NONE;
	}
}

static bool read_shares(struct db *db, const struct source *source, const char *suffix,
			int64_t series, const int64_t *boots, struct events *out, struct err *err)
{
	static const char of_histograms[] =
		"select coalesce(sum((select sum(v) from unnest(h.buckets) v)), 0)::bigint as hits,"
		"  sum((select sum(v) from unnest(o.buckets) v))::bigint as of"
		" from unnest($1::bigint[]) with ordinality as b(boot, n)"
		" join runs r on r.boot = b.boot join samples x on x.run = r.id and x.series = $2"
		" left join histograms h on h.run = r.id and h.metric = $3"
		" left join histograms o on o.run = r.id and o.metric = $4"
		" group by b.n, b.boot order by b.n";
	static const char of_counters[] =
		"select coalesce(sum(c.value) filter (where c.name like $3), 0)::bigint as hits,"
		"  sum(c.value)::bigint as of"
		" from unnest($1::bigint[]) with ordinality as b(boot, n)"
		" join runs r on r.boot = b.boot join samples x on x.run = r.id and x.series = $2"
		" left join counters c on c.run = r.id and (c.name like $3 or c.name like $4)"
		" group by b.n, b.boot order by b.n";
	bool counters = strchr(source->of, '%');
	AUTO_FREE char *hits = xasprintf("%s%s", source->hits, counters ? "" : suffix);
	AUTO_FREE char *of = xasprintf("%s%s", source->of, counters ? "" : suffix);
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, counters ? of_counters : of_histograms,
		      DBV(dbv_i64s(boots, out->n), dbv_i64(series), dbv_text(hits), dbv_text(of)),
		      DB_MANY, &rows, err))
		return false;
	take_shares(rows, out);
	return true;
}

static void add_histogram(struct events *out, size_t boot, const int64_t *buckets)
{
	if (!out->boots[boot])
		out->boots[boot] = xcalloc(out->buckets, sizeof(*out->boots[boot]));
	for (size_t k = 0; k < out->buckets; k++)
		out->boots[boot][k] += buckets[k];
}

static bool read_tails(struct db *db, const struct source *source, const char *suffix,
		       int64_t series, const int64_t *boots, struct events *out, struct err *err)
{
	/* As many buckets in each as the longest has. */
	static const char sql[] =
		"with told as (select b.n, h.buckets"
		"  from unnest($1::bigint[]) with ordinality as b(boot, n)"
		"  join runs r on r.boot = b.boot join samples x on x.run = r.id and x.series = $2"
		"  join histograms h on h.run = r.id and h.metric = $3"
		"  where cardinality(h.buckets) > 0)"
		" select n, buckets || array_fill(0::bigint,"
		"  array[(select max(cardinality(buckets)) from told) - cardinality(buckets)])"
		"  as buckets from told order by n";
	AUTO_FREE char *name = xasprintf("%s%s", source->of, suffix);
	AUTO_ROWS *rows = NULL;

	if (!db_query(db, sql, DBV(dbv_i64s(boots, out->n), dbv_i64(series), dbv_text(name)),
		      DB_MANY, &rows, err))
		return false;
	out->q = source->q;
	out->boots = xcalloc(out->n, sizeof(*out->boots));
	for (size_t i = 0; i < rows_n(rows); i++) {
		AUTO_FREE int64_t *buckets = NULL;

		out->buckets = row_i64s(rows, i, "buckets", &buckets);
		add_histogram(out, (size_t)row_i64(rows, i, "n") - 1, buckets);
	}
	out->kind = EVENTS_TAIL;
	for (size_t i = 0; i < out->n; i++)
		if (!out->boots[i])
			out->kind = EVENTS_NONE;
	return true;
}

bool events_read(struct db *db, const char *benchmark, const char *metric, int64_t series,
		 const int64_t *boots, size_t n, struct events *out, struct err *err)
{
	const char *suffix;
	const struct source *source = find(benchmark, metric, &suffix);

	*out = (struct events){.n = n};
	if (!source || !n)
		return true;
	return source->kind == EVENTS_SHARE
		       ? read_shares(db, source, suffix, series, boots, out, err)
		       : read_tails(db, source, suffix, series, boots, out, err);
}

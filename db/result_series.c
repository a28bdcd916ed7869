// SPDX-License-Identifier: GPL-2.0-or-later
/* The series of a boot: runs of one kind share theirs, so each is looked up once. */
#include "db/result_series.h"

#include <stdlib.h>
#include <string.h>

#include "db/row.h"

/* One metric of one run. */
struct place {
	const struct result_run *run;
	const struct result_metric *metric;
	int64_t run_id;
	size_t at; /* its position in the answer */
};

static int by_series(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	int order = strcmp(x->metric->name, y->metric->name);

	if (!order)
		order = strcmp(x->run->params_hash, y->run->params_hash);
	if (!order)
		order = strcmp(x->run->benchmark, y->run->benchmark);
	if (!order)
		order = (x->run->version > y->run->version) - (x->run->version < y->run->version);
	if (!order)
		order = strcmp(x->run->pass, y->run->pass);
	if (!order)
		order = strcmp(x->metric->unit, y->metric->unit);
	return order ? order : strcmp(x->metric->direction, y->metric->direction);
}

static struct place *list_places(const struct result *result, const int64_t *runs, size_t *n)
{
	struct place *places = NULL;
	size_t cap = 0;

	*n = 0;
	for (size_t i = 0; i < result->runs.n; i++) {
		const struct result_run *run = &result->runs.v[i];

		for (size_t k = 0; k < run->metrics.n; k++) {
			struct place *place = array_push(places, *n, cap);

			*place = (struct place){run, &run->metrics.v[k], runs[i], *n - 1};
		}
	}
	return places;
}

/* The series that are wanted, each once, as columns for one statement. */
struct wanted {
	size_t n;
	const struct result_metric **metric;
	int64_t *run; /* some run of that kind */
	double *floor;
	int64_t *series;
	char *names, *units, *directions, *real_cpus; /* joined by blanks */
};

static void wanted_release(struct wanted *wanted)
{
	free(wanted->metric);
	free(wanted->run);
	free(wanted->floor);
	free(wanted->series);
	free(wanted->names);
	free(wanted->units);
	free(wanted->directions);
	free(wanted->real_cpus);
}

/* Sorts the places; which[i] is the number of the series that places[i] belongs to. */
static void collect(struct wanted *wanted, struct place *places, size_t n, size_t *which)
{
	AUTO_STR names = str_new(), units = str_new(), directions = str_new();
	AUTO_STR real_cpus = str_new();

	qsort(places, n, sizeof(*places), by_series);
	wanted->metric = xcalloc(n, sizeof(*wanted->metric));
	wanted->run = xcalloc(n, sizeof(*wanted->run));
	wanted->floor = xcalloc(n, sizeof(*wanted->floor));
	wanted->series = xcalloc(n, sizeof(*wanted->series));
	for (size_t i = 0; i < n; i++) {
		const struct result_metric *metric = places[i].metric;
		const char *blank = i ? " " : "";

		if (!i || by_series(&places[i - 1], &places[i])) {
			wanted->metric[wanted->n] = metric;
			wanted->run[wanted->n] = places[i].run_id;
			wanted->floor[wanted->n++] = metric->floor;
			str_addf(&names, "%s%s", blank, metric->name);
			str_addf(&units, "%s%s", blank, metric->unit);
			str_addf(&directions, "%s%s", blank, metric->direction);
			str_addf(&real_cpus, "%s%d", blank, metric->real_cpus);
		}
		which[i] = wanted->n - 1;
	}
	wanted->names = str_take(&names);
	wanted->units = str_take(&units);
	wanted->directions = str_take(&directions);
	wanted->real_cpus = str_take(&real_cpus);
}

static bool check_metric(const struct result_metric *m, const struct rows *rows, size_t i,
			 struct err *err)
{
	const char *unit = row_text(rows, i, "unit"), *direction = row_text(rows, i, "direction");

	if (!strcmp(unit, m->unit) && !strcmp(direction, m->direction))
		return true;
	return err_set(err, ERR_FAILED,
		       "metric %s: is in %s (%s is better) here and in %s (%s) until now; give the "
		       "benchmark a new version",
		       m->name, m->unit, m->direction, unit, direction);
}

/*
 * `offset 0` keeps the look-ups one by one, each by its unique key: a planner without statistics
 * (a young database) joined all with all, and took 100 times as long.
 */
#define EACH_BY_ITS_KEY                                                                \
	" cross join lateral (select * from metrics m where m.benchmark = r.benchmark" \
	"  and m.version = r.version and m.name = x.name offset 0) m"                  \
	" cross join lateral (select * from series s where s.setup = $1::bigint"       \
	"  and s.benchmark = r.benchmark and s.version = r.version"                    \
	"  and s.params_hash = r.params_hash and s.pass = r.pass and s.metric = m.id"  \
	"  offset 0) s"

/* Fills wanted->series; *all is false when some are not there yet. */
static bool look_up_series(struct db *db, int64_t setup, struct wanted *wanted, bool *all,
			   struct err *err)
{
	static const char sql[] =
		"select x.i, m.unit, m.direction, s.id as series"
		" from unnest(string_to_array($2, ' '), $3::bigint[]) with ordinality"
		"  as x(name, run, i) join runs r on r.id = x.run" EACH_BY_ITS_KEY;
	AUTO_ROWS *rows = NULL;

	if (!db_query(
		    db, sql,
		    DBV(dbv_i64(setup), dbv_text(wanted->names), dbv_i64s(wanted->run, wanted->n)),
		    DB_MANY, &rows, err))
		return err_wrap(err, "series");
	for (size_t i = 0; i < rows_n(rows); i++) {
		size_t at = (size_t)row_i64(rows, i, "i") - 1;

		if (!check_metric(wanted->metric[at], rows, i, err))
			return false;
		wanted->series[at] = row_i64(rows, i, "series");
	}
	*all = rows_n(rows) == wanted->n;
	return true;
}

static bool add_metrics(struct db *db, const struct wanted *wanted, struct err *err)
{
	static const char sql[] =
		"insert into metrics (benchmark, version, name, unit, direction, floor, real_cpus)"
		" select distinct on (r.benchmark, r.version, x.name)"
		"  r.benchmark, r.version, x.name, x.unit, x.direction, x.floor, x.real_cpus = '1'"
		" from unnest(string_to_array($1, ' '), string_to_array($2, ' '),"
		"  string_to_array($3, ' '), $4::float8[], $5::bigint[], string_to_array($6, ' '))"
		"  as x(name, unit, direction, floor, run, real_cpus) join runs r on r.id = x.run"
		" where not exists (select from metrics m where m.benchmark = r.benchmark"
		"  and m.version = r.version and m.name = x.name) on conflict do nothing";

	return db_exec(db, sql,
		       DBV(dbv_text(wanted->names), dbv_text(wanted->units),
			   dbv_text(wanted->directions), dbv_f64s(wanted->floor, wanted->n),
			   dbv_i64s(wanted->run, wanted->n), dbv_text(wanted->real_cpus)),
		       err) ||
	       err_wrap(err, "metrics");
}

static bool add_series(struct db *db, int64_t setup, const struct wanted *wanted, struct err *err)
{
	static const char sql[] =
		"insert into series (setup, benchmark, version, params_hash, pass, metric)"
		" select distinct $1::bigint, r.benchmark, r.version, r.params_hash, r.pass, m.id"
		" from unnest(string_to_array($2, ' '), $3::bigint[]) as x(name, run)"
		" join runs r on r.id = x.run join metrics m on m.benchmark = r.benchmark"
		"  and m.version = r.version and m.name = x.name"
		" where not exists (select from series s where s.setup = $1::bigint"
		"  and s.benchmark = r.benchmark and s.version = r.version"
		"  and s.params_hash = r.params_hash and s.pass = r.pass and s.metric = m.id)"
		" on conflict do nothing";

	return db_exec(db, sql,
		       DBV(dbv_i64(setup), dbv_text(wanted->names),
			   dbv_i64s(wanted->run, wanted->n)),
		       err) ||
	       err_wrap(err, "series");
}

static bool find_series(struct db *db, int64_t setup, struct wanted *wanted, struct err *err)
{
	bool all;

	if (!look_up_series(db, setup, wanted, &all, err))
		return false;
	if (all)
		return true;
	if (!add_metrics(db, wanted, err) || !add_series(db, setup, wanted, err) ||
	    !look_up_series(db, setup, wanted, &all, err))
		return false;
	return all || err_set(err, ERR_FAILED, "series: some could not be made");
}

bool result_series(struct db *db, int64_t setup, const struct result *result, const int64_t *runs,
		   int64_t **series, struct err *err)
{
	CLEANUP(wanted_release) struct wanted wanted = {0};
	AUTO_FREE struct place *places = NULL;
	AUTO_FREE size_t *which = NULL;
	size_t n;

	places = list_places(result, runs, &n);
	if (!n)
		return true;
	which = xcalloc(n, sizeof(*which));
	collect(&wanted, places, n, which);
	if (!find_series(db, setup, &wanted, err))
		return false;
	*series = xcalloc(n, sizeof(**series));
	for (size_t i = 0; i < n; i++)
		(*series)[places[i].at] = wanted.series[which[i]];
	return true;
}

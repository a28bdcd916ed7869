// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What storing a boot costs: result_store() of 10,000 samples against a bare COPY of the same rows, in turns, each in
 * a transaction of its own. Prints the medians and their ratio as JSON. Needs an empty migrated database in
 * PGHOST/PGDATABASE.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/js.h"
#include "db/result.h"
#include "db/row.h"

enum {
	RUNS = 100,
	METRICS = 100,
	ROUNDS = 9
};

static _Noreturn void die(const struct err *err)
{
	fprintf(stderr, "store_boot: %s\n", err->msg);
	exit(1);
}

static void fixture(struct db *db)
{
	static const char sql[] =
		"insert into classes (name, driver, emulated) values ('bench', 'fake', true);"
		"insert into hosts (name) values ('bench');"
		"insert into machines (name, class, host) select 'bench', c.id, h.id from classes "
		"c, hosts h;"
		"create table bench_copy (like samples including all) partition by hash (series);"
		"create table bench_copy_0 partition of bench_copy for values with (modulus 4, "
		"remainder 0);"
		"create table bench_copy_1 partition of bench_copy for values with (modulus 4, "
		"remainder 1);"
		"create table bench_copy_2 partition of bench_copy for values with (modulus 4, "
		"remainder 2);"
		"create table bench_copy_3 partition of bench_copy for values with (modulus 4, "
		"remainder 3);"
		"alter table bench_copy add foreign key (run) references runs, "
		"add foreign key (series) references series;";
	struct err err;

	if (!db_script(db, sql, &err))
		die(&err);
}

/* A running attempt with a lease; returns its token. */
static int64_t attempt(struct db *db, int i, int64_t *id, int64_t *machine)
{
	static const char sql[] =
		"with j as (insert into jobs (key, kind, state, priority, purpose, class) "
		" select 'boot:bench:' || $1::text, 'boot', 'running', 1, 'request', id from "
		"classes returning id), "
		"a as (insert into attempts (job, n, host, token, expires_at) "
		" select j.id, 1, h.id, nextval('lease_tokens'), now() + interval '1 hour' from j, "
		"hosts h "
		" returning id, token), "
		"l as (insert into leases (machine, token, attempt, expires_at) "
		" select m.id, a.token, a.id, now() + interval '1 hour' from a, machines m "
		"returning machine) "
		"select a.id, a.token, l.machine from a, l";
	AUTO_ROWS *rows = NULL;
	struct err err;

	if (!db_query(db, sql, DBV(dbv_i64(i)), DB_ONE, &rows, &err))
		die(&err);
	*id = row_i64(rows, 0, "id");
	*machine = row_i64(rows, 0, "machine");
	return row_i64(rows, 0, "token");
}

static void fill_run(struct result_run *run, int seq)
{
	size_t cap = 0;

	run->seq = seq;
	run->benchmark = xstrdup("bench");
	run->version = 1;
	run->params = xstrdup("{}");
	run->params_hash = xstrdup("0");
	run->pass = xstrdup("clean");
	run->outcome = xstrdup("ok");
	run->operations = 1;
	run->threads = 1;
	run->seconds = 1;
	for (int m = 0; m < METRICS; m++) {
		struct result_metric *metric = array_push(run->metrics.v, run->metrics.n, cap);

		metric->name = xasprintf("metric_%d", m);
		metric->unit = xstrdup("ns");
		metric->direction = xstrdup("lower");
		metric->values = xcalloc(1, sizeof(*metric->values));
		metric->values[0] = 1000.0 + seq + m / 7.0;
		metric->n = 1;
	}
	run->metrics.cap = cap;
}

static void fill(struct result *result, int i)
{
	result->boot_uuid = xasprintf("00000000-0000-0000-0000-%012d", i);
	result->build_id = xstrdup("00");
	result->environment = xstrdup("{\"bench\":1}");
	result->environment_hash = xstrdup("bench");
	result->facts = xstrdup("{}");
	for (int r = 0; r < RUNS; r++)
		fill_run(array_push(result->runs.v, result->runs.n, result->runs.cap), r);
}

static double store_s(struct db *db, int i)
{
	CLEANUP(result_release) struct result result = {0};
	struct boot_end end = {.outcome = "ok", .attempt_outcome = "ok", .guest_s = 1};
	int64_t id, machine;
	struct err err;
	double start;

	end.token = attempt(db, i, &id, &machine);
	fill(&result, i);
	if (!boot_begin(db, id, machine, 0, "none", &err))
		die(&err);
	start = clock_mono_s();
	if (!result_store(db, &end, &result, &err))
		die(&err);
	return clock_mono_s() - start;
}

/* The rows that the last store_s() wrote, copied into a table of the same shape. */
static double copy_s(struct db *db)
{
	static const char sql[] =
		"select s.run, s.series, s.estimate, s.values::text as v from samples s "
		"join runs r on r.id = s.run where r.boot = (select max(id) from boots)";
	AUTO_ROWS *rows = NULL;
	AUTO_STR text = str_new();
	struct err err;
	double start;

	if (!db_query(db, sql, DBV_NONE, DB_MANY, &rows, &err))
		die(&err);
	for (size_t i = 0; i < rows_n(rows); i++)
		str_addf(&text, "%s\t%s\t%s\t%s\n", row_text(rows, i, "run"),
			 row_text(rows, i, "series"), row_text(rows, i, "estimate"),
			 row_text(rows, i, "v"));
	start = clock_mono_s();
	if (!db_begin(db, &err) ||
	    !db_copy_begin(db, "copy bench_copy (run, series, estimate, values) from stdin",
			   &err) ||
	    !db_copy_data(db, text.s, text.len, &err) || !db_copy_end(db, &err) ||
	    !db_commit(db, &err))
		die(&err);
	return clock_mono_s() - start;
}

int main(void)
{
	CLEANUP(db_close_ptr) struct db *db = NULL;
	double store[ROUNDS], copy[ROUNDS], a, b;
	struct err err;

	if (!db_open("", "bench", &db, &err))
		die(&err);
	fixture(db);
	store_s(db, 0); /* makes series and metrics: only the first boot of a setup does */
	copy_s(db);
	for (int i = 0; i < ROUNDS; i++) {
		store[i] = store_s(db, i + 1);
		copy[i] = copy_s(db);
	}
	a = result_estimate(store, ROUNDS);
	b = result_estimate(copy, ROUNDS);
	printf("{\"store_s\": %.5f, \"copy_s\": %.5f, \"ratio\": %.3f}\n", a, b, a / b);
	return 0;
}

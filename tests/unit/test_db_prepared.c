// SPDX-License-Identifier: GPL-2.0-or-later
/* Statements that are asked again, of a real server (PGHOST; tests/with-pg starts one). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "db/conn.h"
#include "db/row.h"

static int open_db(void **state)
{
	struct db *db = NULL;
	struct err err = {0};

	if (!db_open("dbname=postgres", "test", &db, &err) ||
	    !db_script(db, "create temp table t (a int); insert into t values (1), (2)", &err))
		return -1;
	*state = db;
	return 0;
}

static int close_db(void **state)
{
	db_close(*state);
	return 0;
}

static int64_t number(struct db *db, const char *sql, int64_t argument)
{
	AUTO_ROWS *rows = NULL;
	struct err err = {0};

	if (!db_query(db, sql, DBV(dbv_i64(argument)), DB_ONE, &rows, &err))
		fail_msg("%s: %s", sql, err.msg);
	return row_i64(rows, 0, "n");
}

static int64_t kept(struct db *db)
{
	return number(db,
		      "select count(*) as n from pg_prepared_statements"
		      " where statement like '% from ' || 't where %' and $1::bigint = 0",
		      0);
}

static void what_is_asked_twice_is_kept_once(void **state)
{
	static const char sql[] = "select count(*) as n from t where a > $1::bigint";

	assert_int_equal(number(*state, sql, 0), 2);
	assert_int_equal(kept(*state), 0);
	for (int64_t least = 0; least < 10; least++)
		assert_int_equal(number(*state, sql, least), least == 0 ? 2 : least == 1);
	assert_int_equal(kept(*state), 1);
}

static void values_and_texts_are_told_apart(void **state)
{
	for (int i = 0; i < 3; i++) {
		assert_int_equal(number(*state, "select $1::bigint + 1 as n from t limit 1", i),
				 i + 1);
		assert_int_equal(number(*state, "select $1::bigint + 2 as n from t limit 1", i),
				 i + 2);
	}
}

static void other_columns_are_no_error(void **state)
{
	static const char sql[] = "select *, $1::bigint as n from t limit 1";
	struct err err = {0};

	for (int i = 0; i < 3; i++)
		assert_int_equal(number(*state, sql, i), i);
	assert_true(db_script(*state, "alter table t add column b int", &err));
	for (int i = 0; i < 3; i++)
		assert_int_equal(number(*state, sql, i), i);
}

static void one_that_was_dropped_is_no_error(void **state)
{
	static const char sql[] = "select max(a) + $1::bigint as n from t";
	struct err err = {0};

	for (int i = 0; i < 3; i++)
		assert_int_equal(number(*state, sql, 0), 2);
	assert_true(db_script(*state, "deallocate all", &err));
	assert_int_equal(number(*state, sql, 1), 3);
	assert_int_equal(number(*state, sql, 1), 3);
}

/* A transaction in which that happens is lost, as at any error; the next one is not. */
static void a_transaction_is_not_half_done(void **state)
{
	static const char sql[] = "select min(a) + $1::bigint as n from t";
	AUTO_ROWS *rows = NULL;
	struct err err = {0};

	for (int i = 0; i < 3; i++)
		assert_int_equal(number(*state, sql, 0), 1);
	assert_true(db_script(*state, "deallocate all; begin; insert into t values (-5)", &err));
	assert_false(db_query(*state, sql, DBV(dbv_i64(0)), DB_ONE, &rows, &err));
	db_rollback(*state);
	assert_int_equal(number(*state, sql, 0), 1);
}

static void a_mistake_stays_a_mistake(void **state)
{
	struct err err = {0};

	for (int i = 0; i < 3; i++) {
		assert_false(db_exec(*state, "select nothing from t", DBV_NONE, &err));
		assert_int_equal(err.kind, ERR_FAILED);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_asked_twice_is_kept_once, open_db,
						close_db),
		cmocka_unit_test_setup_teardown(values_and_texts_are_told_apart, open_db, close_db),
		cmocka_unit_test_setup_teardown(other_columns_are_no_error, open_db, close_db),
		cmocka_unit_test_setup_teardown(one_that_was_dropped_is_no_error, open_db,
						close_db),
		cmocka_unit_test_setup_teardown(a_transaction_is_not_half_done, open_db, close_db),
		cmocka_unit_test_setup_teardown(a_mistake_stays_a_mistake, open_db, close_db),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

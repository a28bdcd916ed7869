// SPDX-License-Identifier: GPL-2.0-or-later
/* The newest stretch of a series. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/online.h"
#include "stats/rng.h"

enum {
	RUNS = 400,
	QUIET = 70, /* commits before a step */
	BOOTS = 2,
};

static void near(double a, double b, double tolerance)
{
	if (!(fabs(a - b) <= tolerance))
		fail_msg("%.9g is not within %g of %.9g", a, tolerance, b);
}

static struct alarm push(struct online *online, struct rng *rng, double level)
{
	double boots[BOOTS];

	for (size_t i = 0; i < BOOTS; i++)
		boots[i] = level + rng_normal(rng);
	return online_push(online, boots, BOOTS);
}

/* Commits until the step is seen, counted from 1; 0: never. */
static size_t delay(struct rng *rng, double step, size_t *since)
{
	CLEANUP(online_free_ptr) struct online *online = online_new();

	for (size_t i = 0; i < QUIET + 30; i++) {
		struct alarm a = push(online, rng, i < QUIET ? 0 : step);

		if (a.raised && i >= QUIET && a.z * step > 0) {
			*since = a.since;
			return i + 1 - QUIET;
		}
		if (a.raised)
			online_settle(online, a.since, false);
	}
	return 0;
}

static void test_fast(void **state)
{
	static const struct {
		double step;
		size_t median, most;
	} rows[] = {{3, 1, 3}, {2, 2, 6}, {-3, 1, 3}};
	struct rng rng;

	(void)state;
	rng_seed(&rng, 5);
	for (size_t r = 0; r < ARRAY_SIZE(rows); r++) {
		size_t by_median = 0, by_most = 0, at = 0;

		for (int run = 0; run < RUNS; run++) {
			size_t since = 0, n = delay(&rng, rows[r].step, &since);

			by_median += n && n <= rows[r].median;
			by_most += n && n <= rows[r].most;
			at += since >= QUIET - 1 && since <= QUIET + 1;
		}
		assert_true(2 * by_median >= RUNS);
		assert_true(by_most >= 0.98 * RUNS);
		assert_true(at >= 0.9 * RUNS);
	}
}

static void test_quiet(void **state)
{
	struct rng rng;
	size_t raised = 0;

	(void)state;
	rng_seed(&rng, 6);
	for (int run = 0; run < RUNS; run++) {
		CLEANUP(online_free_ptr) struct online *online = online_new();

		for (size_t i = 0; i < 200; i++) {
			struct alarm a = push(online, &rng, 0);

			raised += a.raised;
			if (a.raised)
				online_settle(online, a.since, false);
		}
	}
	print_message("%.2f candidates in 200 unchanged commits\n", (double)raised / RUNS);
	assert_true(raised <= 0.5 * RUNS && raised >= 0.05 * RUNS);
}

/* The same series on another scale alarms at the same commits with the same deviate. */
static void test_invariant(void **state)
{
	CLEANUP(online_free_ptr) struct online *one = online_new(), *other = online_new();
	struct rng rng;

	(void)state;
	rng_seed(&rng, 7);
	for (size_t i = 0; i < 120; i++) {
		double x[BOOTS], y[BOOTS], level = i < 80 ? 0 : 4;
		struct alarm a, b;

		for (size_t k = 0; k < BOOTS; k++) {
			x[k] = level + rng_normal(&rng);
			y[BOOTS - 1 - k] = 100 - 0.01 * x[k];
		}
		a = online_push(one, x, BOOTS);
		b = online_push(other, y, BOOTS);
		assert_int_equal(a.raised, b.raised);
		assert_int_equal(a.since, b.since);
		near(a.z, -b.z, 1e-6);
		near(a.effect, -100 * b.effect, 1e-8);
		if (a.raised) {
			online_settle(one, a.since, true);
			online_settle(other, b.since, true);
		}
	}
}

/* One boot as far out as can be does not alarm; both boots of a commit do. */
static void test_outlier(void **state)
{
	CLEANUP(online_free_ptr) struct online *online = online_new();
	struct rng rng;
	struct alarm a;

	(void)state;
	rng_seed(&rng, 8);
	for (size_t i = 0; i < 100; i++)
		assert_true(fabs(push(online, &rng, 0).z) < 4);
	a = online_push(online, (double[]){0, 1000}, 2);
	assert_false(a.raised);
	a = online_push(online, (double[]){1000, 1000}, 2);
	assert_true(a.raised && a.z > 0);
}

/* After a change the new level is what counts, with the noise as it was known. */
static void test_new_segment(void **state)
{
	CLEANUP(online_free_ptr) struct online *online = online_new();
	struct rng rng;
	struct alarm a = {0};
	size_t i = 0;

	(void)state;
	rng_seed(&rng, 9);
	for (; i < QUIET; i++)
		if (push(online, &rng, 0).raised)
			online_settle(online, i, false);
	while (!a.raised && i++ < QUIET + 5)
		a = push(online, &rng, 5);
	assert_true(a.raised);
	near(a.effect, 5, 2);
	online_settle(online, a.since, true);
	for (i = 0; i < 12; i++)
		assert_false(push(online, &rng, 5).raised);
	a = push(online, &rng, 0);
	assert_true(a.raised && a.z < 0);
}

/* What is said to be seen by 90 of 100 is; nothing is said before there is a history. */
static void test_detectable(void **state)
{
	struct rng rng;
	double step = 0;
	int found = 0;

	(void)state;
	rng_seed(&rng, 10);
	for (int run = 0; run < 2000; run++) {
		CLEANUP(online_free_ptr) struct online *online = online_new();
		struct alarm a = {0};

		for (size_t i = 0; i < QUIET; i++) {
			a = push(online, &rng, 0);
			if (a.raised)
				online_settle(online, a.since, false);
			if (i < ONLINE_HISTORY - 1)
				assert_true(isinf(online_detectable(online, 1, BOOTS, 0.9)));
		}
		step = online_detectable(online, 2, BOOTS, 0.9);
		for (size_t i = 0; i < 2 && !(a.raised && a.z > 0); i++)
			a = push(online, &rng, step);
		found += a.raised && a.z > 0;
	}
	print_message("%.2f sd: found by %.1f %%\n", step, found / 20.0);
	assert_true(found >= 0.87 * 2000 && found <= 0.97 * 2000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fast),	    cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_invariant),   cmocka_unit_test(test_outlier),
		cmocka_unit_test(test_new_segment), cmocka_unit_test(test_detectable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

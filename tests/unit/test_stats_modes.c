// SPDX-License-Identifier: GPL-2.0-or-later
/* Two heaps or one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/modes.h"
#include "stats/rng.h"

enum {
	BOOTS = 120,
	MANY = 400,
	RUNS = 400
};

enum kind {
	NORMAL,
	SKEWED,	     /* exponential */
	LOG_NORMAL,  /* of deviation 0.5 */
	OUTLIERS,    /* 1 % at +8 */
	CORRELATED,  /* AR(1), 0.6 */
	STEP,	     /* of four deviations in the middle */
	BIMODAL,     /* 30 of 100 three deviations higher */
	BIMODAL_WIDE /* half of them five lower */
};

static void draw(struct rng *rng, enum kind kind, double *y, size_t n)
{
	double before = 0.0;

	for (size_t i = 0; i < n; i++) {
		double z = rng_normal(rng), u = rng_uniform(rng);

		switch (kind) {
		case NORMAL:
			y[i] = z;
			break;
		case SKEWED:
			y[i] = -log(1.0 - u);
			break;
		case LOG_NORMAL:
			y[i] = exp(0.5 * z);
			break;
		case OUTLIERS:
			y[i] = z + (u < 0.01 ? 8.0 : 0.0);
			break;
		case CORRELATED:
			y[i] = before = 0.6 * before + 0.8 * z;
			break;
		case STEP:
			y[i] = z + (2 * i < n ? 0.0 : 4.0);
			break;
		case BIMODAL:
			y[i] = z + (u < 0.3 ? 3.0 : 0.0);
			break;
		case BIMODAL_WIDE:
			y[i] = z - (u < 0.5 ? 5.0 : 0.0);
			break;
		}
	}
}

static int said(enum kind kind, size_t n)
{
	struct rng rng;
	int two = 0;

	rng_seed(&rng, 100 + kind);
	for (int i = 0; i < RUNS; i++) {
		double y[MANY];
		struct modes m;

		draw(&rng, kind, y, n);
		modes_find(y, n, &m);
		two += m.two;
	}
	return two;
}

static void test_one_heap(void **state _unused)
{
	for (enum kind kind = NORMAL; kind <= STEP; kind++) {
		int few = said(kind, 40), many = said(kind, BOOTS);

		print_message("kind %d: called bimodal %.1f %% of 40 boots, %.1f %% of %d\n",
			      (int)kind, 100.0 * few / RUNS, 100.0 * many / RUNS, BOOTS);
		assert_true(few <= RUNS / 25 && many <= RUNS / 50);
	}
}

static void test_two_heaps(void **state _unused)
{
	int few = said(BIMODAL, BOOTS), many = said(BIMODAL, MANY), wide = said(BIMODAL_WIDE, 40);

	print_message("30/70 at 3 deviations: %.1f %% of %d boots, %.1f %% of %d; 50/50 at 5: %.1f "
		      "%% of 40\n",
		      100.0 * few / RUNS, BOOTS, 100.0 * many / RUNS, MANY, 100.0 * wide / RUNS);
	assert_true(many >= 0.9 * RUNS);
	assert_true(wide >= 0.9 * RUNS);
}

static void test_what_is_said(void **state _unused)
{
	double y[BOOTS], moved[BOOTS];
	struct modes m, scaled;
	struct rng rng;

	rng_seed(&rng, 3);
	draw(&rng, BIMODAL_WIDE, y, BOOTS);
	for (size_t i = 0; i < BOOTS; i++)
		moved[i] = 7.0 + 0.1 * y[i];
	modes_find(y, BOOTS, &m);
	modes_find(moved, BOOTS, &scaled);
	assert_true(m.two && scaled.two);
	assert_true(fabs(m.apart - 5.0) < 0.6 && fabs(m.upper - 0.5) < 0.15 &&
		    fabs(m.sd - 1.0) < 0.2);
	assert_float_equal(scaled.apart, 0.1 * m.apart, 1e-4);
	modes_find(y, MODES_LEAST - 1, &m);
	assert_false(m.two);
	for (size_t i = 0; i < BOOTS; i++)
		y[i] = 1.0;
	modes_find(y, BOOTS, &m);
	assert_false(m.two);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_heap),
		cmocka_unit_test(test_two_heaps),
		cmocka_unit_test(test_what_is_said),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Recorded noise: what it keeps, what it takes out, and searches over it. */
#include "stats/tape.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/mem.h"
#include "stats/sim_detect.h"
#include "stats/sim_search.h"

static void near(double got, double want, double tolerance)
{
	if (fabs(got - want) > tolerance)
		fail_msg("%.6g, not %.6g", got, want);
}

/* By hand: image 1 has 1, 3; image 2 has 10, 10, 13; image 3 is alone. Sum of squares 2 + 6, df 3. */
static void test_record(void **state)
{
	static const int64_t image[] = {1, 2, 1, 3, 2, 2};
	static const double y[] = {1, 10, 3, 99, 10, 13};
	struct tape tape;

	(void)state;
	tape_record(&tape, image, y, ARRAY_SIZE(y));
	assert_int_equal(tape.n, 5);
	assert_int_equal(tape.images, 2);
	near(tape.df, 3, 0);
	near(tape.sd, sqrt(8.0 / 3), 1e-12);
	near(tape.z[0], -sqrt(2) / tape.sd, 1e-12);
	near(tape.z[1], -sqrt(1.5) / tape.sd, 1e-12);
	near(tape.z[4], 2 * sqrt(1.5) / tape.sd, 1e-12);
	tape_release(&tape);
	tape_record(&tape, image, y, 1);
	assert_int_equal(tape.n, 0);
	near(tape.sd, 0, 0);
	tape_release(&tape);
}

/* Three boots of each of many kernels, of any mean: deviation 1 comes back, and neighbours stay neighbours. */
static void fill(struct tape *tape, size_t images)
{
	AUTO_FREE int64_t *image = xcalloc(3 * images, sizeof(*image));
	AUTO_FREE double *y = xcalloc(3 * images, sizeof(*y));
	struct rng rng;

	rng_seed(&rng, 5);
	for (size_t i = 0; i < 3 * images; i++) {
		image[i] = (int64_t)(i / 3) + 1;
		y[i] = 7 + (double)(i / 3) + 0.02 * rng_normal(&rng);
	}
	tape_record(tape, image, y, 3 * images);
}

static void test_deviation(void **state)
{
	struct tape tape;
	struct tape_head head = {.tape = &tape};
	double sum = 0, squares = 0;

	(void)state;
	fill(&tape, 2000);
	near(tape.sd, 0.02, 0.0006);
	for (size_t i = 0; i < tape.n; i++) {
		double z = tape_next(&head);

		sum += z;
		squares += z * z;
	}
	near(sum / (double)tape.n, 0, 1e-9);
	near(squares / (double)tape.n, 1, 1e-9);
	assert_int_equal(head.at, 0);
	tape_release(&tape);
}

/* Over a tape of normal noise, searches are as right as over made-up boots. */
static void test_searches(void **state)
{
	enum {
		TRIALS = 40
	};
	CLEANUP(sim_world_release) struct sim_world world;
	struct sim_search spec;
	struct tape tape;
	struct rng rng;
	size_t right = 0;

	(void)state;
	fill(&tape, 400);
	sim_search_init(&spec);
	spec.suspects = 32;
	spec.shift = 3;
	spec.tape = &tape;
	rng_seed(&rng, 6);
	sim_world_init(&world, &spec, &rng);
	for (int i = 0; i < TRIALS; i++) {
		struct sim_search_end end;

		sim_search_run(&world, &rng, &end);
		right += end.right;
	}
	assert_true(right >= TRIALS - 2);
	tape_release(&tape);
}

/* One boot in three stands five deviations off: the detector's noise is the tape's, not the one that is named. */
static void test_detector(void **state)
{
	static const int64_t image[6] = {1, 1, 1, 1, 1, 1};
	static const double y[6] = {0, 0.1, 5, 0, -0.1, 5};
	struct sim_source source;
	struct tape tape;
	struct rng rng;

	(void)state;
	tape_record(&tape, image, y, 6);
	rng_seed(&rng, 7);
	sim_source_init(&source, SIM_GAUSSIAN, &rng);
	sim_source_replay(&source, &tape);
	for (int i = 0; i < 30; i++) {
		double z = sim_boot(&source, true);
		bool known = false;

		for (size_t k = 0; k < tape.n; k++)
			known |= z == tape.z[k];
		assert_true(known);
	}
	tape_release(&tape);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record),
		cmocka_unit_test(test_deviation),
		cmocka_unit_test(test_searches),
		cmocka_unit_test(test_detector),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

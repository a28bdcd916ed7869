// SPDX-License-Identifier: GPL-2.0-or-later
/* Order of compared boots. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "bisector/boots.h"

static void each_side_once_a_block(void **state _unused)
{
	size_t order[4 * 50];

	boots_order(42, 4, 1, 0, 50, order);
	for (size_t block = 0; block < 50; block++) {
		unsigned int seen = 0;

		for (size_t i = 0; i < 4; i++)
			seen |= 1u << order[block * 4 + i];
		assert_int_equal(seen, 15);
	}
}

/* All 70 orders of 4 + 4 come, each about as often: chi-squared with 69 degrees of freedom. */
static void blocks_are_dealt_evenly(void **state _unused)
{
	enum {
		BLOCKS = 7000
	};
	AUTO_FREE size_t *order = xcalloc(8 * BLOCKS, sizeof(*order));
	unsigned int seen[256] = {0}, kinds = 0;
	double chi2 = 0;

	boots_order(5, 2, 4, 0, 4 * BLOCKS, order);
	for (size_t block = 0; block < BLOCKS; block++) {
		unsigned int bits = 0;

		for (size_t i = 0; i < 8; i++)
			bits |= (unsigned int)order[8 * block + i] << i;
		seen[bits]++;
	}
	for (size_t i = 0; i < 256; i++) {
		assert_true(!seen[i] || __builtin_popcount((unsigned int)i) == 4);
		kinds += !!seen[i];
		if (seen[i])
			chi2 += (seen[i] - 100.0) * (seen[i] - 100.0) / 100.0;
	}
	assert_int_equal(kinds, 70);
	assert_true(chi2 < 111); /* 0.999 quantile */
}

static void first_place_is_random(void **state _unused)
{
	size_t order[2 * 1000], first[2] = {0};

	boots_order(7, 2, 1, 0, 1000, order);
	for (size_t block = 0; block < 1000; block++)
		first[order[block * 2]]++;
	/* 500 +- 6 standard deviations of 16 */
	assert_in_range(first[0], 405, 595);
}

static void later_stages_go_on(void **state _unused)
{
	size_t all[2 * 12], part[2 * 4];

	boots_order(99, 2, 4, 0, 12, all);
	for (size_t stage = 0; stage < 3; stage++) {
		boots_order(99, 2, 4, stage * 4, 4, part);
		assert_memory_equal(part, all + stage * 8, sizeof(part));
	}
}

static void progress_counts(void **state _unused)
{
	struct work_job v[] = {
		{.kind = (char *)"boot",
		 .state = (char *)"done",
		 .role = (char *)"before",
		 .error = (char *)"",
		 .ended = true},
		{.kind = (char *)"boot",
		 .state = (char *)"queued",
		 .role = (char *)"before",
		 .error = (char *)""},
		{.kind = (char *)"boot",
		 .state = (char *)"failed",
		 .role = (char *)"after",
		 .error = (char *)"panic",
		 .ended = true,
		 .kernel_bad = true},
		{.kind = (char *)"boot",
		 .state = (char *)"failed",
		 .role = (char *)"after",
		 .error = (char *)"no power",
		 .ended = true},
		{.kind = (char *)"rebuild",
		 .state = (char *)"queued",
		 .role = (char *)"",
		 .error = (char *)""},
	};
	const struct work_jobs jobs = {.v = v, .n = ARRAY_SIZE(v)};
	struct boots_progress p = boots_progress(&jobs, NULL);

	assert_int_equal(p.asked, 4);
	assert_int_equal(p.open, 1);
	assert_int_equal(p.done, 1);
	assert_int_equal(p.kernel_bad, 1);
	assert_int_equal(p.failed, 1);
	assert_string_equal(p.error, "no power");
	p = boots_progress(&jobs, "before");
	assert_int_equal(p.asked, 2);
	assert_null(p.error);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_side_once_a_block), cmocka_unit_test(blocks_are_dealt_evenly),
		cmocka_unit_test(first_place_is_random),  cmocka_unit_test(later_stages_go_on),
		cmocka_unit_test(progress_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

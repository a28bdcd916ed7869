// SPDX-License-Identifier: GPL-2.0-or-later
/* Accounting of lock waits: generated events through the code that runs in the kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "bench/lock_slots.h"

static struct lock_slot slot_of(uint64_t lock, uint64_t now)
{
	return (struct lock_slot){.lock = lock, .flags = LOCK_F_SPIN, .begin_ns = now};
}

static void nested_waits_keep_their_times(void **state)
{
	struct lock_cpu cpu = {0};
	struct lock_slot outer = slot_of(1, 100), inner = slot_of(2, 150), out;
	uint32_t dropped;

	(void)state;
	assert_true(lock_cpu_push(&cpu, &outer));
	assert_true(lock_cpu_push(&cpu, &inner));
	assert_false(lock_cpu_pop(&cpu, 3, &out, &dropped));
	assert_int_equal(cpu.depth, 2);
	assert_true(lock_cpu_pop(&cpu, 2, &out, &dropped));
	assert_int_equal(out.begin_ns, 150);
	assert_int_equal(dropped, 0);
	assert_true(lock_cpu_pop(&cpu, 1, &out, &dropped));
	assert_int_equal(out.begin_ns, 100);
	assert_int_equal(cpu.depth, 0);
}

static void missed_end_is_counted(void **state)
{
	struct lock_cpu cpu = {0};
	struct lock_slot a = slot_of(1, 1), b = slot_of(2, 2), c = slot_of(3, 3), out;
	uint32_t dropped;

	(void)state;
	lock_cpu_push(&cpu, &a);
	lock_cpu_push(&cpu, &b);
	lock_cpu_push(&cpu, &c);
	assert_true(lock_cpu_pop(&cpu, 1, &out, &dropped));
	assert_int_equal(dropped, 2);
	assert_int_equal(cpu.depth, 0);
}

static void depth_is_bounded(void **state)
{
	struct lock_cpu cpu = {0};
	struct lock_slot slot = slot_of(1, 1);

	(void)state;
	for (uint32_t i = 0; i < LOCK_NEST; i++)
		assert_true(lock_cpu_push(&cpu, &slot));
	assert_false(lock_cpu_push(&cpu, &slot));
	assert_int_equal(cpu.depth, LOCK_NEST);
}

static void log2_of_waits(void **state)
{
	(void)state;
	assert_int_equal(lock_log2(0), 0);
	assert_int_equal(lock_log2(1), 0);
	assert_int_equal(lock_log2(2), 1);
	assert_int_equal(lock_log2(3), 1);
	for (uint32_t i = 1; i < LOCK_HIST; i++) {
		assert_int_equal(lock_log2(1ULL << i), i);
		assert_int_equal(lock_log2((1ULL << i) - 1), i - 1);
	}
	assert_int_equal(lock_log2(UINT64_MAX), LOCK_HIST - 1);
}

static void kinds_of_locks(void **state)
{
	(void)state;
	assert_true(lock_is_spin(LOCK_F_SPIN));
	assert_true(lock_is_spin(LOCK_F_SPIN | LOCK_F_READ));
	assert_false(lock_is_spin(LOCK_F_SPIN | LOCK_F_MUTEX));
	assert_false(lock_is_spin(LOCK_F_WRITE));
	assert_false(lock_is_spin(0));
}

/* A CPU that waits and is interrupted while it waits, up to the deepest level, at random; every
 * wait must come out with its own length, and the sums must be exact. */
static void random_stream_sums_exactly(void **state)
{
	struct lock_cpu cpu = {0};
	struct lock_stat stats[8] = {0};
	uint64_t want_sum[8] = {0}, want_max[8] = {0}, want_n[8] = {0}, open_since[LOCK_NEST];
	uint64_t now = 1000, rng = 12345;
	uint32_t open_lock[LOCK_NEST], depth = 0, dropped;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
		now += (rng >> 40) % 5000;
		if (depth < LOCK_NEST && (rng >> 33) % 2) {
			/* One lock per level: a CPU cannot wait twice for the same. */
			uint32_t lock = depth * 2 + (uint32_t)(rng >> 35) % 2;
			struct lock_slot slot = slot_of(lock, now);

			assert_true(lock_cpu_push(&cpu, &slot));
			open_lock[depth] = lock;
			open_since[depth++] = now;
		} else if (depth) {
			uint32_t lock = open_lock[--depth];
			uint64_t wait = now - open_since[depth];
			struct lock_slot out = {0};

			assert_true(lock_cpu_pop(&cpu, lock, &out, &dropped));
			assert_int_equal(dropped, 0);
			lock_stat_add(&stats[lock], now - out.begin_ns);
			want_sum[lock] += wait;
			want_n[lock]++;
			if (wait > want_max[lock])
				want_max[lock] = wait;
		}
	}
	for (size_t i = 0; i < 8; i++) {
		uint64_t in_hist = 0;

		assert_int_equal(stats[i].sum_ns, want_sum[i]);
		assert_int_equal(stats[i].count, want_n[i]);
		assert_int_equal(stats[i].max_ns, want_max[i]);
		for (size_t k = 0; k < LOCK_HIST; k++)
			in_hist += stats[i].hist[k];
		assert_int_equal(in_hist, want_n[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nested_waits_keep_their_times),
		cmocka_unit_test(missed_end_is_counted),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(log2_of_waits),
		cmocka_unit_test(kinds_of_locks),
		cmocka_unit_test(random_stream_sums_exactly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

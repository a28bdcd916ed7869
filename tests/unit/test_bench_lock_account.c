// SPDX-License-Identifier: GPL-2.0-or-later
/* Accounting of lock waits: recorded and generated event streams through the code that runs as BPF. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bench/lock_slots.h"

/* Arrays in place of the kernel's maps: locks and tasks are small numbers here. */
enum {
	CPUS = 4,
	TASKS = 400,
	LOCKS = 200,
};

struct lock_env {
	uint32_t cpu; /* of the event */
	struct lock_cpu cpus[CPUS];
	struct lock_slot tasks[TASKS]; /* lock 0: not waiting */
	struct lock_stat stats[LOCKS];
	struct lock_hold holds[LOCKS]; /* since_ns 0: nobody */
	uint64_t fails[LOCK_FAILS];
	bool tasks_full;
};

static struct lock_cpu *lock_env_cpu(struct lock_env *env)
{
	return &env->cpus[env->cpu];
}

static struct lock_slot *lock_env_task(struct lock_env *env, uint32_t tid)
{
	return env->tasks[tid].lock ? &env->tasks[tid] : NULL;
}

static bool lock_env_task_put(struct lock_env *env, uint32_t tid, const struct lock_slot *slot)
{
	if (env->tasks_full)
		return false;
	env->tasks[tid] = *slot;
	return true;
}

static void lock_env_task_drop(struct lock_env *env, uint32_t tid)
{
	env->tasks[tid] = (struct lock_slot){0};
}

static struct lock_stat *lock_env_stat(struct lock_env *env, const struct lock_key *key)
{
	return &env->stats[key->lock];
}

static struct lock_hold *lock_env_hold(struct lock_env *env, uint64_t lock)
{
	return env->holds[lock].since_ns ? &env->holds[lock] : NULL;
}

static void lock_env_hold_put(struct lock_env *env, uint64_t lock, const struct lock_hold *hold)
{
	env->holds[lock] = *hold;
}

static void lock_env_hold_drop(struct lock_env *env, uint64_t lock)
{
	env->holds[lock] = (struct lock_hold){0};
}

static void lock_env_tally(struct lock_env *env, uint32_t what, uint64_t n)
{
	env->fails[what] += n;
}

#include "bench/lock_account.h"

static const struct lock_control on = {.enabled = 1, .holds = 1};

static void begin(struct lock_env *env, uint64_t now, uint32_t cpu, uint32_t tid, uint64_t lock,
		  uint32_t flags)
{
	const struct lock_slot slot = {.begin_ns = now, .lock = lock, .flags = flags};

	env->cpu = cpu;
	lock_on_begin(env, tid, &slot);
}

static void end(struct lock_env *env, uint64_t now, uint32_t cpu, uint32_t tid, uint64_t lock,
		int ret)
{
	env->cpu = cpu;
	lock_on_end(env, tid, lock, ret >= 0, &on, now);
}

static struct lock_env *env_new(void)
{
	return calloc(1, sizeof(struct lock_env));
}

/* Recorded -------------------------------------------------------------------------------------- */

static size_t open_waits(const struct lock_env *env)
{
	size_t n = 0;

	for (size_t i = 0; i < CPUS; i++)
		n += env->cpus[i].depth;
	for (size_t i = 0; i < TASKS; i++)
		n += env->tasks[i].lock != 0;
	return n;
}

static void play(struct lock_env *env, const char *line)
{
	unsigned long long now, lock;
	unsigned cpu, tid;
	char what[8];
	int last;

	assert_int_equal(
		sscanf(line, "%llu %u %u %7s %llu %d", &now, &cpu, &tid, what, &lock, &last), 6);
	assert_true(cpu < CPUS && tid < TASKS && lock < LOCKS);
	if (!strcmp(what, "begin"))
		begin(env, now, cpu, tid, lock, (uint32_t)last);
	else
		end(env, now, cpu, tid, lock, last);
}

static void recorded_stream(void **state)
{
	FILE *f = fopen("tests/data/lock-events.tsv", "r");
	struct lock_env *env = env_new();
	unsigned long long lock, n, sum, max;
	size_t locks = 0, events = 0;
	char line[256];

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "sum %llu %llu %llu %llu", &lock, &n, &sum, &max) == 4) {
			assert_int_equal(env->stats[lock].count, n);
			assert_int_equal(env->stats[lock].sum_ns, sum);
			assert_int_equal(env->stats[lock].max_ns, max);
			locks++;
		} else if (sscanf(line, "orphans %llu", &n) == 1) {
			assert_int_equal(env->fails[LOCK_ORPHAN_ENDS], n);
		} else if (sscanf(line, "open %llu", &n) == 1) {
			assert_int_equal(open_waits(env), n);
		} else if (line[0] != '#') {
			play(env, line);
			events++;
		}
	}
	fclose(f);
	assert_true(locks >= 10 && events > 200);
	assert_int_equal(env->fails[LOCK_BEGINS] - env->fails[LOCK_ENDS], open_waits(env));
	assert_int_equal(env->fails[LOCK_NESTED_DROPPED], 0);
	free(env);
}

/* Generated ------------------------------------------------------------------------------------- */

static uint32_t rnd(uint64_t *rng, uint32_t below)
{
	*rng = *rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*rng >> 33) % below;
}

/* What the generator knows of one wait. */
struct wait {
	uint64_t since;
	uint64_t lock;
	uint32_t tid;
};

struct known {
	uint64_t n, sum, max;
};

static void note(struct known *known, uint64_t wait)
{
	known->n++;
	known->sum += wait;
	if (wait > known->max)
		known->max = wait;
}

/*
 * Tasks sleep for mutexes and rwsems, wake on another CPU than they slept on, some give up; CPUs spin,
 * and are interrupted while they spin, by handlers that spin for other locks.
 */
static void generated_stream(void **state)
{
	struct lock_env *env = env_new();
	struct wait asleep[TASKS] = {0}, spins[CPUS][LOCK_NEST] = {0};
	struct known known[LOCKS] = {0};
	uint32_t depth[CPUS] = {0};
	uint64_t rng = 7, now = 1, begins = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		uint32_t cpu = rnd(&rng, CPUS), tid = 1 + rnd(&rng, TASKS - 1);

		now += rnd(&rng, 3000);
		switch (rnd(&rng, 4)) {
		case 0:
			if (asleep[tid].lock)
				break;
			/* Sleeping locks are 100 to 199; a third of them mutexes, which tell twice. */
			asleep[tid] = (struct wait){now, 100 + rnd(&rng, 100), tid};
			begins++;
			if (asleep[tid].lock % 3 == 0) {
				begin(env, now, cpu, tid, asleep[tid].lock,
				      LOCK_F_MUTEX | LOCK_F_SPIN);
				begin(env, now + 1, cpu, tid, asleep[tid].lock, LOCK_F_MUTEX);
			} else {
				begin(env, now, cpu, tid, asleep[tid].lock, LOCK_F_WRITE);
			}
			break;
		case 1:
			if (!asleep[tid].lock)
				break;
			end(env, now, cpu, tid, asleep[tid].lock, rnd(&rng, 8) ? 0 : -4);
			note(&known[asleep[tid].lock], now - asleep[tid].since);
			asleep[tid] = (struct wait){0};
			break;
		case 2:
			if (depth[cpu] == LOCK_NEST)
				break;
			/* Spinlocks are 1 to 99; no CPU waits twice for the same. */
			spins[cpu][depth[cpu]] =
				(struct wait){now, 1 + depth[cpu] * 20 + rnd(&rng, 20), tid};
			begin(env, now, cpu, tid, spins[cpu][depth[cpu]].lock, LOCK_F_SPIN);
			depth[cpu]++;
			begins++;
			break;
		default:
			if (!depth[cpu])
				break;
			depth[cpu]--;
			end(env, now, cpu, spins[cpu][depth[cpu]].tid, spins[cpu][depth[cpu]].lock,
			    0);
			note(&known[spins[cpu][depth[cpu]].lock],
			     now - spins[cpu][depth[cpu]].since);
		}
	}
	for (size_t lock = 0; lock < LOCKS; lock++) {
		assert_int_equal(env->stats[lock].count, known[lock].n);
		assert_int_equal(env->stats[lock].sum_ns, known[lock].sum);
		assert_int_equal(env->stats[lock].max_ns, known[lock].max);
	}
	assert_int_equal(env->fails[LOCK_BEGINS], begins);
	assert_int_equal(begins - env->fails[LOCK_ENDS], open_waits(env));
	assert_int_equal(env->fails[LOCK_ORPHAN_ENDS], 0);
	assert_int_equal(env->fails[LOCK_NESTED_DROPPED], 0);
	assert_int_equal(env->fails[LOCK_BACKWARD], 0);
	free(env);
}

static void losses_are_counted(void **state)
{
	struct lock_env *env = env_new();

	(void)state;
	end(env, 5, 0, 1, 9, 0);
	assert_int_equal(env->fails[LOCK_ORPHAN_ENDS], 1);
	/* A task that begins a second wait without an end of the first. */
	begin(env, 10, 0, 1, 101, LOCK_F_READ);
	begin(env, 20, 0, 1, 102, LOCK_F_READ);
	assert_int_equal(env->fails[LOCK_NESTED_DROPPED], 1);
	end(env, 15, 0, 1, 102, 0);
	assert_int_equal(env->fails[LOCK_BACKWARD], 1);
	env->tasks_full = true;
	begin(env, 30, 0, 2, 101, LOCK_F_READ);
	assert_int_equal(env->fails[LOCK_TASK_FULL], 1);
	assert_int_equal(env->stats[102].count, 0);
	free(env);
}

/* Counted while off: only waits that began before. */
static void switched_off_in_between(void **state)
{
	const struct lock_control off = {.enabled = 0, .holds = 1, .stopped_ns = 150};
	struct lock_env *env = env_new();

	(void)state;
	begin(env, 100, 0, 1, 101, LOCK_F_WRITE);
	lock_on_end(env, 1, 101, true, &off, off.stopped_ns);
	assert_int_equal(env->stats[101].sum_ns, 50);
	lock_on_end(env, 2, 102, true, &off, off.stopped_ns);
	assert_int_equal(env->fails[LOCK_ORPHAN_ENDS], 0);
	assert_int_equal(env->holds[101].since_ns, 0);
	free(env);
}

static void holds_between_contended_acquire_and_release(void **state)
{
	struct lock_env *env = env_new();

	(void)state;
	begin(env, 100, 0, 1, 7, LOCK_F_SPIN);
	end(env, 140, 0, 1, 7, 0);
	lock_on_release(env, 1, 7, 190);
	assert_int_equal(env->stats[7].hold_count, 1);
	assert_int_equal(env->stats[7].hold_ns, 50);
	/* Again: since when is not known. */
	lock_on_release(env, 1, 7, 300);
	assert_int_equal(env->stats[7].hold_count, 1);
	/* Who got it let go unseen, another took it without waiting. */
	begin(env, 400, 0, 1, 7, LOCK_F_SPIN);
	end(env, 410, 0, 1, 7, 0);
	lock_on_release(env, 2, 7, 900);
	assert_int_equal(env->stats[7].hold_count, 1);
	/* Given up is not got. */
	begin(env, 1000, 0, 3, 101, LOCK_F_WRITE);
	end(env, 1010, 0, 3, 101, -4);
	lock_on_release(env, 3, 101, 1100);
	assert_int_equal(env->stats[101].count, 1);
	assert_int_equal(env->stats[101].hold_count, 0);
	assert_int_equal(env->fails[LOCK_RELEASES], 4);
	free(env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(recorded_stream),
		cmocka_unit_test(generated_stream),
		cmocka_unit_test(losses_are_counted),
		cmocka_unit_test(switched_off_in_between),
		cmocka_unit_test(holds_between_contended_acquire_and_release),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LOCK_ACCOUNT_H
#define BENCH_LOCK_ACCOUNT_H

/*
 * What one event of the lock tracepoints does to the sums. The same code runs as BPF in the kernel
 * and, over arrays instead of maps, in the test that replays event streams. The includer defines
 * before: struct lock_env, and with it
 *
 *   struct lock_cpu *lock_env_cpu(env);                the slots of the CPU that the event is on
 *   struct lock_slot *lock_env_task(env, tid);         NULL: this task does not wait
 *   bool lock_env_task_put(env, tid, slot);            false: no room
 *   void lock_env_task_drop(env, tid);
 *   struct lock_stat *lock_env_stat(env, key);         made when new; NULL: no room
 *   struct lock_hold *lock_env_hold(env, lock);        NULL: nobody is known to hold it
 *   void lock_env_hold_put(env, lock, hold);
 *   void lock_env_hold_drop(env, lock);
 *   void lock_env_tally(env, enum lock_fail, n);
 */

#include "bench/lock_slots.h"

static inline void lock_begin_task(struct lock_env *env, uint32_t tid, const struct lock_slot *slot)
{
	const struct lock_slot *old = lock_env_task(env, tid);

	/* A mutex tells its spinning and then its sleeping: one wait. */
	if (old && old->lock == slot->lock) {
		lock_env_tally(env, LOCK_BEGINS, (uint64_t)-1);
		return;
	}
	if (old)
		lock_env_tally(env, LOCK_NESTED_DROPPED, 1);
	if (!lock_env_task_put(env, tid, slot))
		lock_env_tally(env, LOCK_TASK_FULL, 1);
}

/* contention_begin, while switched on. slot.begin_ns is now. */
static inline void lock_on_begin(struct lock_env *env, uint32_t tid, const struct lock_slot *slot)
{
	struct lock_cpu *cpu;

	lock_env_tally(env, LOCK_BEGINS, 1);
	if (slot->stack < 0)
		lock_env_tally(env, LOCK_STACK_FAIL, 1);
	if (!lock_is_spin(slot->flags)) {
		lock_begin_task(env, tid, slot);
		return;
	}
	cpu = lock_env_cpu(env);
	if (!cpu || !lock_cpu_push(cpu, slot))
		lock_env_tally(env, LOCK_NESTED_DROPPED, 1);
}

/* The wait of tid for lock, taken off; false when it is not known to wait. */
static inline bool lock_take_wait(struct lock_env *env, uint32_t tid, uint64_t lock,
				  struct lock_slot *slot)
{
	struct lock_cpu *cpu = lock_env_cpu(env);
	const struct lock_slot *found;
	uint32_t dropped = 0;

	if (cpu && lock_cpu_pop(cpu, lock, slot, &dropped)) {
		if (dropped)
			lock_env_tally(env, LOCK_NESTED_DROPPED, dropped);
		return true;
	}
	found = lock_env_task(env, tid);
	if (!found || found->lock != lock)
		return false;
	*slot = *found;
	lock_env_task_drop(env, tid);
	return true;
}

/*
 * contention_end; also while switched off: what began before must not stay open. now_ns is when the
 * event was, or when counting stopped if that was earlier. got: the lock was taken, not given up.
 */
static inline void lock_on_end(struct lock_env *env, uint32_t tid, uint64_t lock, bool got,
			       const struct lock_control *sw, uint64_t now_ns)
{
	struct lock_slot slot = {0};
	struct lock_key key = {0};
	struct lock_stat *stat;

	if (!lock_take_wait(env, tid, lock, &slot)) {
		if (sw->enabled)
			lock_env_tally(env, LOCK_ORPHAN_ENDS, 1);
		return;
	}
	lock_env_tally(env, LOCK_ENDS, 1);
	if (now_ns < slot.begin_ns) {
		lock_env_tally(env, LOCK_BACKWARD, 1);
		return;
	}
	key.lock = slot.lock;
	key.flags = slot.flags;
	key.stack = slot.stack;
	stat = lock_env_stat(env, &key);
	if (!stat) {
		lock_env_tally(env, LOCK_STAT_FULL, 1);
		return;
	}
	lock_stat_add(stat, now_ns - slot.begin_ns);
	if (sw->holds && sw->enabled && got) {
		struct lock_hold hold = {0};

		hold.since_ns = now_ns;
		hold.tid = tid;
		hold.flags = slot.flags;
		hold.stack = slot.stack;
		lock_env_hold_put(env, lock, &hold);
	}
}

/*
 * contended_release: tid lets lock go and others wait. Counts for the call site that took it, when it
 * had to wait for it too: only then is it known since when. Of several readers the last one counts.
 */
static inline void lock_on_release(struct lock_env *env, uint32_t tid, uint64_t lock,
				   uint64_t now_ns)
{
	const struct lock_hold *hold = lock_env_hold(env, lock);
	struct lock_key key = {0};
	struct lock_stat *stat;
	uint64_t since;

	lock_env_tally(env, LOCK_RELEASES, 1);
	if (!hold)
		return;
	since = hold->since_ns;
	key.lock = lock;
	key.flags = hold->flags;
	key.stack = hold->stack;
	/* Another task: it let go unseen, since nobody waited then. */
	stat = hold->tid == tid && now_ns >= since ? lock_env_stat(env, &key) : NULL;
	lock_env_hold_drop(env, lock);
	if (stat)
		lock_hold_add(stat, now_ns - since);
}

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LOCK_SLOTS_H
#define BENCH_LOCK_SLOTS_H

/*
 * What the BPF program and user space share: the layout of the maps, and the accounting of waits on
 * one CPU, which the unit test runs on generated events. Spinning waits belong to a CPU (the
 * waiter cannot move) and nest when an interrupt comes; sleeping waits belong to a task.
 * The includer provides the uint64_t family (the BPF side has no C library).
 */

#define LOCK_F_SPIN	 1u /* flags of the tracepoint (include/trace/events/lock.h) */
#define LOCK_F_READ	 2u
#define LOCK_F_WRITE	 4u
#define LOCK_F_MUTEX	 32u
#define LOCK_NEST	 4u /* task, softirq, hardirq, NMI */
#define LOCK_HIST	 32u
#define LOCK_STACK_DEPTH 16u

enum lock_fail {
	LOCK_BEGINS,
	LOCK_ENDS,
	LOCK_NESTED_DROPPED, /* deeper than LOCK_NEST, or an end that never came */
	LOCK_ORPHAN_ENDS,    /* end without a begin: it began before the switch was on */
	LOCK_TASK_FULL,
	LOCK_STAT_FULL,
	LOCK_STACK_FAIL,
	LOCK_BACKWARD, /* negative time */
	LOCK_RELEASES, /* contended_release events */
	LOCK_FAILS,
};

/* Written by user space: the switch, and when it was last turned off. */
struct lock_control {
	uint32_t enabled;
	uint32_t holds; /* the kernel tells contended releases */
	uint64_t stopped_ns;
};

struct lock_slot {
	uint64_t begin_ns;
	uint64_t lock;
	uint32_t flags;
	int32_t stack;
};

struct lock_cpu {
	uint32_t depth; /* slots in use */
	uint32_t unused;
	struct lock_slot slots[LOCK_NEST];
};

struct lock_key {
	uint64_t lock;
	uint32_t flags;
	int32_t stack; /* negative: no stack (-errno) */
};

struct lock_stat {
	uint64_t count;
	uint64_t sum_ns;
	uint64_t max_ns;
	uint64_t hold_count; /* 0 where the kernel does not tell releases */
	uint64_t hold_ns;
	uint64_t hold_max_ns;
	uint32_t hist[LOCK_HIST]; /* log2 of ns */
};

/* Who took a lock after waiting for it, and has not let it go yet. */
struct lock_hold {
	uint64_t since_ns;
	uint32_t tid;
	uint32_t flags;
	int32_t stack;
	uint32_t unused;
};

static inline bool lock_is_spin(uint32_t flags)
{
	return (flags & (LOCK_F_SPIN | LOCK_F_MUTEX)) == LOCK_F_SPIN;
}

/* False when nested too deeply. */
static inline bool lock_cpu_push(struct lock_cpu *cpu, const struct lock_slot *slot)
{
	uint32_t depth = cpu->depth;

	if (depth >= LOCK_NEST)
		return false;
	cpu->slots[depth] = *slot;
	cpu->depth = depth + 1;
	return true;
}

/*
 * Takes the innermost wait for lock off; *dropped counts inner ones whose end was missed. False,
 * and nothing changed, when this CPU does not wait for lock.
 */
static inline bool lock_cpu_pop(struct lock_cpu *cpu, uint64_t lock, struct lock_slot *out,
				uint32_t *dropped)
{
	*dropped = 0;
	/* Counted upwards to a constant, which every verifier since 5.3 follows. */
	for (uint32_t up = 0; up < LOCK_NEST; up++) {
		uint32_t i = LOCK_NEST - 1 - up;

		if (i >= cpu->depth)
			continue;
		if (cpu->slots[i].lock == lock) {
			*out = cpu->slots[i];
			*dropped = cpu->depth - 1 - i;
			cpu->depth = i;
			return true;
		}
	}
	return false;
}

static inline uint32_t lock_log2(uint64_t v)
{
	uint32_t r = 0, shift;

	shift = (v > 0xffffffffULL) << 5;
	v >>= shift;
	r |= shift;
	shift = (v > 0xffff) << 4;
	v >>= shift;
	r |= shift;
	shift = (v > 0xff) << 3;
	v >>= shift;
	r |= shift;
	shift = (v > 0xf) << 2;
	v >>= shift;
	r |= shift;
	shift = (v > 0x3) << 1;
	v >>= shift;
	r |= shift;
	r |= (uint32_t)(v >> 1);
	return r < LOCK_HIST ? r : LOCK_HIST - 1;
}

static inline void lock_stat_add(struct lock_stat *stat, uint64_t wait_ns)
{
	uint32_t bucket = lock_log2(wait_ns);

	/* The compiler knows the bound and would drop the mask; the verifier of 6.1 loses the bound. */
	__asm__ volatile("" : "+r"(bucket));
	stat->count++;
	stat->sum_ns += wait_ns;
	if (wait_ns > stat->max_ns)
		stat->max_ns = wait_ns;
	stat->hist[bucket & (LOCK_HIST - 1)]++;
}

static inline void lock_hold_add(struct lock_stat *stat, uint64_t hold_ns)
{
	stat->hold_count++;
	stat->hold_ns += hold_ns;
	if (hold_ns > stat->hold_max_ns)
		stat->hold_max_ns = hold_ns;
}

/* into += from: other CPUs, other rows of the same lock. */
static inline void lock_stat_merge(struct lock_stat *into, const struct lock_stat *from)
{
	into->count += from->count;
	into->sum_ns += from->sum_ns;
	if (from->max_ns > into->max_ns)
		into->max_ns = from->max_ns;
	into->hold_count += from->hold_count;
	into->hold_ns += from->hold_ns;
	if (from->hold_max_ns > into->hold_max_ns)
		into->hold_max_ns = from->hold_max_ns;
	for (uint32_t i = 0; i < LOCK_HIST; i++)
		into->hist[i] += from->hist[i];
}

#endif

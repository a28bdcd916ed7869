// SPDX-License-Identifier: GPL-2.0-or-later
/* Lock waits, kernel side. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/lock_slots.h"

/* Only arguments of the raw tracepoints are read: no kernel types, so no kernel BTF. */
char program_license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lock_cpu);
} cpus SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, uint32_t);
	__type(value, struct lock_slot);
} tasks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 65536);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, LOCK_STACK_DEPTH * sizeof(uint64_t));
} stacks SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct lock_key);
	__type(value, struct lock_stat);
} stats SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOCK_FAILS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} fails SEC(".maps");

/* Not global variables: libbpf finds out whether a kernel has those with a program of a type that
 * kernels without network lack. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, uint32_t);
	__type(value, struct lock_control);
} control SEC(".maps");

static inline void tally(uint32_t what, uint64_t n)
{
	uint64_t *value = bpf_map_lookup_elem(&fails, &what);

	if (value)
		*value += n;
}

static inline void account(const struct lock_slot *slot, const struct lock_control *sw)
{
	uint64_t now = sw->enabled ? bpf_ktime_get_ns() : sw->stopped_ns;
	struct lock_key key = {.lock = slot->lock, .flags = slot->flags, .stack = slot->stack};
	struct lock_stat *stat = bpf_map_lookup_elem(&stats, &key);

	if (now < slot->begin_ns) {
		tally(LOCK_BACKWARD, 1);
		return;
	}
	if (!stat) {
		struct lock_stat empty = {0};

		/* Another CPU may have been first: that is fine. */
		bpf_map_update_elem(&stats, &key, &empty, BPF_NOEXIST);
		stat = bpf_map_lookup_elem(&stats, &key);
	}
	if (stat)
		lock_stat_add(stat, now - slot->begin_ns);
	else
		tally(LOCK_STAT_FULL, 1);
}

static inline void begin_task(struct lock_slot *slot)
{
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	const struct lock_slot *old = bpf_map_lookup_elem(&tasks, &tid);

	/* A mutex tells its spinning and then its sleeping: one wait. */
	if (old && old->lock == slot->lock) {
		tally(LOCK_BEGINS, (uint64_t)-1);
		return;
	}
	if (old)
		tally(LOCK_NESTED_DROPPED, 1);
	if (bpf_map_update_elem(&tasks, &tid, slot, BPF_ANY))
		tally(LOCK_TASK_FULL, 1);
}

SEC("raw_tp/contention_begin")
int contention_begin(struct bpf_raw_tracepoint_args *ctx)
{
	struct lock_slot slot = {.lock = ctx->args[0], .flags = (uint32_t)ctx->args[1]};
	uint32_t zero = 0;
	const struct lock_control *sw = bpf_map_lookup_elem(&control, &zero);
	struct lock_cpu *cpu;

	if (!sw || !sw->enabled)
		return 0;
	tally(LOCK_BEGINS, 1);
	slot.stack = (int32_t)bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP);
	if (slot.stack < 0)
		tally(LOCK_STACK_FAIL, 1);
	slot.begin_ns = bpf_ktime_get_ns();
	if (!lock_is_spin(slot.flags)) {
		begin_task(&slot);
		return 0;
	}
	cpu = bpf_map_lookup_elem(&cpus, &zero);
	if (!cpu || !lock_cpu_push(cpu, &slot))
		tally(LOCK_NESTED_DROPPED, 1);
	return 0;
}

/* Also while switched off: what began before must not stay open. */
SEC("raw_tp/contention_end")
int contention_end(struct bpf_raw_tracepoint_args *ctx)
{
	uint64_t lock = ctx->args[0];
	uint32_t tid = (uint32_t)bpf_get_current_pid_tgid();
	uint32_t zero = 0, dropped = 0;
	struct lock_slot slot = {0};
	const struct lock_slot *found;
	struct lock_cpu *cpu = bpf_map_lookup_elem(&cpus, &zero);
	const struct lock_control *sw = bpf_map_lookup_elem(&control, &zero);

	if (!sw)
		return 0;
	if (cpu && lock_cpu_pop(cpu, lock, &slot, &dropped)) {
		if (dropped)
			tally(LOCK_NESTED_DROPPED, dropped);
	} else {
		found = bpf_map_lookup_elem(&tasks, &tid);
		if (!found || found->lock != lock) {
			if (sw->enabled)
				tally(LOCK_ORPHAN_ENDS, 1);
			return 0;
		}
		slot = *found;
		bpf_map_delete_elem(&tasks, &tid);
	}
	tally(LOCK_ENDS, 1);
	account(&slot, sw);
	return 0;
}

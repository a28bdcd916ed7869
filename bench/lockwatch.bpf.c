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

/* Empty where the kernel does not tell contended releases. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, uint64_t);
	__type(value, struct lock_hold);
} holds SEC(".maps");

/* Nothing to carry: the maps are at hand everywhere. */
struct lock_env {
	char unused;
};

static inline struct lock_cpu *lock_env_cpu(struct lock_env *env)
{
	uint32_t zero = 0;

	(void)env;
	return bpf_map_lookup_elem(&cpus, &zero);
}

static inline struct lock_slot *lock_env_task(struct lock_env *env, uint32_t tid)
{
	(void)env;
	return bpf_map_lookup_elem(&tasks, &tid);
}

static inline bool lock_env_task_put(struct lock_env *env, uint32_t tid,
				     const struct lock_slot *slot)
{
	(void)env;
	return !bpf_map_update_elem(&tasks, &tid, slot, BPF_ANY);
}

static inline void lock_env_task_drop(struct lock_env *env, uint32_t tid)
{
	(void)env;
	bpf_map_delete_elem(&tasks, &tid);
}

static inline struct lock_stat *lock_env_stat(struct lock_env *env, const struct lock_key *key)
{
	struct lock_stat *stat = bpf_map_lookup_elem(&stats, key);
	struct lock_stat empty = {0};

	(void)env;
	if (stat)
		return stat;
	/* Another CPU may have been first: that is fine. */
	bpf_map_update_elem(&stats, key, &empty, BPF_NOEXIST);
	return bpf_map_lookup_elem(&stats, key);
}

static inline struct lock_hold *lock_env_hold(struct lock_env *env, uint64_t lock)
{
	(void)env;
	return bpf_map_lookup_elem(&holds, &lock);
}

static inline void lock_env_hold_put(struct lock_env *env, uint64_t lock,
				     const struct lock_hold *hold)
{
	(void)env;
	bpf_map_update_elem(&holds, &lock, hold, BPF_ANY);
}

static inline void lock_env_hold_drop(struct lock_env *env, uint64_t lock)
{
	(void)env;
	bpf_map_delete_elem(&holds, &lock);
}

static inline void lock_env_tally(struct lock_env *env, uint32_t what, uint64_t n)
{
	uint64_t *value = bpf_map_lookup_elem(&fails, &what);

	(void)env;
	if (value)
		*value += n;
}

#include "bench/lock_account.h"

static inline uint32_t this_task(void)
{
	return (uint32_t)bpf_get_current_pid_tgid();
}

SEC("raw_tp/contention_begin")
int contention_begin(struct bpf_raw_tracepoint_args *ctx)
{
	struct lock_slot slot = {.lock = ctx->args[0], .flags = (uint32_t)ctx->args[1]};
	uint32_t zero = 0;
	const struct lock_control *sw = bpf_map_lookup_elem(&control, &zero);
	struct lock_env env = {0};

	if (!sw || !sw->enabled)
		return 0;
	slot.stack = (int32_t)bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP);
	slot.begin_ns = bpf_ktime_get_ns();
	lock_on_begin(&env, this_task(), &slot);
	return 0;
}

SEC("raw_tp/contention_end")
int contention_end(struct bpf_raw_tracepoint_args *ctx)
{
	uint32_t zero = 0;
	const struct lock_control *sw = bpf_map_lookup_elem(&control, &zero);
	struct lock_env env = {0};

	if (sw)
		lock_on_end(&env, this_task(), ctx->args[0], (int)ctx->args[1] >= 0, sw,
			    sw->enabled ? bpf_ktime_get_ns() : sw->stopped_ns);
	return 0;
}

/* Kernels since 2026; loaded where the tracepoint is. */
SEC("raw_tp/contended_release")
int contended_release(struct bpf_raw_tracepoint_args *ctx)
{
	uint32_t zero = 0;
	const struct lock_control *sw = bpf_map_lookup_elem(&control, &zero);
	struct lock_env env = {0};

	if (sw && sw->enabled)
		lock_on_release(&env, this_task(), ctx->args[0], bpf_ktime_get_ns());
	return 0;
}

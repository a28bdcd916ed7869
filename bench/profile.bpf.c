// SPDX-License-Identifier: GPL-2.0-or-later
/* Samples of kernel stacks. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/profile_maps.h"

char program_license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_STACK_TRACE);
	__uint(max_entries, 16384);
	__uint(key_size, sizeof(uint32_t));
	__uint(value_size, PROFILE_DEPTH * sizeof(uint64_t));
} stacks SEC(".maps");

/* By stack; PROFILE_USER for samples outside of the kernel. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_HASH);
	__uint(max_entries, 16384);
	__type(key, int32_t);
	__type(value, uint64_t);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, PROFILE_CONTROLS);
	__type(key, uint32_t);
	__type(value, uint64_t);
} control SEC(".maps");

static inline void lose(void)
{
	uint32_t which = PROFILE_LOST;
	uint64_t *lost = bpf_map_lookup_elem(&control, &which);

	if (lost)
		__sync_fetch_and_add(lost, 1);
}

SEC("perf_event")
int sample(void *ctx)
{
	uint32_t which = PROFILE_ENABLED;
	const uint64_t *on = bpf_map_lookup_elem(&control, &which);
	uint64_t one = 1, *count;
	int32_t stack;

	/* Idle CPUs are no work. */
	if (!on || !*on || !(uint32_t)bpf_get_current_pid_tgid())
		return 0;
	stack = (int32_t)bpf_get_stackid(ctx, &stacks, BPF_F_FAST_STACK_CMP);
	if (stack < 0 && stack != PROFILE_USER) {
		lose();
		return 0;
	}
	count = bpf_map_lookup_elem(&counts, &stack);
	if (count)
		*count += 1;
	else if (bpf_map_update_elem(&counts, &stack, &one, BPF_NOEXIST))
		lose();
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Holders of a lock, kept longer. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <stdbool.h>
#include <stdint.h>

#include "bench/lock_delays.h"

char program_license[] SEC("license") = "GPL";

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, LOCK_DELAYS);
	__type(key, uint32_t);
	__type(value, struct lock_delay);
} delays SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, LOCK_DELAYS);
	__type(key, uint32_t);
	__type(value, struct lock_delayed);
} delayed SEC(".maps");

struct until {
	uint64_t ns;
};

static long spin(uint32_t round, struct until *until)
{
	(void)round;
	return bpf_ktime_get_ns() >= until->ns;
}

static inline void delay(uint32_t which)
{
	const struct lock_delay *wanted = bpf_map_lookup_elem(&delays, &which);
	struct lock_delayed *done = bpf_map_lookup_elem(&delayed, &which);
	struct until until;

	if (!wanted || !done || !wanted->ns)
		return;
	if (++done->chances % (wanted->every ? wanted->every : 1))
		return;
	until.ns = bpf_ktime_get_ns() + wanted->ns;
	/* Bounded twice: by the clock, and should that stand still, by rounds. */
	bpf_loop(LOCK_DELAY_ROUNDS, spin, &until, 0);
	done->n++;
}

/* Both fire under their lock: mm/swap.c adds folios to a lruvec, mm/page_alloc.c gives a batch of
 * pages back to its zone. */
SEC("raw_tp/mm_lru_insertion")
int mm_lru_insertion(struct bpf_raw_tracepoint_args *ctx)
{
	(void)ctx;
	delay(LOCK_DELAY_LRUVEC);
	return 0;
}

SEC("raw_tp/mm_page_pcpu_drain")
int mm_page_pcpu_drain(struct bpf_raw_tracepoint_args *ctx)
{
	(void)ctx;
	delay(LOCK_DELAY_ZONE);
	return 0;
}

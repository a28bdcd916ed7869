/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LOCKNAME_H
#define BENCH_LOCKNAME_H

/*
 * From (lock address, stack, flags) to (lock class, call site): the call-site table
 * bench/lock-callsites.tsv, then address propagation: one call site whose class is sure names all
 * others on the same lock address.
 */

#include "bench/kallsyms.h"

/* Not <stdint.h> alone: lock_slots.h is shared with BPF. */
#include "bench/lock_slots.h"

struct lock_row {
	struct lock_key key;
	uint64_t frames[LOCK_STACK_DEPTH]; /* innermost first, 0 = none */
	struct lock_stat stat;
};

struct lock_rows {
	struct lock_row *v;
	size_t n, cap;
};

#define LOCK_ROWS_INIT     \
	{                  \
		NULL, 0, 0 \
	}
#define AUTO_LOCK_ROWS CLEANUP(lock_rows_release) struct lock_rows
void lock_rows_release(struct lock_rows *rows);

/* One line of the answer. Names are made of [a-z0-9_.:-]. */
struct lock_wait {
	char *class; /* "lruvec", ..., or "other:FUNCTION" */
	char *site;  /* the function that wanted the lock */
	struct lock_stat stat;
};

struct lock_waits {
	struct lock_wait *v; /* longest total wait first */
	size_t n, cap;
};

#define AUTO_LOCK_WAITS CLEANUP(lock_waits_release) struct lock_waits
void lock_waits_release(struct lock_waits *waits);

/* One entry of the call-site table. class "-": only the next frame tells. */
struct lock_site {
	const char *class, *flags, *function, *kind;
};
extern const struct lock_site lock_sites[]; /* made from bench/lock-callsites.tsv; ends zeroed */

/* Sums rows by class and site. */
void lock_waits_name(const struct lock_rows *rows, const struct kallsyms *syms,
		     struct lock_waits *out);
/* Sum over all sites of one class. */
void lock_waits_class(const struct lock_waits *waits, const char *class, struct lock_stat *out);

/* How much of all waiting the call-site table does not know. */
struct lock_sums {
	uint64_t wait_ns, unmatched_ns;
};
void lock_waits_sums(const struct lock_waits *waits, struct lock_sums *out);

struct lock_health {
	uint64_t begins, ends, lost, stack_failures, map_full, recursion_misses, open;
	/* What our own programs took, and how often they ran: 0 unless kernel.bpf_stats_enabled. */
	uint64_t bpf_ns, bpf_runs;
};

/* Whether at most 1 % of the waits escaped; else *reason says what was lost (static text). */
bool lock_health_ok(const struct lock_health *health, const char **reason);

#endif

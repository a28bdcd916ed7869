/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_FAULT_TASKS_H
#define BENCH_FAULT_TASKS_H

/*
 * The tasks of the fault benchmark: threads of this process, or processes, that map, touch and let
 * go of memory of their own. The owner gives one order after the other; all tasks begin it at a
 * barrier.
 */

#include "bench/histogram.h"

#include "base/str.h"

enum fault_mapping {
	FAULT_ANON,
	FAULT_PRIVATE, /* of a file: each write copies a page of the page cache */
	FAULT_SHARED,
};

enum fault_release {
	FAULT_MUNMAP,
	FAULT_DONTNEED, /* the mapping stays */
	FAULT_EXIT,	/* each round is a process that maps, touches and exits */
	FAULT_HALVES,	/* half of every folio first, which queues them for splitting; then all */
};

struct fault_work {
	enum fault_mapping mapping;
	enum fault_release release;
	const char *dir; /* where the file of a file mapping is made and unlinked */
	size_t size;
	size_t step;	   /* one byte is written every step bytes; 0 = all are (memset) */
	size_t fault_step; /* what one fault is expected to bring, for the latency pass */
	long long rounds;  /* per FAULT_ROUNDS and FAULT_LATENCY */
	uint64_t tell_ns;  /* how old the sums of a process may become under FAULT_TIMED */
	int advice;	   /* of madvise(2) for each mapping; -1 = none */
	bool processes, pin;
	/* Each task's mapping has its own place, a multiple of align plus offset, with a PROT_NONE
	 * hole behind it when guarded. Without slots mmap(2) chooses. */
	bool slots, guard;
	size_t align, offset;
};

enum fault_order {
	FAULT_ROUNDS,  /* work.rounds rounds */
	FAULT_TIMED,   /* rounds until fault_crew_stop(), touches counted one by one */
	FAULT_LATENCY, /* work.rounds rounds, each fault timed */
	FAULT_MAPS,    /* all map at the same time; the first counts mappings */
	FAULT_QUIT,
};

/* Summed over tasks since they started. While a timed order runs, only live is up to date; the
 * others belong to the rounds that had ended at one moment. */
struct fault_sums {
	uint64_t live; /* touches, timed orders only */
	uint64_t touches, total_ns, touch_ns, release_ns;
	uint64_t user_ns, system_ns, faults; /* faults: minor ones, as getrusage(2) counts */
};

struct fault_crew;

/* Touches of one round of one task. */
size_t fault_touches(const struct fault_work *work);

/* n tasks, waiting for orders. work is borrowed. */
bool fault_crew_start(const struct fault_work *work, unsigned n, struct fault_crew **out,
		      struct err *err) _must_check;
/* Begins the order in all tasks and returns at once. */
void fault_crew_begin(struct fault_crew *crew, enum fault_order order);
void fault_crew_stop(struct fault_crew *crew);
/* Until all tasks have done the order; false when one could not, or died. */
bool fault_crew_wait(struct fault_crew *crew, struct err *err) _must_check;
void fault_crew_sums(const struct fault_crew *crew, struct fault_sums *out);
/* Of the last FAULT_LATENCY: all times in ns, and the minor faults counted meanwhile. */
void fault_crew_latency(const struct fault_crew *crew, struct histogram *out, uint64_t *faults);
/* Of the last FAULT_MAPS: mappings in the address space of the first task. */
uint64_t fault_crew_maps(const struct fault_crew *crew);
/* Tells the tasks to quit, and frees. After a failed wait: threads that hang are left behind. */
void fault_crew_free(struct fault_crew *crew);
void fault_crew_free_ptr(struct fault_crew **crew);

#endif

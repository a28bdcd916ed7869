/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_BENCHMARKS_H
#define BENCH_BENCHMARKS_H

/* All benchmarks: a new one is declared here and gets a line in the table. */

#include "bench/bench.h"

extern const struct bench bench_compaction;
extern const struct bench bench_fault;
extern const struct bench bench_fork;
extern const struct bench bench_khugepaged;
extern const struct bench bench_mremap;
extern const struct bench bench_munmap;
extern const struct bench bench_reclaim;

/* NULL when there is none of that name. */
const struct bench *benchmark_find(const char *name);
/* The i-th, NULL behind the last. */
const struct bench *benchmark_at(size_t i);

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Table of benchmarks. */
#include "bench/benchmarks.h"

#include <string.h>

static const struct bench *const benchmarks[] = {
	&bench_compaction, &bench_fault,  &bench_fork,	  &bench_khugepaged,
	&bench_mremap,	   &bench_munmap, &bench_reclaim,
};

const struct bench *benchmark_at(size_t i)
{
	return i < ARRAY_SIZE(benchmarks) ? benchmarks[i] : NULL;
}

const struct bench *benchmark_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(benchmarks); i++) {
		if (!strcmp(benchmarks[i]->name, name))
			return benchmarks[i];
	}
	return NULL;
}

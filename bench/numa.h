/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_NUMA_H
#define BENCH_NUMA_H

/* Memory of one node only, without libnuma. */

#include "base/err.h"

/* MPOL_BIND for this thread and those that it starts; node < 0 changes nothing. */
bool numa_bind(long long node, struct err *err) _must_check;

#endif

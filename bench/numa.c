// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory policy. */
#include "bench/numa.h"

#include <sys/syscall.h>
#include <unistd.h>

#define MPOL_BIND_ 2 /* linux/mempolicy.h */

bool numa_bind(long long node, struct err *err)
{
	unsigned long mask[16] = {0};

	if (node < 0)
		return true;
	if (node >= 1024)
		return err_set(err, ERR_USAGE, "node %lld: at most 1023", node);
	mask[node / 64] = 1UL << (node % 64);
	if (syscall(SYS_set_mempolicy, MPOL_BIND_, mask, sizeof(mask) * 8))
		return err_sys(err, "cannot bind memory to node %lld", node);
	return true;
}

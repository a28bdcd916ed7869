/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_MEMCG_NEST_H
#define BENCH_MEMCG_NEST_H

/* A memory cgroup (v2) of our own, some levels below the root: charging climbs all of them. */

#include "base/str.h"

struct memcg_nest {
	struct strs dirs; /* made, outermost first */
	char *before;	  /* the group we came from */
};

#define MEMCG_NEST_INIT         \
	{                       \
		STRS_INIT, NULL \
	}
#define AUTO_MEMCG_NEST CLEANUP(memcg_nest_leave) struct memcg_nest

/* Makes `depth` fresh groups, one in the other, and moves this process into the innermost; 0 does
 * nothing. */
bool memcg_nest_enter(struct memcg_nest *nest, long long depth, struct err *err) _must_check;
/* The directory of the innermost, NULL when there is none. */
const char *memcg_nest_dir(const struct memcg_nest *nest);
/* Back to where we were; the groups are removed. */
void memcg_nest_leave(struct memcg_nest *nest);

#endif

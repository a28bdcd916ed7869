/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_FREEMEM_H
#define BENCH_FREEMEM_H

/* How fragmented free memory is. Reading it takes zone->lock: never while something is measured. */

#include "base/str.h"

#include <stdint.h>

struct freemem {
	int64_t pages;				 /* free, of 4 KiB */
	int64_t huge_pages;			 /* of those, in free blocks of 2 MiB or more */
	int64_t unmovable, movable, reclaimable; /* page blocks by type; -1 = not told */
};

/* /proc/buddyinfo and, for root, /proc/pagetypeinfo. node < 0: all nodes. */
bool freemem_read(struct freemem *out, long long node, struct err *err) _must_check;
/* The form of /proc/buddyinfo. */
bool freemem_parse_buddyinfo(struct freemem *out, const char *text, long long node,
			     struct err *err) _must_check;
/* The table "Number of blocks type" of /proc/pagetypeinfo; leaves -1 when it is not there. */
void freemem_parse_pagetypeinfo(struct freemem *out, const char *text, long long node);
/* The unusable free space index for 2 MiB (Gorman, Whitcroft 2006): the share of free memory that
 * is not in blocks of that size; 0 = all of it is. */
double freemem_unusable(const struct freemem *mem);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_HOTMEM_H
#define BENCH_HOTMEM_H

/* Memory of base pages that khugepaged may collapse: anonymous, shared, or of a file. */

#include "base/err.h"

#include <stddef.h>

enum hot_kind {
	HOT_ANON,
	HOT_SHMEM, /* shared anonymous */
	HOT_FILE,  /* of a file that nobody writes: only read */
};

struct hot {
	enum hot_kind kind;
	size_t size;	 /* a multiple of PMD_SIZE */
	const char *dir; /* HOT_FILE: where the file is made, and unlinked at once */
};

/* At a multiple of PMD_SIZE, filled with base pages and then advised MADV_HUGEPAGE; the caller unmaps
 * it. */
bool hot_map(const struct hot *hot, char **out, struct err *err) _must_check;
/* Each page once: written, or read when it is a file's. */
void hot_touch(const struct hot *hot, char *p);
/* Collapses the PMD range at p by MADV_COLLAPSE (6.1). False, with errno, when that did not happen:
 * EINVAL when it never will. */
bool hot_collapse(char *p);
/* Why this kernel does not collapse such memory at all, found out by asking it for one PMD of it. *why is
 * NULL when it does, or when it cannot be asked. */
bool hot_refused(const struct hot *hot, const char **why, struct err *err) _must_check;

#endif

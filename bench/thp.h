/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_THP_H
#define BENCH_THP_H

/* Transparent huge pages: which sizes faults may use, and how much of a range is huge. */

#include "bench/knobs.h"

#include <stdint.h>

#define THP_DIR	 "/sys/kernel/mm/transparent_hugepage"
#define PMD_SIZE ((size_t)2 << 20) /* x86-64 */

/*
 * Which folios anonymous faults use: "inherit" leaves all as found, "none" base pages only, a size
 * such as "16K" only that one, always, every other never. Kernels before 6.8 know only "2M".
 */
bool thp_allow_only(struct knobs *knobs, const char *folio, struct err *err) _must_check;
/* Only PMD-sized folios, and only where madvise(MADV_HUGEPAGE) asks, with direct compaction there. */
bool thp_pmd_by_madvise(struct knobs *knobs, struct err *err) _must_check;
/* "inherit", or a number for khugepaged/max_ptes_none. */
bool thp_max_ptes_none(struct knobs *knobs, const char *value, struct err *err) _must_check;

/* Descriptors for looking at our own page tables. */
struct pages_view {
	int pagemap, flags;
	bool by_ioctl; /* PAGEMAP_SCAN (6.7): told by the page table entry; else by page flags */
};

bool pages_view_open(struct pages_view *view, struct err *err) _must_check;
void pages_view_close(struct pages_view *view);
/* Whether the PMD-sized, PMD-aligned range at p is served by one PMD-sized folio. */
bool pages_is_huge(const struct pages_view *view, const void *p, bool *huge,
		   struct err *err) _must_check;
/* How many PMD ranges of [p, p + size) are. */
bool pages_count_huge(const struct pages_view *view, const void *p, size_t size, size_t *n,
		      struct err *err) _must_check;

/* Address space of size bytes at a multiple of PMD_SIZE, PROT_NONE. */
bool pages_reserve(size_t size, void **out, struct err *err) _must_check;
/* The same, anonymous, private, for reading and writing; the caller unmaps it. */
bool pages_map(size_t size, char **out, struct err *err) _must_check;
/* Writes one byte of each page. */
void pages_touch(char *p, size_t size, int value);
/* Minor faults of the calling thread so far, as getrusage(2) counts them. */
int64_t pages_minor_faults(void);

#endif

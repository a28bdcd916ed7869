/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SWAP_KNOB_H
#define BENCH_SWAP_KNOB_H

/* Swap space as a knob: an area that is turned off is in the journal of knobs as "swap:PATH" with its
 * priority, and comes back like any other. */

#include "bench/knobs.h"

#define SWAP_KNOB "swap:"

struct swap_area {
	char *path;
	int priority; /* negative = the kernel's choice */
	long long used_kb;
};

struct swap_areas {
	struct swap_area *v;
	size_t n, cap;
};

#define SWAP_AREAS_INIT    \
	{                  \
		NULL, 0, 0 \
	}
#define AUTO_SWAP_AREAS CLEANUP(swap_areas_release) struct swap_areas

/* From text of the form of /proc/swaps. Files that were removed are left out: they could not be turned
 * on again. */
void swap_areas_parse(struct swap_areas *areas, const char *text);
void swap_areas_release(struct swap_areas *areas);
/* True when what is in the areas takes at most half of the memory that text, of the form of
 * /proc/meminfo, tells as available. */
bool swap_areas_fit(const struct swap_areas *areas, const char *meminfo,
		    struct err *err) _must_check;

bool swap_area_off(struct knobs *knobs, const struct swap_area *area, struct err *err) _must_check;
/* All areas of this machine, if their content fits into its memory. */
bool swap_all_off(struct knobs *knobs, struct err *err) _must_check;
/* What the journal does to put "swap:PATH" back. */
bool swap_area_on(const char *path, const char *priority, struct err *err) _must_check;

#endif

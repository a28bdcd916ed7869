/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_LAYOUTS_H
#define BISECTOR_LAYOUTS_H

/*
 * Fresh layouts as replicates. Boots of one build share the offset that its layout gives, so that a comparison of two builds
 * finds a shift of the layouts as surely as one of the code. Where a pilot saw that layouts scatter, each boot has another.
 */

#include "bisector/bisector.h"
#include "db/work.h"

struct layouts {
	bool fresh; /* each boot has a layout of its own (bisect.fresh-layouts) */
	double sd;  /* of layouts, by the pilot, on the log scale; 0: not known */
};

bool layouts_read(struct bisector *bisector, const struct series *series, struct layouts *out,
		  struct err *err) _must_check;

/* What is booted again and again. */
struct layouts_side {
	int64_t commit;
	const char *tree_oid;
	int64_t recipe, toolchain;
	struct built plain; /* of its first boot, and of those that no layout builds for */
	int64_t others; /* added to the layout seeds of all boots but the first: I for boot I, from 0 on */
};

/*
 * Builds of boots first .. first+n-1 of a side. Those that nobody asked for are asked for; *ready: all have ended. out has room
 * for n.
 */
bool layouts_builds(struct bisector *bisector, const struct layouts_side *side, size_t first,
		    size_t n, int priority, const char *purpose, struct built *out, bool *ready,
		    struct err *err) _must_check;

#endif

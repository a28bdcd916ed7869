/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_FOLDED_H
#define BENCH_FOLDED_H

/* Folded stacks: "outermost;...;innermost" and how often, as flame graph tools read them. */

#include "base/js.h"
#include "bench/kallsyms.h"

struct folded_stack {
	char *text;
	uint64_t count;
};

struct folded {
	struct folded_stack *v; /* most frequent first after folded_sort() */
	size_t n, cap;
	uint64_t samples;
};

#define AUTO_FOLDED CLEANUP(folded_release) struct folded

void folded_release(struct folded *folded);
/* n frames, innermost first (0 ends them); none is time in user space, "[user]". Adds to an equal
 * stack. What is no kernel function is "[unknown]". */
void folded_add(struct folded *folded, const struct kallsyms *syms, const uint64_t *frames,
		size_t n, uint64_t count);
void folded_sort(struct folded *folded);
/* The line `profile` of docs/protocol.md, without seq: the `most` most frequent stacks. A new reference. */
json_t *folded_json(const struct folded *folded, const char *source, uint64_t lost, size_t most);

#endif

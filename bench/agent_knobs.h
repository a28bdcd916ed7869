/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_KNOBS_H
#define BENCH_AGENT_KNOBS_H

/* The knobs that every measurement wants: one table. */

#include "base/js.h"
#include "bench/knobs.h"

/* What they say afterwards, {path or group: value}. */
struct knobs_told {
	json_t *core;	 /* those that every kernel of our range has ("absent" when it does not) */
	json_t *others;	 /* the rest, and what is only looked at */
	json_t *refused; /* what could not be set, and why */
};

/* Sets all. told: three objects, which are added to. */
void agent_knobs_apply(struct knobs *knobs, struct knobs_told *told);
/* What the job asks for beside these: {"smt": "on"|"off", "lru_gen": "on"|"off", "swap": "off"}; NULL =
 * nothing. Told as core, since only numbers with the same wishes are comparable. root: "", or where a
 * test has its files. */
void agent_knobs_wish(struct knobs *knobs, const json_t *wishes, const char *root,
		      struct knobs_told *told);
/* Before each run: no page cache, memory compacted, so that each begins alike. */
void agent_knobs_settle(void);

#endif

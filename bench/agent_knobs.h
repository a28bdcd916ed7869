/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_KNOBS_H
#define BENCH_AGENT_KNOBS_H

/* The knobs that every measurement wants: one table. */

#include "base/js.h"
#include "bench/knobs.h"

/*
 * Sets all. New references: *read_back {path: value} of the knobs that every kernel of our range
 * has ("absent" when it is not there), *refused {path: reason} of all that could not be set.
 */
void agent_knobs_apply(struct knobs *knobs, json_t **read_back, json_t **refused);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_RUN_H
#define BENCH_AGENT_RUN_H

/* One run: a benchmark in one pass, with counters, and locks when instrumented. */

#include "bench/agent.h"

/* suite is one entry of the job's "suites". Says all lines from `run` to `run_end`; a run that
 * fails is told there. */
void agent_run(struct agent *agent, const json_t *suite, bool instrumented);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_RUN_H
#define BENCH_AGENT_RUN_H

/* One run: a benchmark in one pass. */

#include "bench/agent.h"

enum agent_pass {
	AGENT_CLEAN,	    /* timings that are judged, counters */
	AGENT_INSTRUMENTED, /* with lockwatch */
	AGENT_PROFILED,	    /* with sampling */
	AGENT_PASSES,
};
extern const char *const agent_pass_names[AGENT_PASSES];

/* suite is one entry of the job's "suites". Says all lines from `run` to `run_end`; a run that
 * fails is told there. */
void agent_run(struct agent *agent, const json_t *suite, enum agent_pass pass);
/* Does once what is dear when it is first done, since the kernel patches its code and an emulator translates it: for
 * times that have to be waited for anyway. instruments: lockwatch, too. Nothing is kept. */
void agent_rehearse(bool instruments);

#endif

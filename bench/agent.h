/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_H
#define BENCH_AGENT_H

/* The agent: one job in, lines out (docs/protocol.md). */

#include "base/js.h"
#include "bench/agent_kmsg.h"
#include "bench/kallsyms.h"
#include "bench/knobs.h"

struct agent {
	int out_fd;
	struct kmsg *kmsg; /* NULL: lines go to out_fd */
	bool init;	   /* process 1: the machine is ours and is switched off at the end */
	json_t *job;
	const char *nonce; /* borrowed from job */
	struct knobs knobs;
	int64_t seq;	       /* of the next run */
	struct kallsyms *syms; /* NULL until an instrumented run wants them */
};

/* Command line of `mmperf-agent`: --job FILE; as process 1 without arguments, /job.json. */
int agent_main(int argc, char **argv);

/* One line of JSON; takes ownership of line. A reader that is gone ends the process. */
void agent_say(const struct agent *agent, json_t *line);
/* A new object {"type": type}. */
json_t *agent_line(const char *type);
void agent_log(const struct agent *agent, const char *fmt, ...) _printf_(2, 3);

#endif

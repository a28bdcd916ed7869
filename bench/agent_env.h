/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_ENV_H
#define BENCH_AGENT_ENV_H

/* Who we are: the running kernel, the environment of the numbers, the state of this boot. */

#include "bench/agent.h"

/* /proc/sys/kernel/random/boot_id; the caller frees it. "unknown" when it cannot be read. */
char *env_boot_id(void);
/* GNU build-id (hex) out of ELF notes as in /sys/kernel/notes; false when there is none. */
bool env_build_id(const void *notes, size_t n, struct str *hex);
/* The clock source in use; the caller frees it. */
char *env_clocksource(void);
/* Waits until the kernel has settled on a clock source: it begins with "tsc-early", and a change
 * in the middle would void the boot. */
void env_settle_clock(double timeout_s);

/* New references: the `hello` line, and the facts of `environment` and `state`. knobs is what
 * agent_knobs_apply() read back, memcg whether runs get a memory cgroup of their own. */
json_t *env_hello(const struct agent *agent);
json_t *env_environment(json_t *knobs, bool memcg);
json_t *env_state(void);

#endif

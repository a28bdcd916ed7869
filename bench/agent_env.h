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
/* False while the kernel has not settled on a clock source: it begins with "tsc-early", and a change
 * in the middle would void the boot. The other waits for it. */
bool env_clock_settled(void);
void env_settle_clock(double timeout_s);

/* CPUID says that we are a guest. */
bool env_in_guest(void);
/* The words of a kernel command line that may change speed, sorted; the caller frees it. */
char *env_options(const char *cmdline);

/* New references: the `hello` line, and the facts of `environment` and `state`. knobs are
 * knobs_told.core, memcg: whether runs get a memory cgroup of their own; syms may be NULL. */
json_t *env_hello(const struct agent *agent);
json_t *env_environment(json_t *knobs, bool memcg, const struct kallsyms *syms);
json_t *env_state(void);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_PREFLIGHT_H
#define BENCH_AGENT_PREFLIGHT_H

/* What nobody can control here, so that a reader of the numbers knows. */

#include "base/js.h"
#include "bench/kallsyms.h"

/* A new reference: a list of sentences. syms may be NULL. */
json_t *preflight_list(const struct kallsyms *syms);
/* Prints it; exit status 0. */
int preflight_main(void);

#endif

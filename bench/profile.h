/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PROFILE_H
#define BENCH_PROFILE_H

/*
 * Where CPUs spend their time in the kernel: BPF on perf events of all CPUs, counted in the kernel by
 * stack. With a PMU the event is cycles; else the CPU clock, whose timer cannot fire while
 * interrupts are off: nothing about spinlocks may be concluded from that.
 */

#include "bench/folded.h"

struct profile;

/* Loads and attaches, switched off. */
bool profile_open(struct profile **out, struct err *err) _must_check;
void profile_free(struct profile *profile);
void profile_free_ptr(struct profile **profile);
/* "cycles" or "cpu-clock". */
const char *profile_source(const struct profile *profile);
void profile_switch(struct profile *profile, bool on);
/* After switching off. *lost: samples that found no room. */
bool profile_read(struct profile *profile, const struct kallsyms *syms, struct folded *out,
		  uint64_t *lost, struct err *err) _must_check;

#endif

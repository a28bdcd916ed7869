/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LOCKWATCH_H
#define BENCH_LOCKWATCH_H

/*
 * Who waits how long for which lock: BPF on the raw tracepoints contention_begin and
 * contention_end (kernel 5.19 and later), counted in the kernel, read once at the end.
 */

#include "bench/lockname.h"

struct lockwatch;

/* Loads and attaches, switched off. Maps are sized for the machine's memory. */
bool lockwatch_open(struct lockwatch **out, struct err *err) _must_check;
void lockwatch_free(struct lockwatch *watch);
void lockwatch_free_ptr(struct lockwatch **watch);
/* Whether this kernel also tells how long a contended lock was held. */
bool lockwatch_holds(const struct lockwatch *watch);
/* Waits are counted from on to off; may be switched many times. */
void lockwatch_switch(struct lockwatch *watch, bool on);
/* After switching off: all waits, those in progress when it was switched off included. */
bool lockwatch_read(struct lockwatch *watch, struct lock_rows *rows, struct lock_health *health,
		    struct err *err) _must_check;

#endif

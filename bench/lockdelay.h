/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LOCKDELAY_H
#define BENCH_LOCKDELAY_H

/*
 * Known contention: BPF programs on tracepoints that fire while a lock is held keep its holder for a
 * given time. Tests what lockwatch says, and makes a regression without a second build. (At
 * contention_begin a delay would come before queueing and stand in for waiting.)
 */

#include "base/str.h"

#include <stdint.h>

struct lockdelay;

/* Loads and attaches, without delays. Kernel 5.17 (bpf_loop). */
bool lockdelay_open(struct lockdelay **out, struct err *err) _must_check;
void lockdelay_free(struct lockdelay *delay);
void lockdelay_free_ptr(struct lockdelay **delay);
/* "lruvec=20us", "zone=5us/16": at every 16th chance (32 when not given); "lruvec=0" ends it. Times
 * are at most 10 ms. */
bool lockdelay_set(struct lockdelay *delay, const char *text, struct err *err) _must_check;
/* How often that lock's holders were delayed so far. */
uint64_t lockdelay_count(const struct lockdelay *delay, const char *lock);

#endif

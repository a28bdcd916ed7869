/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_LOCK_SELFTEST_H
#define BENCH_LOCK_SELFTEST_H

/*
 * Does lockwatch tell the truth here? On the running kernel, as root:
 *
 *   accounting  a thread holds mmap_lock for times that it measures itself, another waits for it; the
 *               sum told is within 5 % of the sum known, the wait in progress at the end included
 *   naming      holders of the lruvec and of the zone lock are delayed; the wait for that lock rises
 *               with the delay, and no other lock's does
 */

/* what: "accounting", "naming" or "all". Prints a line for each check; exit status 0 when all are
 * good or cannot be made on this machine (said), 1 when one is not, 2 for an unknown word. */
int lock_selftest(const char *what);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KTHREAD_H
#define BENCH_KTHREAD_H

#include <stdbool.h>

/* CPU time in ns so far of all kernel threads whose name begins with this ("kcompactd"); -1 when
 * there is none. From schedstat where the kernel has it, else in clock ticks. */
double kthread_cpu_ns(const char *name);
/* Waits until these threads sleep and have used no CPU time for some 50 ms; false when they still work
 * after timeout_s. True at once when there are none. */
bool kthread_await_rest(const char *name, double timeout_s);
/* Whether the process of that number is a thread of the kernel. */
bool kthread_is(const char *pid);

#endif

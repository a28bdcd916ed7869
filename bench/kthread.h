/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_KTHREAD_H
#define BENCH_KTHREAD_H

/* CPU time in ns so far of all kernel threads whose name begins with this ("kcompactd"); -1 when
 * there is none. From schedstat where the kernel has it, else in clock ticks. */
double kthread_cpu_ns(const char *name);

#endif

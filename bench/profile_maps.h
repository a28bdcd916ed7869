/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_PROFILE_MAPS_H
#define BENCH_PROFILE_MAPS_H

/* What the sampling BPF program and user space share. The includer provides the uint64_t family. */

#define PROFILE_DEPTH 64u   /* below what a kernel stack needs, and below perf's limit of 127 */
#define PROFILE_USER  (-14) /* -EFAULT: there is no kernel stack */

enum profile_control {
	PROFILE_ENABLED,
	PROFILE_LOST, /* no room for the stack or its count */
	PROFILE_CONTROLS,
};

#endif

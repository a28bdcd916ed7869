/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_KEXEC_H
#define BENCH_AGENT_KEXEC_H

/* Starting the kernel under test from the base kernel, without a tool. */

#include "base/err.h"

/* Loads kernel and initrd and jumps; returns only on failure. Needs CONFIG_KEXEC_FILE. */
bool kexec_into(const char *kernel, const char *initrd, const char *cmdline,
		struct err *err) _must_check;

#endif

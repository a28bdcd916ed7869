/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_BPF_LOG_H
#define BENCH_BPF_LOG_H

/* What libbpf and the kernel's verifier say while programs are loaded: kept, not printed. */

#include "base/err.h"

/* From here on their words are kept instead of printed; what was kept before is forgotten. */
void bpf_log_start(void);
/*
 * As err_sys(): what failed and errno, then the verifier's or libbpf's own reason when there is one. With MMPERF_BPF_LOG in the
 * environment everything that was kept goes to stderr, too. Always false.
 */
bool bpf_log_err(struct err *err, const char *what) _must_check;

#endif

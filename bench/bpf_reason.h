/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_BPF_REASON_H
#define BENCH_BPF_REASON_H

#include "base/err.h"

#include <stddef.h>

/* Of what libbpf said (the verifier's log is part of it), the line that tells why the last program was refused, without its end and cut
 * to size; false when there is none. */
bool bpf_reason(const char *text, char *out, size_t size) _must_check;

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* The verifier's words. */
#include "bench/bpf_log.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "base/str.h"
#include "bench/bpf_reason.h"

/* A verifier's log of all branches is long; what it ends with is what counts. */
#define KEPT ((size_t)1 << 20)

/* libbpf's callback carries no argument of ours. */
static struct str kept;

static int keep(enum libbpf_print_level level, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0)));

static int keep(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	if (level != LIBBPF_DEBUG && kept.len < KEPT)
		str_vaddf(&kept, fmt, ap);
	return 0;
}

void bpf_log_start(void)
{
	if (!kept.s)
		str_init(&kept);
	str_clear(&kept);
	libbpf_set_print(keep);
}

bool bpf_log_err(struct err *err, const char *what)
{
	char reason[512];
	int number = errno;

	if (kept.s && getenv("MMPERF_BPF_LOG"))
		fputs(kept.s, stderr);
	errno = number;
	if (!kept.s || !bpf_reason(kept.s, reason, sizeof(reason)))
		return err_sys(err, "%s", what);
	return err_set(err, ERR_FAILED, "%s: %s; %s", what, strerror(number), reason);
}

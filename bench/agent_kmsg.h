/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_KMSG_H
#define BENCH_AGENT_KMSG_H

/*
 * Result lines through the kernel's log, for machines that only a serial line leads out of. One write to
 * /dev/kmsg is one record, which the kernel prints as a whole, so that its own messages stand between pieces and never
 * inside one. docs/protocol.md, "By the serial line".
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct kmsg {
	int fd;
	unsigned seq; /* of the next record */
};

/* Also lifts the kernel's limit on records of user space, where that can be done. */
bool kmsg_open(struct kmsg *kmsg, struct err *err) _must_check;
/* One line without its newline, in as many records as it takes. False: it could not be written. */
bool kmsg_say(struct kmsg *kmsg, const char *line, size_t n, struct err *err) _must_check;

#endif

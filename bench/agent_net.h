/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_AGENT_NET_H
#define BENCH_AGENT_NET_H

/* Result lines by TCP, from an initramfs (docs/protocol.md, "By the network"). */

#include "base/err.h"

/*
 * Connects to a numeric address (IPv4 or IPv6) and says the job's nonce on a line of its own, by which the runner knows
 * whom it hears. Tried again until timeout_s are over: a card needs seconds until its link is up. The caller closes *fd.
 */
bool net_connect(const char *address, int port, const char *nonce, double timeout_s, int *fd,
		 struct err *err) _must_check;
/* Until the other side has taken all of it and closed, or timeout_s are over: a restart would throw away what the kernel still holds. */
void net_finish(int fd, double timeout_s);

#endif

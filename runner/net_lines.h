/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_NET_LINES_H
#define RUNNER_NET_LINES_H

/*
 * The agent's lines over the network (docs/protocol.md, "By the network"). Anybody may connect; who says the job's nonce first is
 * the agent, and all others are turned away. Or over a connection that is there already.
 */

#include "base/str.h"

#define NET_LINES_CALLERS 8

struct net_lines {
	int listener; /* -1: nothing is awaited */
	int peer;     /* the agent; -1: not yet */
	bool over;    /* it has hung up */
	struct net_lines_caller {
		int fd; /* -1: nobody */
		struct str said;
	} callers[NET_LINES_CALLERS];
	size_t next; /* whose place a new caller takes */
};

void net_lines_init(struct net_lines *n);
void net_lines_release(struct net_lines *n);
/* Hangs up, and listens no more; fine when nothing is open. */
void net_lines_close(struct net_lines *n);

/* place is "ADDRESS" or "ADDRESS:PORT", a numeric address of this host as the machine reaches it ("[ADDRESS]:PORT" for IPv6); without a
 * port any is taken. Listens on that port of all addresses, since translation may lie between. *address is the caller's to free. */
bool net_lines_listen(struct net_lines *n, const char *place, char **address, int *port,
		      struct err *err) _must_check;
/* fd, which never blocks and is taken, is the agent already. */
void net_lines_adopt(struct net_lines *n, int fd);
/* Appends what the agent has sent meanwhile to the file of the lines. Does not wait. */
bool net_lines_pull(struct net_lines *n, const char *nonce, const char *lines,
		    struct err *err) _must_check;

#endif

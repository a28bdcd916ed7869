/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_CONSOLES_DRIVERS_H
#define RUNNER_CONSOLES_DRIVERS_H

/* The kinds of console that there are; one file each. */

#include <sys/socket.h>

#include "base/proc.h"
#include "db/settings.h"

/* One console while it is read. */
struct console_link {
	const struct settings *settings;
	const char *machine;
	const char *place;	      /* of machine.console, behind SCHEME:// */
	int fd;			      /* -1 while not connected */
	struct proc proc;	      /* that stands behind fd, if one does */
	int state;		      /* the driver's, 0 at each connection */
	struct sockaddr_storage peer; /* whose datagrams are taken */
};

struct console_driver {
	const char *scheme;
	/* Settings and secrets, without a word to the outside. */
	bool (*check)(const struct console_link *link, struct err *err);
	/* Fills fd (non-blocking) and perhaps proc; bounded by CONSOLE_CONNECT_S. */
	bool (*connect)(struct console_link *link, struct err *err);
	/* As read(2); NULL: that. */
	ssize_t (*receive)(struct console_link *link, char *buf, size_t n);
	/* What came as what is kept; NULL: as it is. */
	void (*take)(struct console_link *link, const char *bytes, size_t n, struct str *out);
	/* Break and key. NULL: this kind only listens. */
	bool (*sysrq)(struct console_link *link, char key, struct err *err);
	bool datagrams; /* an empty read or an error is no end */
};

#define CONSOLE_CONNECT_S 10.0

extern const struct console_driver console_conserver;
extern const struct console_driver console_exec;
extern const struct console_driver console_ipmi;
extern const struct console_driver console_netconsole;
extern const struct console_driver console_tcp;
extern const struct console_driver console_telnet;
extern const struct console_driver console_unix;

/* All n bytes to the other side, within a second. */
bool console_send(struct console_link *link, const void *bytes, size_t n,
		  struct err *err) _must_check;
/* Runs spec on a new terminal, whose other side becomes link->fd. */
bool console_on_terminal(struct console_link *link, struct proc_spec *spec,
			 struct err *err) _must_check;
/* "HOST:PORT" or "[ADDRESS]:PORT" in two parts; the caller frees both. */
bool console_split_place(const char *place, char **host, char **port, struct err *err) _must_check;

#endif

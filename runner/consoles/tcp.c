// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Serial lines over the network: raw TCP (ser2net, QEMU) and telnet (RFC 854, with the break
 * command), as terminal servers offer them.
 */
#include "runner/consoles/drivers.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* RFC 854 and RFC 857-858 */
enum telnet {
	TELNET_ECHO = 1,
	TELNET_SGA = 3,
	TELNET_SE = 240,
	TELNET_BREAK = 243,
	TELNET_SB = 250,
	TELNET_WILL = 251,
	TELNET_WONT = 252,
	TELNET_DO = 253,
	TELNET_DONT = 254,
	TELNET_IAC = 255
};

bool console_split_place(const char *place, char **host, char **port, struct err *err)
{
	const char *colon = strrchr(place, ':');
	long long number;
	bool bracket = place[0] == '[' && colon && colon > place + 2 && colon[-1] == ']';

	if (!colon || colon == place || !str_to_i64(colon + 1, &number) || number < 1 ||
	    number > 65535)
		return err_set(err, ERR_USAGE, "\"%s\" is not HOST:PORT", place);
	*host = xstrndup(place + bracket, (size_t)(colon - place) - 2 * bracket);
	*port = xstrdup(colon + 1);
	return true;
}

static bool tcp_check(const struct console_link *link, struct err *err)
{
	AUTO_FREE char *host = NULL, *port = NULL;

	return console_split_place(link->place, &host, &port, err);
}

static void free_addresses(struct addrinfo **list)
{
	if (*list)
		freeaddrinfo(*list);
}

/* The machine may be cut from its power server without a FIN: keep-alive finds out. */
static void keep_alive(int fd)
{
	const int on = 1, idle_s = 30, interval_s = 10, count = 3;

	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof(interval_s));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

static int connect_to(const struct addrinfo *a)
{
	AUTO_CLOSE int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int error = 0;

	if (fd < 0)
		return -1;
	if (connect(fd, a->ai_addr, a->ai_addrlen) && errno != EINPROGRESS)
		return -1;
	if (poll(&p, 1, (int)(CONSOLE_CONNECT_S * 1000)) <= 0) {
		errno = ETIMEDOUT;
		return -1;
	}
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &len) || error) {
		errno = error;
		return -1;
	}
	keep_alive(fd);
	return TAKE_FD(fd);
}

static bool tcp_connect(struct console_link *link, struct err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	CLEANUP(free_addresses) struct addrinfo *list = NULL;
	AUTO_FREE char *host = NULL, *port = NULL;
	int failed;

	if (!console_split_place(link->place, &host, &port, err))
		return false;
	failed = getaddrinfo(host, port, &hints, &list);
	if (failed)
		return err_set(err, ERR_FAILED, "%s: %s", host, gai_strerror(failed));
	for (struct addrinfo *a = list; a && link->fd < 0; a = a->ai_next)
		link->fd = connect_to(a);
	return link->fd >= 0 || err_sys(err, "cannot connect to %s", link->place);
}

bool console_send(struct console_link *link, const void *bytes, size_t n, struct err *err)
{
	const char *p = bytes;

	while (n) {
		struct pollfd ready = {.fd = link->fd, .events = POLLOUT};
		ssize_t done = write(link->fd, p, n);

		if (done > 0) {
			p += done;
			n -= (size_t)done;
		} else if (done < 0 && errno != EAGAIN && errno != EINTR)
			return err_sys(err, "cannot write to the console");
		else if (poll(&ready, 1, 1000) == 0)
			return err_set(err, ERR_TIMEOUT, "the console takes no input");
	}
	return true;
}

/* Where a telnet stream stands between two bytes. */
enum telnet_state {
	PLAIN,
	AFTER_IAC,
	AFTER_WILL,
	AFTER_DO,
	AFTER_REFUSAL,
	IN_SUB,
	IN_SUB_IAC
};

/* The server may echo and suppress go-ahead; all else is refused, on both sides. */
static void answer_option(struct console_link *link, bool will, unsigned char option)
{
	bool yes = will ? option == TELNET_ECHO || option == TELNET_SGA : option == TELNET_SGA;
	unsigned char reply[3] = {TELNET_IAC, 0, option};
	struct err ignored;

	if (will)
		reply[1] = yes ? TELNET_DO : TELNET_DONT;
	else
		reply[1] = yes ? TELNET_WILL : TELNET_WONT;
	/* A server that takes no answer goes on without; a dead one is seen at the next read. */
	if (!console_send(link, reply, sizeof(reply), &ignored))
		return;
}

static int after_iac(unsigned char c)
{
	switch (c) {
	case TELNET_WILL:
		return AFTER_WILL;
	case TELNET_DO:
		return AFTER_DO;
	case TELNET_WONT:
	case TELNET_DONT:
		return AFTER_REFUSAL;
	case TELNET_SB:
		return IN_SUB;
	default:
		return PLAIN;
	}
}

static void telnet_byte(struct console_link *link, unsigned char c, struct str *out)
{
	switch ((enum telnet_state)link->state) {
	case PLAIN:
		if (c == TELNET_IAC)
			link->state = AFTER_IAC;
		else
			str_addc(out, (char)c);
		return;
	case AFTER_IAC:
		if (c == TELNET_IAC)
			str_addc(out, (char)c);
		link->state = after_iac(c);
		return;
	case AFTER_WILL:
	case AFTER_DO:
		answer_option(link, link->state == AFTER_WILL, c);
		break;
	case AFTER_REFUSAL:
		break;
	case IN_SUB:
		if (c == TELNET_IAC)
			link->state = IN_SUB_IAC;
		return;
	case IN_SUB_IAC:
		link->state = c == TELNET_SE ? PLAIN : IN_SUB;
		return;
	}
	link->state = PLAIN;
}

static void telnet_take(struct console_link *link, const char *bytes, size_t n, struct str *out)
{
	for (size_t i = 0; i < n; i++)
		telnet_byte(link, (unsigned char)bytes[i], out);
}

static bool telnet_sysrq(struct console_link *link, char key, struct err *err)
{
	const unsigned char order[] = {TELNET_IAC, TELNET_BREAK, (unsigned char)key};

	return console_send(link, order, sizeof(order), err);
}

const struct console_driver console_tcp = {
	.scheme = "tcp",
	.check = tcp_check,
	.connect = tcp_connect,
};

const struct console_driver console_telnet = {
	.scheme = "telnet",
	.check = tcp_check,
	.connect = tcp_connect,
	.take = telnet_take,
	.sysrq = telnet_sysrq,
};

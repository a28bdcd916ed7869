// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The kernel's own console by UDP (Documentation/networking/netconsole.rst), and a stream socket
 * of this host, as QEMU offers its serial lines.
 */
#include "runner/consoles/drivers.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

static bool net_check(const struct console_link *link, struct err *err)
{
	AUTO_FREE char *host = NULL, *port = NULL;

	return console_split_place(link->place, &host, &port, err) ||
	       err_wrap(err, "the machine's address and a port of ours");
}

static void free_addresses(struct addrinfo **list)
{
	if (*list)
		freeaddrinfo(*list);
}

static bool look_up_sender(struct console_link *link, const char *host, struct err *err)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_DGRAM};
	CLEANUP(free_addresses) struct addrinfo *list = NULL;
	int failed = getaddrinfo(host, NULL, &hints, &list);

	if (failed)
		return err_set(err, ERR_FAILED, "%s: %s", host, gai_strerror(failed));
	memcpy(&link->peer, list->ai_addr, list->ai_addrlen);
	return true;
}

static bool bind_port(struct console_link *link, const char *port, struct err *err)
{
	const struct addrinfo hints = {.ai_family = link->peer.ss_family,
				       .ai_socktype = SOCK_DGRAM,
				       .ai_flags = AI_PASSIVE | AI_NUMERICSERV};
	CLEANUP(free_addresses) struct addrinfo *list = NULL;
	AUTO_CLOSE int fd = -1;
	const int room = 4 << 20; /* a panic's text comes at once */

	if (getaddrinfo(NULL, port, &hints, &list))
		return err_set(err, ERR_FAILED, "cannot listen on UDP port %s", port);
	fd = socket(list->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, list->ai_addr, list->ai_addrlen))
		return err_sys(err, "cannot listen on UDP port %s", port);
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	link->fd = TAKE_FD(fd);
	return true;
}

static bool net_connect(struct console_link *link, struct err *err)
{
	AUTO_FREE char *host = NULL, *port = NULL;

	return console_split_place(link->place, &host, &port, err) &&
	       look_up_sender(link, host, err) && bind_port(link, port, err);
}

static bool same_address(const struct sockaddr_storage *a, const struct sockaddr_storage *b)
{
	const struct sockaddr_in *a4 = (const struct sockaddr_in *)a,
				 *b4 = (const struct sockaddr_in *)b;
	const struct sockaddr_in6 *a6 = (const struct sockaddr_in6 *)a,
				  *b6 = (const struct sockaddr_in6 *)b;

	if (a->ss_family != b->ss_family)
		return false;
	if (a->ss_family == AF_INET)
		return a4->sin_addr.s_addr == b4->sin_addr.s_addr;
	return !memcmp(&a6->sin6_addr, &b6->sin6_addr, sizeof(a6->sin6_addr));
}

/* Anybody can send us datagrams; what is not the machine's is passed over. */
static ssize_t net_receive(struct console_link *link, char *buf, size_t n)
{
	struct sockaddr_storage from;
	socklen_t len = sizeof(from);
	ssize_t got = recvfrom(link->fd, buf, n, 0, (struct sockaddr *)&from, &len);

	if (got < 0 || same_address(&from, &link->peer))
		return got;
	errno = EAGAIN;
	return -1;
}

/* "level,seq,usec,flags[,ncfrag=...];" of the extended format; its length, 0 for the plain one. */
static size_t header_length(const char *bytes, size_t n)
{
	const char *end = memchr(bytes, ';', n);
	int commas = 0;

	if (!end || !isdigit((unsigned char)*bytes))
		return 0;
	for (const char *p = bytes; p < end; p++) {
		commas += *p == ',';
		if (commas < 3 && *p != ',' && !isdigit((unsigned char)*p))
			return 0;
	}
	return commas >= 3 ? (size_t)(end + 1 - bytes) : 0;
}

static void net_take(struct console_link *link _unused, const char *bytes, size_t n,
		     struct str *out)
{
	size_t skip = header_length(bytes, n);

	str_addn(out, bytes + skip, n - skip);
}

static bool unix_check(const struct console_link *link, struct err *err)
{
	struct sockaddr_un addr;

	if (link->place[0] != '/' || strlen(link->place) >= sizeof(addr.sun_path))
		return err_set(err, ERR_USAGE, "\"%s\" is not a socket's path", link->place);
	return true;
}

static bool unix_connect(struct console_link *link, struct err *err)
{
	AUTO_CLOSE int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_un addr = {.sun_family = AF_UNIX};

	strncpy(addr.sun_path, link->place, sizeof(addr.sun_path) - 1);
	if (fd < 0 || connect(fd, (const struct sockaddr *)&addr, sizeof(addr)) ||
	    fcntl(fd, F_SETFL, O_NONBLOCK))
		return err_sys(err, "cannot connect to %s", link->place);
	link->fd = TAKE_FD(fd);
	return true;
}

const struct console_driver console_netconsole = {
	.scheme = "netconsole",
	.check = net_check,
	.connect = net_connect,
	.receive = net_receive,
	.take = net_take,
	.datagrams = true,
};

const struct console_driver console_unix = {
	.scheme = "unix",
	.check = unix_check,
	.connect = unix_connect,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Taking the agent's call. */
#include "runner/net_lines.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fs.h"

/* Until the nonce has come. */
#define MAX_SAID ((size_t)4096)
/* Of one look. */
#define MAX_PULL ((size_t)4 << 20)

void net_lines_init(struct net_lines *n)
{
	*n = (struct net_lines){.listener = -1, .peer = -1};
	for (size_t i = 0; i < NET_LINES_CALLERS; i++)
		n->callers[i] = (struct net_lines_caller){-1, str_new()};
}

static void hang_up(struct net_lines_caller *caller)
{
	mem_close_ptr(&caller->fd);
	caller->fd = -1;
	str_clear(&caller->said);
}

void net_lines_close(struct net_lines *n)
{
	for (size_t i = 0; i < NET_LINES_CALLERS; i++)
		hang_up(&n->callers[i]);
	mem_close_ptr(&n->peer);
	mem_close_ptr(&n->listener);
	n->listener = n->peer = -1;
}

void net_lines_release(struct net_lines *n)
{
	net_lines_close(n);
	for (size_t i = 0; i < NET_LINES_CALLERS; i++)
		str_release(&n->callers[i].said);
}

/* family: AF_INET or AF_INET6. */
static bool split_place(const char *place, char **address, int *port, int *family, struct err *err)
{
	const char *colon = strrchr(place, ':'), *end = place + strlen(place);
	bool bracket = place[0] == '[';
	unsigned char ignored[16];
	long long number = 0;

	/* An address of version 6 without a port has colons too. */
	if (colon && ((bracket && colon[-1] == ']') || (!bracket && strchr(place, ':') == colon))) {
		if (!str_to_i64(colon + 1, &number) || number < 1 || number > 65535)
			return err_set(err, ERR_USAGE, "\"%s\": a port is from 1 to 65535", place);
		end = colon;
	}
	if (bracket && end > place + 1 && end[-1] == ']')
		*address = xstrndup(place + 1, (size_t)(end - place) - 2);
	else
		*address = xstrndup(place, (size_t)(end - place));
	*port = (int)number;
	*family = strchr(*address, ':') ? AF_INET6 : AF_INET;
	return inet_pton(*family, *address, ignored) == 1 ||
	       err_set(err, ERR_USAGE, "\"%s\" is no numeric address with or without :PORT", place);
}

union place {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static socklen_t everywhere(int family, int port, union place *out)
{
	*out = (union place){0};
	out->any.sa_family = (sa_family_t)family;
	if (family == AF_INET6) {
		out->v6.sin6_addr = in6addr_any;
		out->v6.sin6_port = htons((uint16_t)port);
		return sizeof(out->v6);
	}
	out->v4.sin_addr.s_addr = htonl(INADDR_ANY);
	out->v4.sin_port = htons((uint16_t)port);
	return sizeof(out->v4);
}

bool net_lines_listen(struct net_lines *n, const char *place, char **address, int *port,
		      struct err *err)
{
	const int on = 1;
	union place own;
	socklen_t size;
	int family = AF_INET;

	*address = NULL;
	if (!split_place(place, address, port, &family, err))
		return false;
	mem_close_ptr(&n->listener);
	n->listener = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	size = everywhere(family, *port, &own);
	if (n->listener < 0 || setsockopt(n->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(n->listener, &own.any, size) || listen(n->listener, NET_LINES_CALLERS) ||
	    getsockname(n->listener, &own.any, &size))
		return err_sys(err, "cannot listen for the agent on port %d", *port);
	*port = ntohs(family == AF_INET6 ? own.v6.sin6_port : own.v4.sin_port);
	return true;
}

/* Whoever waits longest makes room. */
static void take_calls(struct net_lines *n)
{
	int fd;

	while (n->listener >= 0 &&
	       (fd = accept4(n->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
		struct net_lines_caller *caller = &n->callers[n->next++ % NET_LINES_CALLERS];

		hang_up(caller);
		caller->fd = fd;
	}
}

/* False: nothing more comes from there. */
static bool read_some(int fd, size_t most, struct str *out)
{
	char buf[65536];
	ssize_t got = 0;

	while (out->len < most && (got = read(fd, buf, sizeof(buf))) > 0)
		str_addn(out, buf, (size_t)got);
	return got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR)) || out->len >= most;
}

/* True: it said the nonce, and is the peer from now on. */
static bool listen_to(struct net_lines *n, struct net_lines_caller *caller, const char *nonce)
{
	size_t length = strlen(nonce);
	bool open = read_some(caller->fd, MAX_SAID, &caller->said);

	if (caller->said.len > length && !memcmp(caller->said.s, nonce, length) &&
	    caller->said.s[length] == '\n') {
		n->peer = TAKE_FD(caller->fd);
		return true;
	}
	if (!open || caller->said.len > length || memchr(caller->said.s, '\n', caller->said.len))
		hang_up(caller);
	return false;
}

static bool append(const char *path, const char *text, size_t size, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	return (fd >= 0 && fs_write_fd(fd, text, size)) || err_sys(err, "cannot write %s", path);
}

static void turn_away_others(struct net_lines *n)
{
	for (size_t i = 0; i < NET_LINES_CALLERS; i++)
		hang_up(&n->callers[i]);
	mem_close_ptr(&n->listener);
	n->listener = -1;
}

/* What the agent said in one breath with the nonce belongs to its lines. */
static bool find_peer(struct net_lines *n, const char *nonce, const char *lines, struct err *err)
{
	size_t head = strlen(nonce) + 1;
	bool ok = true;

	take_calls(n);
	for (size_t i = 0; i < NET_LINES_CALLERS && n->peer < 0; i++) {
		struct net_lines_caller *caller = &n->callers[i];

		if (caller->fd < 0 || !listen_to(n, caller, nonce))
			continue;
		if (caller->said.len > head)
			ok = append(lines, caller->said.s + head, caller->said.len - head, err);
	}
	if (n->peer >= 0)
		turn_away_others(n);
	return ok;
}

void net_lines_adopt(struct net_lines *n, int fd)
{
	net_lines_close(n);
	n->peer = fd;
	n->over = false;
}

bool net_lines_pull(struct net_lines *n, const char *nonce, const char *lines, struct err *err)
{
	AUTO_STR text = str_new();

	if (n->peer < 0 && !find_peer(n, nonce, lines, err))
		return false;
	if (n->peer < 0 || n->over)
		return true;
	n->over = !read_some(n->peer, MAX_PULL, &text);
	return !text.len || append(lines, text.s, text.len, err);
}

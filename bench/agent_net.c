// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines by TCP. */
#include "bench/agent_net.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/str.h"

#define PAUSE_S	  0.2
#define CONNECT_S 5.0

union place {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/* 0: no numeric address. */
static socklen_t parse(const char *address, int port, union place *out)
{
	*out = (union place){0};
	if (inet_pton(AF_INET, address, &out->v4.sin_addr) == 1) {
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons((uint16_t)port);
		return sizeof(out->v4);
	}
	if (inet_pton(AF_INET6, address, &out->v6.sin6_addr) == 1) {
		out->v6.sin6_family = AF_INET6;
		out->v6.sin6_port = htons((uint16_t)port);
		return sizeof(out->v6);
	}
	return 0;
}

/* False with errno. */
static bool connect_once(int fd, const union place *to, socklen_t size)
{
	struct pollfd wait = {.fd = fd, .events = POLLOUT};
	socklen_t length = sizeof(errno);
	int why = 0;

	if (!connect(fd, &to->any, size))
		return true;
	if (errno != EINPROGRESS)
		return false;
	if (poll(&wait, 1, (int)(CONNECT_S * 1000)) == 0)
		why = ETIMEDOUT;
	else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &length))
		why = errno;
	errno = why;
	return why == 0;
}

bool net_connect(const char *address, int port, const char *nonce, double timeout_s, int *fd,
		 struct err *err)
{
	double end = clock_mono_s() + timeout_s;
	AUTO_FREE char *hail = xasprintf("%s\n", nonce);
	union place to;
	socklen_t size = parse(address, port, &to);
	const int on = 1;

	if (!size)
		return err_set(err, ERR_USAGE, "\"%s\" is no numeric address", address);
	for (;;) {
		AUTO_CLOSE int s =
			socket(to.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

		if (s >= 0 && connect_once(s, &to, size)) {
			(void)!setsockopt(s, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
			if (!fs_write_fd(s, hail, strlen(hail)))
				return err_sys(err, "cannot write to %s", address);
			*fd = TAKE_FD(s);
			return true;
		}
		if (clock_mono_s() >= end)
			return err_sys(err, "no network: cannot reach %s port %d", address, port);
		clock_sleep_s(PAUSE_S);
	}
}

void net_finish(int fd, double timeout_s)
{
	double end = clock_mono_s() + timeout_s;
	char ignored[256];

	if (shutdown(fd, SHUT_WR))
		return;
	while (clock_mono_s() < end) {
		struct pollfd wait = {.fd = fd, .events = POLLIN};

		if (poll(&wait, 1, (int)(timeout_s * 1000)) > 0 &&
		    read(fd, ignored, sizeof(ignored)) <= 0)
			return;
	}
}

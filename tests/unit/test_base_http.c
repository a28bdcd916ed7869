// SPDX-License-Identifier: GPL-2.0-or-later
/* HTTP against a scripted server. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/http.h"

struct server {
	char *url;
	int listener;
	pid_t pid;
};

static void server_stop(struct server *server)
{
	kill(server->pid, SIGKILL);
	waitpid(server->pid, NULL, 0);
	close(server->listener);
	free(server->url);
}

/* Answers one request with these bytes; with NULL it never answers. */
static void serve(int listener, const char *response)
{
	char request[4096];
	int fd = accept(listener, NULL, NULL);

	if (read(fd, request, sizeof(request)) <= 0)
		_exit(1);
	if (!response)
		pause();
	if (write(fd, response, strlen(response)) < 0)
		_exit(1);
	_exit(0);
}

static struct server server_start(const char *response)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	struct server server;

	server.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(server.listener, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(listen(server.listener, 5), 0);
	assert_int_equal(getsockname(server.listener, (struct sockaddr *)&addr, &len), 0);
	server.url = xasprintf("http://me:secret@127.0.0.1:%d/x", ntohs(addr.sin_port));
	server.pid = fork();
	if (server.pid == 0)
		serve(server.listener, response);
	return server;
}

static bool get(const char *response, size_t max, struct str *out, struct err *err)
{
	CLEANUP(server_stop) struct server server = server_start(response);

	return http_get(server.url, response ? 10 : 0.5, max, out, err);
}

static void test_body(void **state _unused)
{
	AUTO_STR out = str_new();
	struct err err;

	assert_true(get("HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello", 5, &out, &err));
	assert_string_equal(out.s, "hello");
}

static void test_statuses(void **state _unused)
{
	AUTO_STR out = str_new();
	struct err err;

	str_add(&out, "kept");
	assert_false(get("HTTP/1.0 404 No\r\nContent-Length: 3\r\n\r\nwhy", 99, &out, &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_non_null(strstr(err.msg, "HTTP status 404"));
	assert_null(strstr(err.msg, "secret"));
	assert_false(get("HTTP/1.0 500 No\r\nContent-Length: 0\r\n\r\n", 99, &out, &err));
	assert_int_equal(err.kind, ERR_FAILED);
	assert_string_equal(out.s, "kept");
}

static void test_limits(void **state _unused)
{
	AUTO_STR out = str_new();
	struct err err;

	assert_false(get("HTTP/1.0 200 OK\r\n\r\n123456", 5, &out, &err));
	assert_non_null(strstr(err.msg, "larger than 5 bytes"));
	assert_int_equal(out.len, 0);
	assert_false(get(NULL, 5, &out, &err));
	assert_int_equal(err.kind, ERR_TIMEOUT);
	assert_false(get("HTTP/1.0 200 OK\r\nContent-Length: 50\r\n\r\ncut", 99, &out, &err));
	assert_int_equal(out.len, 0);
}

static void test_other_protocols(void **state _unused)
{
	AUTO_STR out = str_new();
	struct err err;

	assert_false(http_get("file:///etc/passwd", 5, 1 << 20, &out, &err));
	assert_int_equal(out.len, 0);
	assert_false(get("HTTP/1.0 302 Go\r\nLocation: file:///etc/passwd\r\n\r\n", 1 << 20, &out,
			 &err));
	assert_int_equal(out.len, 0);
}

static int set_up(void **state _unused)
{
	http_init();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_body),
		cmocka_unit_test(test_statuses),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_other_protocols),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}

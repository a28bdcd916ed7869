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

static bool ask(const char *response, struct http_answer *answer, struct err *err)
{
	CLEANUP(server_stop) struct server server = server_start(response);
	struct http_request request = {
		.method = "POST", .url = server.url, .body = "{}", .timeout_s = 10, .max = 1000};

	return http_ask(&request, answer, err);
}

static void test_any_status_is_an_answer(void **state _unused)
{
	CLEANUP(http_answer_release) struct http_answer answer = {0};
	struct err err;

	assert_true(ask("HTTP/1.1 100 Continue\r\nX-Early: yes\r\n\r\n"
			"HTTP/1.1 503 Busy\r\nretry-after: 7\r\nLocation:  /task/1 \r\n"
			"Content-Length: 4\r\n\r\nwait",
			&answer, &err));
	assert_int_equal(answer.status, 503);
	assert_string_equal(answer.body.s, "wait");
	assert_string_equal(http_header(&answer, "location"), "/task/1");
	assert_null(http_header(&answer, "X-Early"));
	assert_null(http_header(&answer, "Loc"));
	assert_true(http_retry_after_s(&answer, 99) == 7);
}

static void test_retry_after(void **state _unused)
{
	CLEANUP(http_answer_release) struct http_answer answer = {0};

	assert_true(http_retry_after_s(&answer, 3) == 3);
	strs_push(&answer.headers, "Retry-After: soon");
	assert_true(http_retry_after_s(&answer, 3) == 3);
	http_answer_release(&answer);
	answer = (struct http_answer){0};
	strs_push(&answer.headers, "Retry-After: Fri, 01 Jan 2100 00:00:00 GMT");
	assert_true(http_retry_after_s(&answer, 3) > 1000);
}

/* A header may hold a secret: it follows nobody to another place. */
static void test_no_redirects(void **state _unused)
{
	CLEANUP(http_answer_release) struct http_answer answer = {0};
	struct err err;

	assert_true(ask("HTTP/1.1 307 Go\r\nLocation: http://127.0.0.1:1/\r\n"
			"Content-Length: 0\r\n\r\n",
			&answer, &err));
	assert_int_equal(answer.status, 307);
}

static void test_no_password_in_the_clear(void **state _unused)
{
	static const char *const urls[] = {"http://bmc.example/", "http://localhost.example/",
					   "http://127.0.0.1.example/"};
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(urls); i++) {
		CLEANUP(http_answer_release) struct http_answer answer = {0};
		struct http_request request = {
			.url = urls[i], .user = "op", .password = "x", .timeout_s = 5, .max = 10};

		assert_false(http_ask(&request, &answer, &err));
		assert_int_equal(err.kind, ERR_USAGE);
		assert_non_null(strstr(err.msg, "in the clear"));
	}
	assert_true(http_is_loopback("smtp://localhost:25"));
	assert_true(http_is_loopback("http://[::1]/x"));
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
		cmocka_unit_test(test_any_status_is_an_answer),
		cmocka_unit_test(test_retry_after),
		cmocka_unit_test(test_no_redirects),
		cmocka_unit_test(test_no_password_in_the_clear),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}

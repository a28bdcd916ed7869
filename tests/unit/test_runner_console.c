// SPDX-License-Identifier: GPL-2.0-or-later
/* Consoles recorded from servers that come, go and send what they like. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/repo.h"
#include "runner/console_source.h"

#define PATIENCE_MS 20000

static char dir[] = "/tmp/mmperf-test-console-XXXXXX";

/* A console on its way: our end of its connection, and what the recorder keeps. */
struct line {
	struct settings settings;
	struct console_source *source;
	int port;
	int listener;
	int fd;
};

static int listen_on(int *port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)*port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	assert_int_equal(bind(fd, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	*port = ntohs(addr.sin_port);
	return fd;
}

static void load(struct settings *settings, const char *console)
{
	AUTO_FREE char *path = xasprintf("%s/config", dir), *text = NULL;
	struct err err;

	text = xasprintf("[machine \"m\"]\n\tclass = c\n\tdriver = fake\n\tconsole = %s\n",
			 console);
	assert_true(fs_write_atomic(path, text, strlen(text), 0644, &err));
	if (!settings_load(path, settings, &err))
		fail_msg("%s", err.msg);
}

static void answer(struct line *line)
{
	struct pollfd p = {.fd = line->listener, .events = POLLIN};

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	line->fd = accept(line->listener, NULL, NULL);
	assert_true(line->fd >= 0);
}

static void line_open(struct line *line, const char *scheme)
{
	AUTO_FREE char *console = NULL, *path = xasprintf("%s/console", dir);
	struct err err;

	*line = (struct line){.fd = -1};
	unlink(path);
	line->listener = listen_on(&line->port);
	console = xasprintf("%s://127.0.0.1:%d", scheme, line->port);
	load(&line->settings, console);
	if (!console_source_open(&line->settings, "m", path, &line->source, &err))
		fail_msg("%s", err.msg);
	answer(line);
}

static void line_close(struct line *line)
{
	console_source_free(line->source);
	mem_close_ptr(&line->fd);
	mem_close_ptr(&line->listener);
	settings_release(&line->settings);
}

static void say(struct line *line, const char *text)
{
	assert_int_equal(send(line->fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

static size_t mark(struct line *line, const char *what)
{
	struct err err;
	size_t cursor = 0;

	if (!console_source_mark(line->source, what, &cursor, &err))
		fail_msg("%s", err.msg);
	return cursor;
}

/* What stands behind cursor, once it holds this text. */
static void expect(struct line *line, size_t cursor, const char *text, struct str *out)
{
	struct err err;

	for (int i = 0; i < PATIENCE_MS / 20; i++) {
		size_t at = cursor;

		str_clear(out);
		assert_true(console_source_read(line->source, &at, 1 << 20, out, &err));
		assert_int_equal(at, cursor + out->len);
		if (strstr(out->s, text))
			return;
		clock_sleep_s(0.02);
	}
	fail_msg("\"%s\" does not come; there is: %s", text, out->s);
}

static void test_a_mark_separates(void **state _unused)
{
	CLEANUP(line_close) struct line line;
	AUTO_STR text = str_new();
	size_t cursor;

	line_open(&line, "tcp");
	say(&line, "BUG: kernel NULL pointer dereference, of the last boot\n");
	cursor = mark(&line, "attempt 7");
	say(&line, "Linux version 6.12\n");
	expect(&line, cursor, "Linux version", &text);
	assert_string_equal(text.s, "Linux version 6.12\n");
	expect(&line, 0, ": attempt 7 ---\nLinux version", &text);
	assert_true(strstr(text.s, "BUG: kernel NULL") < strstr(text.s, "attempt 7"));
}

static void test_an_open_line_is_ended(void **state _unused)
{
	CLEANUP(line_close) struct line line;
	AUTO_STR text = str_new();

	line_open(&line, "tcp");
	say(&line, "login: ");
	mark(&line, "attempt 8");
	expect(&line, 0, "login: \n--- mmperf ", &text);
}

static void test_a_lost_console_comes_back(void **state _unused)
{
	CLEANUP(line_close) struct line line;
	AUTO_STR text = str_new();
	size_t cursor;

	line_open(&line, "tcp");
	cursor = mark(&line, "attempt 9");
	say(&line, "before\n");
	expect(&line, cursor, "before", &text);
	close(TAKE_FD(line.fd));
	close(TAKE_FD(line.listener));
	expect(&line, cursor, ": console lost: the other side closed it ---\n", &text);
	/* Nobody listens for a while: that is said once. */
	expect(&line, cursor, ": no console: cannot connect to 127.0.0.1:", &text);
	line.listener = listen_on(&line.port);
	answer(&line);
	say(&line, "after\n");
	expect(&line, cursor, "after\n", &text);
	assert_non_null(strstr(text.s, ": console connected again after "));
}

static void read_exactly(int fd, void *buf, size_t n)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	for (size_t got = 0; got < n;) {
		ssize_t more;

		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
		more = recv(fd, (char *)buf + got, n - got, 0);
		assert_true(more > 0);
		got += (size_t)more;
	}
}

/* IAC WILL ECHO, IAC DO NAWS, a subnegotiation, an escaped 255: RFC 854, RFC 855, RFC 1073. */
static void test_telnet(void **state _unused)
{
	static const char bytes[] = "a\377\373\001b\377\375\037c\377\372\037zz\377\360d\377\377\n";
	const unsigned char wanted[] = {255, 253, 1, 255, 252, 31};
	unsigned char got[6], sysrq[3];
	CLEANUP(line_close) struct line line;
	AUTO_STR text = str_new();
	struct err err;
	size_t cursor;

	line_open(&line, "telnet");
	cursor = mark(&line, "attempt 10");
	for (const char *p = bytes; *p; p++) /* each may stand alone */
		assert_int_equal(send(line.fd, p, 1, MSG_NOSIGNAL), 1);
	expect(&line, cursor, "\n", &text);
	assert_string_equal(text.s, "abcd\377\n");
	read_exactly(line.fd, got, sizeof(got));
	assert_memory_equal(got, wanted, sizeof(wanted));
	assert_true(console_source_sysrq(line.source, 'b', &err));
	read_exactly(line.fd, sysrq, sizeof(sysrq));
	assert_memory_equal(sysrq, "\377\363b", 3);
	expect(&line, cursor, ": sysrq b sent ---", &text);
}

static void test_who_only_listens(void **state _unused)
{
	CLEANUP(line_close) struct line line;
	struct err err;

	line_open(&line, "tcp");
	assert_false(console_source_sysrq(line.source, 'b', &err));
	assert_int_equal(err.kind, ERR_NOTFOUND);
	assert_string_equal(err.msg, "console of m: a console by tcp takes no break");
}

static void refused(const char *console, const char *why)
{
	CLEANUP(settings_release) struct settings settings = {0};
	AUTO_FREE char *path = xasprintf("%s/console", dir);
	struct console_source *source = NULL;
	struct err err = {0};

	load(&settings, console);
	assert_false(console_source_open(&settings, "m", path, &source, &err));
	assert_null(source);
	assert_int_equal(err.kind, ERR_USAGE);
	if (!strstr(err.msg, why))
		fail_msg("%s", err.msg);
}

static void test_bad_settings(void **state _unused)
{
	refused("tcp://host", "machine m: console = tcp://host: \"host\" is not HOST:PORT");
	refused("tcp://host:99999", "is not HOST:PORT");
	refused("carrier-pigeon://x", "there is no such kind; there are: tcp, telnet");
}

static int set_up(void **state _unused)
{
	repo_init();
	return mkdtemp(dir) ? 0 : -1;
}

static int tear_down(void **state _unused)
{
	struct err err;

	return fs_remove_tree(dir, &err) ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_mark_separates),
		cmocka_unit_test(test_an_open_line_is_ended),
		cmocka_unit_test(test_a_lost_console_comes_back),
		cmocka_unit_test(test_telnet),
		cmocka_unit_test(test_who_only_listens),
		cmocka_unit_test(test_bad_settings),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

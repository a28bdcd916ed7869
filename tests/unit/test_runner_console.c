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
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/proc.h"
#include "base/repo.h"
#include "runner/console_source.h"
#include "tests/unit/scratch.h"

#define PATIENCE_MS 20000

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

/* console: the setting, and lines behind it. */
static void line_begin(struct line *line, const char *console)
{
	AUTO_FREE char *path = xasprintf("%s/console", dir);
	struct err err;

	unlink(path);
	load(&line->settings, console);
	if (!console_source_open(&line->settings, "m", path, &line->source, &err))
		fail_msg("%s", err.msg);
}

static void line_open(struct line *line, const char *scheme)
{
	AUTO_FREE char *console = NULL;

	*line = (struct line){.fd = -1};
	line->listener = listen_on(&line->port);
	console = xasprintf("%s://127.0.0.1:%d", scheme, line->port);
	line_begin(line, console);
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

static void send_datagram(const char *from, int port, const char *text)
{
	AUTO_CLOSE int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in ours = {.sin_family = AF_INET},
			   to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	assert_int_equal(inet_pton(AF_INET, from, &ours.sin_addr), 1);
	assert_int_equal(bind(fd, (struct sockaddr *)&ours, sizeof(ours)), 0);
	assert_int_equal(sendto(fd, text, strlen(text), 0, (struct sockaddr *)&to, sizeof(to)),
			 strlen(text));
}

/* A port that nobody uses now. */
static int free_port(void)
{
	int port = 0;

	close(listen_on(&port));
	return port;
}

static void test_netconsole(void **state _unused)
{
	CLEANUP(line_close) struct line line = {.fd = -1, .listener = -1};
	int port = free_port();
	AUTO_FREE char *console = xasprintf("netconsole://127.0.0.1:%d", port);
	AUTO_STR text = str_new();
	size_t cursor;

	line_begin(&line, console);
	expect(&line, 0, ": console connected ---", &text);
	cursor = mark(&line, "attempt 11");
	send_datagram("127.0.0.2", port, "Kernel panic - not syncing: of another machine\n");
	send_datagram("127.0.0.1", port, "6,416,1737,-;extended\n");
	send_datagram("127.0.0.1", port, "6,417,1738,c,ncfrag=0/9;begin\n");
	send_datagram("127.0.0.1", port, "6,4 apples; plain\n");
	expect(&line, cursor, "plain", &text);
	assert_string_equal(text.s, "extended\nbegin\n6,4 apples; plain\n");
}

static void test_unix_socket(void **state _unused)
{
	CLEANUP(line_close) struct line line = {.fd = -1, .listener = -1};
	AUTO_FREE char *path = xasprintf("%s/socket", dir), *console = NULL;
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	AUTO_STR text = str_new();

	console = xasprintf("unix://%s", path);
	strncpy(addr.sun_path, path, sizeof(addr.sun_path) - 1);
	line.listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(line.listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	assert_int_equal(listen(line.listener, 1), 0);
	line_begin(&line, console);
	answer(&line);
	say(&line, "from qemu\n");
	expect(&line, 0, "from qemu\n", &text);
}

/* It sees a terminal, in raw mode, and its end is the console's loss. */
static void test_a_program(void **state _unused)
{
	CLEANUP(line_close) struct line line = {.fd = -1, .listener = -1};
	AUTO_FREE char *program = xasprintf("%s/program", dir), *console = NULL;
	static const char script[] = "#!/bin/sh\n[ -t 0 ] && [ -t 1 ] && stty -a | grep -q -- "
				     "-icanon && echo \"$MMPERF_MACHINE $1: a raw terminal\"\n";
	AUTO_STR text = str_new();
	struct err err;

	assert_true(fs_write_atomic(program, script, strlen(script), 0755, &err));
	console = xasprintf("exec\n\tconsole-command = %s place7", program);
	line_begin(&line, console);
	expect(&line, 0, ": console lost: the other side closed it", &text);
	assert_non_null(strstr(text.s, "\nm place7: a raw terminal\n"));
}

static void start_conserver(struct proc *proc, int port, int line_port)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};
	AUTO_FREE char *path = xasprintf("%s/conserver.cf", dir), *text = NULL,
		       *log = xasprintf("%s/conserver.log", dir);
	struct err err;

	text = xasprintf("config * { defaultaccess trusted; passwdfile /dev/null; }\n"
			 "default * { rw *; master localhost; logfile \"\"; }\n"
			 "console serial7 { type host; host 127.0.0.1; port %d; protocol raw; }\n"
			 "access * { trusted 127.0.0.1; }\n",
			 line_port);
	assert_true(fs_write_atomic(path, text, strlen(text), 0644, &err));
	spec.out_path = log;
	strs_pushl(&spec.argv, "conserver", "-C", path, "-M", "127.0.0.1", "-p", NULL);
	strs_pushf(&spec.argv, "%d", port);
	if (!proc_start(&spec, proc, &err))
		fail_msg("%s", err.msg);
}

/* A real one, between us and the line. */
static void test_conserver(void **state _unused)
{
	CLEANUP(line_close) struct line line = {.fd = -1, .listener = -1};
	CLEANUP(proc_release) struct proc proc = PROC_NONE;
	AUTO_FREE char *console = NULL;
	AUTO_STR text = str_new();
	int port = free_port();
	struct err err;

	line.listener = listen_on(&line.port);
	start_conserver(&proc, port, line.port);
	answer(&line);
	console = xasprintf("conserver://127.0.0.1:%d/serial7", port);
	line_begin(&line, console);
	expect(&line, 0, "[Enter `^Ec?' for help]", &text);
	/* The client greets before it listens: what comes between the two it does not hear. */
	for (int i = 0; i < 100 && !strstr(text.s, "over conserver\r\n"); i++) {
		size_t at = 0;

		say(&line, "over conserver\r\n");
		clock_sleep_s(0.2);
		str_clear(&text);
		assert_true(console_source_read(line.source, &at, 1 << 20, &text, &err));
	}
	assert_non_null(strstr(text.s, "over conserver\r\n"));
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
	refused("conserver://host", "\"host\" is not HOST[:PORT]/CONSOLE");
	refused("unix://relative", "\"relative\" is not a socket's path");
	refused("netconsole://10.0.0.1", "the machine's address and a port of ours");
	refused("exec", "set console-command in [machine \"m\"]");
	refused("ipmi", "set bmc-host in [machine \"m\"]");
}

static int set_up(void **state)
{
	repo_init();
	return make_dir(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_mark_separates),
		cmocka_unit_test(test_an_open_line_is_ended),
		cmocka_unit_test(test_a_lost_console_comes_back),
		cmocka_unit_test(test_telnet),
		cmocka_unit_test(test_who_only_listens),
		cmocka_unit_test(test_netconsole),
		cmocka_unit_test(test_unix_socket),
		cmocka_unit_test(test_a_program),
		cmocka_unit_test(test_conserver),
		cmocka_unit_test(test_bad_settings),
	};

	return cmocka_run_group_tests(tests, set_up, drop_dir);
}

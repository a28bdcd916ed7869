// SPDX-License-Identifier: GPL-2.0-or-later
/* Mail against servers good and bad. */
#include <arpa/inet.h>
#include <dirent.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/http.h"
#include "base/proc.h"
#include "base/smtp.h"
#include "tests/unit/scratch.h"

#define MESSAGE                                                             \
	"From: a@example.org\r\nTo: b@example.org\r\nSubject: test\r\n\r\n" \
	"line\r\n.starts with a dot\r\n"

/* A server that answers every command well, except where its faults say otherwise. */
struct faults {
	const char *to_rcpt; /* the answer to that command; "" = close the connection */
	const char *to_data;
	const char *to_dot;
	bool silent_after_dot;
};

struct server {
	int port;
	int listener;
	pid_t pid;
};

static int listen_loopback(int *port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(addr);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (struct sockaddr *)&addr, len), 0);
	assert_int_equal(listen(fd, 5), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&addr, &len), 0);
	*port = ntohs(addr.sin_port);
	return fd;
}

static bool answer(FILE *f, const char *fault, const char *well)
{
	if (fault && !*fault)
		return false;
	fprintf(f, "%s\r\n", fault ? fault : well);
	return fflush(f) == 0;
}

static void converse(FILE *in, FILE *f, const struct faults *faults)
{
	char line[1000];
	bool in_text = false, ok = answer(f, NULL, "220 test");

	while (ok && fgets(line, sizeof(line), in)) {
		if (in_text && strcmp(line, ".\r\n") != 0)
			continue;
		if (in_text && faults->silent_after_dot)
			pause();
		if (in_text)
			ok = answer(f, faults->to_dot, "250 taken");
		else if (str_starts(line, "RCPT"))
			ok = answer(f, faults->to_rcpt, "250 fine");
		else if (str_starts(line, "DATA"))
			ok = answer(f, faults->to_data, "354 go on");
		else
			ok = answer(f, NULL, "250 fine");
		in_text = !in_text && str_starts(line, "DATA") && !faults->to_data;
	}
}

static void server_stop(struct server *server)
{
	if (server->pid > 0) {
		kill(server->pid, SIGKILL);
		waitpid(server->pid, NULL, 0);
	}
	close(server->listener);
}

static struct server server_start(const struct faults *faults)
{
	struct server server;

	server.listener = listen_loopback(&server.port);
	server.pid = fork();
	if (server.pid == 0) {
		int fd = accept(server.listener, NULL, NULL);
		FILE *in = fdopen(fd, "r");
		FILE *out = fdopen(dup(fd), "w");

		if (in && out)
			converse(in, out, faults);
		_exit(0);
	}
	return server;
}

static enum smtp_outcome send_to(const struct smtp_server *server, const char *to, const char *text,
				 struct err *err)
{
	AUTO_STR message = str_new();
	AUTO_STRS recipients = STRS_INIT;

	str_add(&message, text);
	strs_push(&recipients, to);
	return smtp_send(server, "a@example.org", &recipients, &message, err);
}

static enum smtp_outcome send_with(const struct faults *faults, double timeout_s, struct err *err)
{
	CLEANUP(server_stop) struct server server = server_start(faults);
	AUTO_FREE char *url = xasprintf("smtp://127.0.0.1:%d", server.port);
	struct smtp_server to = {.url = url, .timeout_s = timeout_s};

	return send_to(&to, "b@example.org", MESSAGE, err);
}

static void test_good_server(void **state _unused)
{
	const struct faults none = {0};
	struct err err;

	assert_int_equal(send_with(&none, 10, &err), SMTP_SENT);
}

static void test_refused_at_the_end(void **state _unused)
{
	const struct faults faults = {.to_dot = "550 5.7.1 not wanted"};
	struct err err;

	assert_int_equal(send_with(&faults, 10, &err), SMTP_REFUSED);
	assert_non_null(strstr(err.msg, "refused: 550 5.7.1 not wanted"));
}

static void test_put_off_at_the_end(void **state _unused)
{
	const struct faults faults = {.to_dot = "451 later"};
	struct err err;

	assert_int_equal(send_with(&faults, 10, &err), SMTP_REFUSED);
}

static void test_refused_before_the_text(void **state _unused)
{
	const struct faults rcpt = {.to_rcpt = "550 no such user"};
	const struct faults data = {.to_data = "554 no"};
	const struct faults hangup = {.to_data = ""};
	struct err err;

	assert_int_equal(send_with(&rcpt, 10, &err), SMTP_REFUSED);
	if (!strstr(err.msg, "550 no such user"))
		fail_msg("%s", err.msg);
	assert_int_equal(send_with(&data, 10, &err), SMTP_REFUSED);
	assert_int_equal(send_with(&hangup, 10, &err), SMTP_REFUSED);
}

static void test_broken_after_the_text(void **state _unused)
{
	const struct faults hangup = {.to_dot = ""};
	const struct faults silent = {.silent_after_dot = true};
	struct err err;

	assert_int_equal(send_with(&hangup, 10, &err), SMTP_UNSURE);
	assert_non_null(strstr(err.msg, "may or may not have been taken"));
	assert_int_equal(send_with(&silent, 1, &err), SMTP_UNSURE);
	assert_int_equal(err.kind, ERR_TIMEOUT);
}

static void test_no_server(void **state _unused)
{
	struct smtp_server server = {.url = "smtp://127.0.0.1:1", .timeout_s = 5};
	struct err err;

	assert_int_equal(send_to(&server, "b@example.org", MESSAGE, &err), SMTP_REFUSED);
	assert_true(str_starts(err.msg, "mail by smtp://127.0.0.1:1: "));
}

static void test_hostile_input(void **state _unused)
{
	struct smtp_server server = {.url = "smtp://127.0.0.1:1", .timeout_s = 5};
	struct err err;

	assert_int_equal(send_to(&server, "b@x>\r\nRCPT TO:<c@y", MESSAGE, &err), SMTP_REFUSED);
	assert_non_null(strstr(err.msg, "is not a mail address"));
	assert_int_equal(send_to(&server, "nobody", MESSAGE, &err), SMTP_REFUSED);
	assert_int_equal(send_to(&server, "b@x", "a\r\n\n.\r\n", &err), SMTP_REFUSED);
	assert_non_null(strstr(err.msg, "bare line end"));
	assert_int_equal(send_to(&server, "b@x", "a\r", &err), SMTP_REFUSED);
	assert_non_null(strstr(err.msg, "bare line end"));
}

static void test_password_file(void **state _unused)
{
	AUTO_FREE char *path = xasprintf("%s/password", dir);
	struct smtp_server server = {.url = "smtp://127.0.0.1:1", .user = "me", .timeout_s = 5};
	struct err err;

	server.password_file = path;
	assert_int_equal(send_to(&server, "b@x", MESSAGE, &err), SMTP_REFUSED);
	assert_non_null(strstr(err.msg, "password file"));
	assert_true(fs_write_atomic(path, "hunter2\n", 8, 0644, &err));
	assert_int_equal(send_to(&server, "b@x", MESSAGE, &err), SMTP_REFUSED);
	assert_non_null(strstr(err.msg, "can be read by others (mode 0644): run chmod 600"));
	assert_int_equal(chmod(path, 0600), 0);
	assert_int_equal(send_to(&server, "b@x", MESSAGE, &err), SMTP_REFUSED);
	assert_null(strstr(err.msg, "password"));
	assert_null(strstr(err.msg, "hunter2"));
	server.url = "smtp://mail.example.org";
	assert_int_equal(send_to(&server, "b@x", MESSAGE, &err), SMTP_REFUSED);
	assert_non_null(strstr(err.msg, "set starttls"));
}

/* Appends the text of every file in a maildir's "new". */
static void read_mailbox(const char *box, struct str *out)
{
	AUTO_FREE char *path = xasprintf("%s/new", box);
	DIR *d = opendir(path);
	struct dirent *entry;
	struct err err;

	assert_non_null(d);
	while ((entry = readdir(d))) {
		AUTO_FREE char *file = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] != '.')
			assert_true(fs_read(file, 1 << 20, out, &err));
	}
	closedir(d);
}

static void wait_for_port(int port)
{
	struct sockaddr_in addr = {.sin_family = AF_INET,
				   .sin_port = htons((uint16_t)port),
				   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	for (int i = 0; i < 600; i++) {
		AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
			return;
		clock_sleep_s(0.05);
	}
	fail_msg("no server on port %d", port);
}

/* python3-aiosmtpd, an implementation that is not ours. */
static void test_real_server(void **state _unused)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {.timeout_s = 0};
	CLEANUP(proc_release) struct proc proc = PROC_NONE;
	AUTO_FREE char *box = xasprintf("%s/box", dir);
	AUTO_FREE char *log = xasprintf("%s/log", dir);
	AUTO_FREE char *url = NULL;
	AUTO_STR got = str_new();
	struct smtp_server server = {.timeout_s = 20};
	struct err err = {0};
	int port;

	close(listen_loopback(&port));
	url = xasprintf("smtp://127.0.0.1:%d", port);
	server.url = url;
	spec.out_path = log;
	strs_pushl(&spec.argv, "/usr/bin/python3", "-m", "aiosmtpd", "-n", "-l", url + 7, "-c",
		   "aiosmtpd.handlers.Mailbox", box, NULL);
	assert_true(proc_start(&spec, &proc, &err));
	wait_for_port(port);
	if (send_to(&server, "b@example.org", MESSAGE, &err) != SMTP_SENT)
		fail_msg("%s", err.msg);
	read_mailbox(box, &got);
	assert_non_null(strstr(got.s, "Subject: test"));
	assert_non_null(strstr(got.s, "\n.starts with a dot"));
}

static int set_up(void **state)
{
	http_init();
	return make_dir(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good_server),
		cmocka_unit_test(test_refused_at_the_end),
		cmocka_unit_test(test_put_off_at_the_end),
		cmocka_unit_test(test_refused_before_the_text),
		cmocka_unit_test(test_broken_after_the_text),
		cmocka_unit_test(test_no_server),
		cmocka_unit_test(test_hostile_input),
		cmocka_unit_test(test_password_file),
		cmocka_unit_test(test_real_server),
	};

	return cmocka_run_group_tests(tests, set_up, drop_dir);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* The agent's call: both ends of it, and who else may call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/clock.h"
#include "bench/agent_net.h"
#include "runner/initramfs.h"
#include "runner/net_lines.h"
#include "scratch.h"

#define NONCE "0123456789abcdef0123456789abcdef"

static void listen_at(struct net_lines *n, const char *place, const char *want, int *port)
{
	AUTO_FREE char *address = NULL;
	struct err err;

	if (!net_lines_listen(n, place, &address, port, &err))
		fail_msg("%s: %s", place, err.msg);
	assert_string_equal(address, want);
	assert_true(*port > 0);
}

static int call(int port, const char *nonce, const char *text)
{
	struct err err;
	int fd = -1;

	if (!net_connect("127.0.0.1", port, nonce, 5, &fd, &err))
		fail_msg("%s", err.msg);
	assert_true(fs_write_fd(fd, text, strlen(text)));
	return fd;
}

static void look(struct net_lines *n)
{
	AUTO_FREE char *path = xasprintf("%s/lines", dir);
	struct err err;

	if (!net_lines_pull(n, NONCE, path, &err))
		fail_msg("%s", err.msg);
}

static void until_taken(struct net_lines *n)
{
	for (int i = 0; i < 500 && n->peer < 0; i++) {
		look(n);
		clock_sleep_s(0.01);
	}
}

/* Until the file of the lines holds want, or the agent has hung up. */
static void pull(struct net_lines *n, const char *want, bool until_over)
{
	AUTO_FREE char *path = xasprintf("%s/lines", dir);
	AUTO_STR text = str_new();
	struct err err;

	for (int i = 0; i < 500 && (until_over ? !n->over : strcmp(text.s, want) != 0); i++) {
		look(n);
		str_clear(&text);
		if (!fs_read(path, 1 << 20, &text, &err))
			str_clear(&text);
		clock_sleep_s(0.01);
	}
	assert_string_equal(text.s, want);
}

static void test_who_is_heard(void **state _unused)
{
	CLEANUP(net_lines_release) struct net_lines n;
	int port, strangers[NET_LINES_CALLERS + 1], agent;
	char byte;

	net_lines_init(&n);
	listen_at(&n, "127.0.0.1", "127.0.0.1", &port);
	strangers[0] = call(port, NONCE "0", "{\"type\":\"end\"}\n");
	for (size_t i = 1; i < ARRAY_SIZE(strangers); i++) {
		strangers[i] = call(port, "0123", i % 2 ? "" : "{\"type\":\"end\"}\n");
		look(&n);
	}
	agent = call(port, NONCE, "{\"type\":");
	pull(&n, "{\"type\":", false);
	assert_true(read(strangers[0], &byte, 1) <= 0); /* hung up on */
	assert_true(fs_write_fd(agent, "\"end\"}\n", 7));
	pull(&n, "{\"type\":\"end\"}\n", false);
	assert_false(n.over);
	for (size_t i = 0; i < ARRAY_SIZE(strangers); i++)
		close(strangers[i]);
	close(agent);
	pull(&n, "{\"type\":\"end\"}\n", true);
	assert_true(n.over);
}

static void test_nobody_else_gets_in_afterwards(void **state _unused)
{
	CLEANUP(net_lines_release) struct net_lines n;
	struct err err;
	int port, agent, fd;

	net_lines_init(&n);
	listen_at(&n, "127.0.0.1", "127.0.0.1", &port);
	agent = call(port, NONCE, "");
	until_taken(&n);
	assert_false(net_connect("127.0.0.1", port, NONCE, 0, &fd, &err));
	assert_non_null(strstr(err.msg, "no network: cannot reach 127.0.0.1 port"));
	close(agent);
}

/* Who restarts the machine must not wait for nothing. */
static void test_the_end(void **state _unused)
{
	CLEANUP(net_lines_release) struct net_lines n;
	double begun;
	int port, agent;

	net_lines_init(&n);
	listen_at(&n, "127.0.0.1", "127.0.0.1", &port);
	agent = call(port, NONCE, "");
	until_taken(&n);
	begun = clock_mono_s();
	net_finish(agent, 0.2);
	assert_true(clock_mono_s() >= begun + 0.2); /* not taken yet, for all it knows */
	close(agent);
	net_lines_close(&n);
	net_lines_close(&n);
	listen_at(&n, "127.0.0.1", "127.0.0.1", &port);
	agent = call(port, NONCE, "");
	until_taken(&n);
	net_lines_close(&n);
	begun = clock_mono_s();
	net_finish(agent, 60);
	assert_true(clock_mono_s() < begun + 30);
	close(agent);
}

static void place_is(const char *place, const char *want_error)
{
	CLEANUP(net_lines_release) struct net_lines n;
	AUTO_FREE char *address = NULL;
	struct err err = {0};
	int port;

	net_lines_init(&n);
	if (net_lines_listen(&n, place, &address, &port, &err))
		assert_string_equal(want_error, "");
	else
		assert_non_null(strstr(err.msg, want_error));
}

static void test_places(void **state _unused)
{
	CLEANUP(net_lines_release) struct net_lines n, second;
	AUTO_FREE char *address = NULL, *again = NULL;
	struct err err;
	int port;

	net_lines_init(&n);
	net_lines_init(&second);
	listen_at(&n, "10.0.2.2", "10.0.2.2", &port);
	again = xasprintf("10.0.2.2:%d", port);
	assert_false(net_lines_listen(&second, again, &address, &port, &err));
	assert_non_null(strstr(err.msg, "cannot listen for the agent on port"));
	place_is("host", "no numeric address");
	place_is("10.0.2.2:", "a port is from 1 to 65535");
	place_is("10.0.2.2:99999", "a port is from 1 to 65535");
	place_is("[::1", "no numeric address");
	place_is("", "no numeric address");
}

/* A kernel looks for an archive at multiples of four only. */
static void test_what_stands_in_front(void **state _unused)
{
	CLEANUP(initramfs_release) struct initramfs fs;
	AUTO_FREE char *path = xasprintf("%s/before", dir);
	struct err err;

	assert_true(fs_write_atomic(path, "packed", 6, 0600, &err));
	initramfs_init(&fs);
	assert_true(initramfs_behind(&fs, path, &err));
	initramfs_dir(&fs, "dev");
	assert_memory_equal(fs.bytes.s,
			    "packed\0\0"
			    "070701",
			    14);
	assert_false(initramfs_behind(&fs, "/none", &err));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_is_heard),
		cmocka_unit_test(test_nobody_else_gets_in_afterwards),
		cmocka_unit_test(test_the_end),
		cmocka_unit_test(test_places),
		cmocka_unit_test(test_what_stands_in_front),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Child processes. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/proc.h"
#include "tests/unit/scratch.h"

#define SPEC(name)   CLEANUP(proc_spec_release) struct proc_spec name = {.timeout_s = 20}
#define RESULT(name) CLEANUP(proc_result_release) struct proc_result name = {0}

static void shell(struct proc_spec *spec, const char *script)
{
	strs_pushl(&spec->argv, "sh", "-c", script, NULL);
}

static void output_is(struct proc_spec *spec, const char *want)
{
	RESULT(result);
	struct err err = {0};

	if (!proc_run(spec, &result, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(result.out.s, want);
	assert_int_equal(result.status, 0);
}

/* True when no process of the pid is left within a second or five. */
static bool gone(pid_t pid)
{
	for (int i = 0; i < 500; i++) {
		if (kill(pid, 0) && errno == ESRCH)
			return true;
		clock_sleep_s(0.01);
	}
	return false;
}

static pid_t pid_in_file(const char *path)
{
	for (int i = 0; i < 500; i++) {
		AUTO_STR text = str_new();
		long long pid;
		struct err err;

		if (fs_read(path, 100, &text, &err) && str_to_i64(str_trim(text.s), &pid))
			return (pid_t)pid;
		clock_sleep_s(0.01);
	}
	return -1;
}

static void test_output_and_status(void **state _unused)
{
	SPEC(spec);
	RESULT(result);
	struct err err;

	shell(&spec, "echo out; echo err >&2; exit 3");
	assert_true(proc_run(&spec, &result, &err));
	assert_string_equal(result.out.s, "out\nerr\n");
	assert_int_equal(result.status, 3);
	assert_false(result.timed_out);
}

static void test_signal_status(void **state _unused)
{
	SPEC(spec);
	RESULT(result);
	struct err err;

	shell(&spec, "kill -9 $$");
	assert_true(proc_run(&spec, &result, &err));
	assert_int_equal(result.status, 128 + SIGKILL);
}

static void test_arguments_are_not_a_shell(void **state _unused)
{
	SPEC(spec);

	strs_pushl(&spec.argv, "printf", "%s|", "a b", "$HOME", "`id`", "", NULL);
	output_is(&spec, "a b|$HOME|`id`||");
}

static void fails_to_start(struct proc_spec *spec, const char *message)
{
	RESULT(result);
	struct err err;

	assert_false(proc_run(spec, &result, &err));
	assert_string_equal(err.msg, message);
}

static void test_start_failures(void **state _unused)
{
	SPEC(absent);
	SPEC(not_a_program);
	SPEC(bad_cwd);

	strs_push(&absent.argv, "no-such-program");
	fails_to_start(&absent, "no-such-program is not installed (not found in PATH)");
	strs_push(&not_a_program.argv, "/etc/passwd");
	fails_to_start(&not_a_program, "cannot run /etc/passwd: Permission denied");
	bad_cwd.cwd = "/nonexistent";
	shell(&bad_cwd, "true");
	fails_to_start(&bad_cwd, "cannot enter directory /nonexistent: No such file or directory");
}

static void test_timeout_ends_the_group_and_keeps_output(void **state _unused)
{
	SPEC(spec);
	RESULT(result);
	AUTO_FREE char *file = xasprintf("%s/grandchild", dir);
	struct err err;

	spec.timeout_s = 0.5;
	strs_pushf(&spec.env, "FILE=%s", file);
	shell(&spec, "echo begun; sleep 300 & echo $! >$FILE; wait");
	assert_false(proc_run(&spec, &result, &err));
	assert_int_equal(err.kind, ERR_TIMEOUT);
	assert_true(result.timed_out);
	assert_string_equal(result.out.s, "begun\n");
	assert_true(result.seconds < 4);
	assert_true(gone(pid_in_file(file)));
}

static void test_stubborn_child_is_killed(void **state _unused)
{
	SPEC(spec);
	RESULT(result);
	struct err err;

	spec.timeout_s = 0.3;
	shell(&spec, "trap '' TERM; while :; do sleep 1; done");
	assert_false(proc_run(&spec, &result, &err));
	assert_int_equal(result.status, 128 + SIGKILL);
}

static void test_background_children_do_not_hang_us(void **state _unused)
{
	SPEC(spec);
	RESULT(result);
	AUTO_FREE char *file = xasprintf("%s/background", dir);
	struct err err;

	strs_pushf(&spec.env, "FILE=%s", file);
	shell(&spec, "sleep 300 & echo $! >$FILE; echo done");
	assert_true(proc_run(&spec, &result, &err));
	assert_string_equal(result.out.s, "done\n");
	assert_true(result.seconds < 10);
	assert_true(gone(pid_in_file(file)));
}

static void test_stop_flag(void **state _unused)
{
	SPEC(spec);
	RESULT(result);
	const int stop = 1;
	struct err err;

	spec.stop = &stop;
	shell(&spec, "sleep 300");
	assert_false(proc_run(&spec, &result, &err));
	assert_false(result.timed_out);
	assert_string_equal(err.msg, "sh was stopped");
}

static void test_large_output_keeps_the_tail(void **state _unused)
{
	SPEC(spec);
	RESULT(result);
	struct err err;

	spec.max_output = 1000;
	shell(&spec, "i=0; while [ $i -lt 20000 ]; do echo line$i; i=$((i+1)); done");
	assert_true(proc_run(&spec, &result, &err));
	assert_int_equal(result.out.len, 1000);
	assert_true(str_ends(result.out.s, "line19998\nline19999\n"));
}

static void test_out_path_appends(void **state _unused)
{
	SPEC(spec);
	AUTO_FREE char *file = xasprintf("%s/log", dir);
	AUTO_STR text = str_new();
	struct err err;

	spec.out_path = file;
	shell(&spec, "echo line");
	output_is(&spec, "");
	output_is(&spec, "");
	assert_true(fs_read(file, 100, &text, &err));
	assert_string_equal(text.s, "line\nline\n");
}

static void test_err_path_keeps_stderr_apart(void **state _unused)
{
	SPEC(spec);
	AUTO_FREE char *file = xasprintf("%s/said", dir);
	AUTO_STR text = str_new();
	struct err err;

	spec.err_path = file;
	shell(&spec, "echo answer; echo talk >&2");
	output_is(&spec, "answer\n");
	output_is(&spec, "answer\n");
	assert_true(fs_read(file, 100, &text, &err));
	assert_string_equal(text.s, "talk\ntalk\n");
}

static void test_environment(void **state _unused)
{
	SPEC(over);
	SPEC(clear);

	setenv("INHERITED", "yes", 1);
	strs_push(&over.env, "ADDED=1");
	strs_push(&over.env, "INHERITED=changed");
	shell(&over, "echo $ADDED $INHERITED");
	output_is(&over, "1 changed\n");
	clear.env_clear = true;
	strs_push(&clear.argv, "env");
	output_is(&clear, "");
}

static void test_stdin(void **state _unused)
{
	SPEC(text);
	SPEC(none);

	text.stdin_text = "fed\n";
	strs_push(&text.argv, "cat");
	output_is(&text, "fed\n");
	strs_push(&none.argv, "cat");
	output_is(&none, "");
}

static void test_descriptors(void **state _unused)
{
	SPEC(spec);
	AUTO_CLOSE int leaky = open("/dev/null", O_RDONLY); /* on purpose without O_CLOEXEC */
	AUTO_CLOSE int passed = open("/etc/hostname", O_RDONLY | O_CLOEXEC);

	spec.pass_fd = passed;
	shell(&spec,
	      "for i in 3 4 5 6 7 8 9 10 11 12; do test -e /proc/$$/fd/$i && echo $i; done; :");
	assert_true(leaky >= 3);
	output_is(&spec, "3\n");
}

static void test_cpus(void **state _unused)
{
	SPEC(one);
	SPEC(bad);
	RESULT(result);
	struct err err;

	one.cpus = "0";
	strs_push(&one.argv, "nproc");
	output_is(&one, "1\n");
	bad.cpus = "0-";
	strs_push(&bad.argv, "nproc");
	assert_false(proc_run(&bad, &result, &err));
	assert_int_equal(err.kind, ERR_USAGE);
}

static void test_cpu_time_is_counted(void **state _unused)
{
	SPEC(spec);
	RESULT(result);
	struct err err;

	shell(&spec, "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done");
	assert_true(proc_run(&spec, &result, &err));
	assert_true(result.cpu_s > 0.01);
	assert_true(result.cpu_s < 20);
}

static void test_user(void **state _unused)
{
	SPEC(spec);

	spec.user = "nobody";
	shell(&spec, "echo $(id -un) $(id -G) $USER $HOME");
	if (geteuid() == 0)
		output_is(&spec, "nobody 65534 nobody /nonexistent\n");
}

/* bash opens sockets by itself: the exit status tells whether it could. */
#define OPEN_SOCKET "bash -c 'exec 3<>/dev/udp/127.0.0.1/9' 2>/dev/null && echo open || echo closed"

static void test_no_network(void **state _unused)
{
	SPEC(with);
	SPEC(without);
	SPEC(as_user);
	SPEC(pairs);

	shell(&with, OPEN_SOCKET);
	output_is(&with, "open\n");
	without.no_network = true;
	shell(&without, OPEN_SOCKET);
	output_is(&without, "closed\n");
	pairs.no_network = true;
	shell(&pairs, "python3 -c 'import socket; socket.socketpair(); print(1)\n"
		      "try: socket.socket(socket.AF_UNIX)\n"
		      "except PermissionError: print(2)'");
	output_is(&pairs, "1\n2\n");
	if (!proc_may_switch())
		return;
	as_user.no_network = true;
	as_user.user = "nobody";
	shell(&as_user, "id -un; tail -n +3 /proc/net/dev | tr -d ' ' | cut -d: -f1; " OPEN_SOCKET);
	output_is(&as_user, "nobody\nlo\nclosed\n");
}

#define DAEMON_ID 1
#define RIGHTS	  (1U << CAP_SETUID | 1U << CAP_SETGID)

/* As systemd starts a unit that has User= and AmbientCapabilities=. */
static bool become_service(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {{RIGHTS, RIGHTS, RIGHTS}};

	return !prctl(PR_SET_KEEPCAPS, 1) && !setgroups(0, NULL) &&
	       !setresgid(DAEMON_ID, DAEMON_ID, DAEMON_ID) &&
	       !setresuid(DAEMON_ID, DAEMON_ID, DAEMON_ID) && !syscall(SYS_capset, &header, data) &&
	       !prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETUID, 0, 0) &&
	       !prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SETGID, 0, 0);
}

static bool says(const char *user, bool keep_rights, const char *want)
{
	SPEC(spec);
	RESULT(result);
	struct err err;

	spec.user = user;
	spec.keep_rights = keep_rights;
	shell(&spec, "id -un; sed -n 's/CapEff:.//p' /proc/self/status");
	return proc_run(&spec, &result, &err) && !strcmp(result.out.s, want);
}

/* A service with the two capabilities becomes another user, and what it starts has none of them. */
static void test_switch_without_root(void **state _unused)
{
	int status = 0;
	pid_t pid;

	if (geteuid() != 0)
		skip();
	pid = fork();
	if (pid == 0)
		_exit(!become_service()					     ? 1
		      : !proc_may_switch()				     ? 2
		      : !says("nobody", false, "nobody\n0000000000000000\n") ? 3
		      : !says(NULL, false, "daemon\n0000000000000000\n")     ? 4
		      : !says(NULL, true, "daemon\n00000000000000c0\n")	     ? 5
									     : 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_start_wait_kill(void **state _unused)
{
	SPEC(brief);
	SPEC(endless);
	CLEANUP(proc_release) struct proc proc = PROC_NONE;
	struct err err;
	int status = -1;

	shell(&brief, "exit 4");
	assert_true(proc_start(&brief, &proc, &err));
	assert_true(proc_wait(&proc, 10, &status));
	assert_int_equal(status, 4);
	assert_int_equal(proc.pid, 0);
	shell(&endless, "sleep 300");
	assert_true(proc_start(&endless, &proc, &err));
	assert_false(proc_wait(&proc, 0, &status));
	proc_kill(&proc, 5);
	assert_int_equal(proc.pid, 0);
	proc_kill(&proc, 5);
}

/* A parent that is killed without any chance to clean up. */
static void test_group_dies_with_its_parent(void **state _unused)
{
	AUTO_FREE char *file = xasprintf("%s/orphan", dir);
	pid_t parent = fork(), grandchild;

	if (parent == 0) {
		struct proc_spec spec = {.timeout_s = 0};
		struct proc proc = PROC_NONE;
		struct err err;

		strs_pushf(&spec.env, "FILE=%s", file);
		shell(&spec, "sleep 300 & echo $! >$FILE; wait");
		if (proc_start(&spec, &proc, &err))
			pause();
		_exit(1);
	}
	grandchild = pid_in_file(file);
	assert_true(grandchild > 0);
	assert_int_equal(kill(grandchild, 0), 0);
	kill(parent, SIGKILL);
	waitpid(parent, NULL, 0);
	assert_true(gone(grandchild));
}

static void test_paths(void **state _unused)
{
	AUTO_FREE char *self = proc_self_dir();
	AUTO_FREE char *sh = proc_which("sh");
	AUTO_FREE char *none = proc_which("no-such-program-here");

	assert_int_equal(self[0], '/');
	assert_non_null(sh);
	assert_null(none);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output_and_status),
		cmocka_unit_test(test_signal_status),
		cmocka_unit_test(test_arguments_are_not_a_shell),
		cmocka_unit_test(test_start_failures),
		cmocka_unit_test(test_timeout_ends_the_group_and_keeps_output),
		cmocka_unit_test(test_stubborn_child_is_killed),
		cmocka_unit_test(test_background_children_do_not_hang_us),
		cmocka_unit_test(test_stop_flag),
		cmocka_unit_test(test_large_output_keeps_the_tail),
		cmocka_unit_test(test_out_path_appends),
		cmocka_unit_test(test_err_path_keeps_stderr_apart),
		cmocka_unit_test(test_environment),
		cmocka_unit_test(test_stdin),
		cmocka_unit_test(test_descriptors),
		cmocka_unit_test(test_cpus),
		cmocka_unit_test(test_cpu_time_is_counted),
		cmocka_unit_test(test_user),
		cmocka_unit_test(test_no_network),
		cmocka_unit_test(test_switch_without_root),
		cmocka_unit_test(test_start_wait_kill),
		cmocka_unit_test(test_group_dies_with_its_parent),
		cmocka_unit_test(test_paths),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}

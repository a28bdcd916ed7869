// SPDX-License-Identifier: GPL-2.0-or-later
/* Running a benchmark. */
#include "bench/agent_child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

#define CGROUP	  "/sys/fs/cgroup"
#define LINE_MAX_ ((size_t)4 << 20)

struct pipes {
	pid_t pid;
	int from, to, talk; /* its stdout, its stdin, its stderr */
	struct str text, said;
};

bool memcg_available(void)
{
	AUTO_STR text = str_new();
	AUTO_STRS words = STRS_INIT;
	struct err err;

	if (!fs_read(CGROUP "/cgroup.controllers", 4096, &text, &err))
		return false;
	strs_split(&words, text.s, " \n");
	/* A container may see the controller and not be let hand it on. */
	return strs_has(&words, "memory") &&
	       fs_poke(CGROUP "/cgroup.subtree_control", "+memory", &err);
}

bool memcg_new(int64_t seq, char **out, struct err *err)
{
	AUTO_FREE char *dir = xasprintf(CGROUP "/mmperf-%lld", (long long)seq);

	*out = NULL;
	if (!memcg_available())
		return true;
	/* What an agent that was killed left has another run's pages in it. */
	rmdir(dir);
	if (mkdir(dir, 0755))
		return err_sys(err, "cannot make the memory cgroup %s", dir);
	*out = TAKE(dir);
	return true;
}

void memcg_remove(const char *dir)
{
	/* The kernel may need a moment to let the last process go. */
	for (int i = 0; dir && i < 50 && rmdir(dir) && errno == EBUSY; i++)
		clock_sleep_s(0.01);
}

static void argv_of(const struct bench_child *child, struct strs *argv)
{
	const char *key;
	json_t *value;

	strs_push(argv, child->name);
	strs_push(argv, "--sync");
	json_object_foreach((json_t *)child->params, key, value)
	{
		strs_pushf(argv, "--%s=%s", key, json_string_value(value));
	}
}

static void exec_child(const struct bench_child *child, char *const *argv, const int fds[3])
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setpgid(0, 0);
	if (child->cgroup) {
		AUTO_FREE char *procs = xasprintf("%s/cgroup.procs", child->cgroup);
		struct err err;

		if (!fs_poke(procs, "0", &err)) {
			dprintf(fds[2], "%s\n", err.msg);
			_exit(127);
		}
	}
	for (int i = 0; i < 3; i++)
		dup2(fds[i], i);
	execv("/proc/self/exe", argv);
	dprintf(2, "cannot execute /proc/self/exe: %s\n", strerror(errno));
	_exit(127);
}

static bool start(const struct bench_child *child, struct pipes *pipes, struct err *err)
{
	AUTO_STRS argv = STRS_INIT;
	int in[2], out[2], talk[2];

	argv_of(child, &argv);
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(talk, O_CLOEXEC))
		return err_sys(err, "pipe");
	pipes->pid = fork();
	if (!pipes->pid)
		exec_child(child, argv.v, (int[3]){in[0], out[1], talk[1]});
	close(in[0]);
	close(out[1]);
	close(talk[1]);
	pipes->to = in[1];
	pipes->from = out[0];
	pipes->talk = talk[0];
	if (pipes->pid < 0)
		return err_sys(err, "cannot fork");
	return true;
}

static bool take_line(struct bench_child *child, struct pipes *pipes, const char *text, size_t n,
		      struct err *err)
{
	AUTO_JSON *line = NULL;
	const char *type;

	if (!js_parse(text, n, &line, err))
		return err_wrap(err, "%s said \"%.60s\"", child->name, text);
	type = js_str_or(line, "type", "");
	if (!strcmp(type, "phase")) {
		child->phase(child->arg, js_bool_or(line, "on", false));
		if (write(pipes->to, "\n", 1) != 1)
			return err_sys(err, "%s does not listen", child->name);
	} else if (!strcmp(type, "done")) {
		json_decref(child->done);
		child->done = TAKE(line);
	} else {
		child->line(child->arg, line);
	}
	return true;
}

static bool take_lines(struct bench_child *child, struct pipes *pipes, struct err *err)
{
	char *newline;

	while ((newline = memchr(pipes->text.s, '\n', pipes->text.len))) {
		size_t n = (size_t)(newline - pipes->text.s);
		AUTO_FREE char *one = xstrndup(pipes->text.s, n);

		memmove(pipes->text.s, newline + 1, pipes->text.len - n);
		pipes->text.len -= n + 1;
		if (!take_line(child, pipes, one, n, err))
			return false;
	}
	return true;
}

/* False at the end of the stream. */
static bool pour(int *fd, struct str *into)
{
	char buf[16384];
	ssize_t n = read(*fd, buf, sizeof(buf));

	if (n > 0 && into->len + (size_t)n <= LINE_MAX_)
		str_addn(into, buf, (size_t)n);
	else if (n <= 0 && errno != EINTR) {
		close(*fd);
		*fd = -1;
		return false;
	}
	return true;
}

static bool listen_to(struct bench_child *child, struct pipes *pipes, struct err *err)
{
	double deadline = clock_mono_s() + child->timeout_s;

	while (pipes->from >= 0 || pipes->talk >= 0) {
		struct pollfd fds[2] = {{.fd = pipes->from, .events = POLLIN},
					{.fd = pipes->talk, .events = POLLIN}};
		double left = deadline - clock_mono_s();

		if (left <= 0)
			return err_set(err, ERR_TIMEOUT, "%s took more than %g s", child->name,
				       child->timeout_s);
		if (poll(fds, 2, (int)(left * 1000) + 1) < 0 && errno != EINTR)
			return err_sys(err, "poll");
		if (fds[1].revents)
			pour(&pipes->talk, &pipes->said);
		if (fds[0].revents) {
			pour(&pipes->from, &pipes->text);
			if (!take_lines(child, pipes, err))
				return false;
		}
	}
	return true;
}

static bool judge(const struct bench_child *child, struct pipes *pipes, int status, struct err *err)
{
	AUTO_STR said = str_new();

	str_add_utf8(&said, str_trim(pipes->said.s), strlen(str_trim(pipes->said.s)));
	if (WIFSIGNALED(status))
		return err_set(err, ERR_FAILED, "%s died by signal %d (%s) %.300s", child->name,
			       WTERMSIG(status), strsignal(WTERMSIG(status)), said.s);
	if (WEXITSTATUS(status))
		return err_set(err, ERR_FAILED, "%.300s",
			       said.len ? said.s : "failed without a word");
	if (!child->done)
		return err_set(err, ERR_FAILED, "%s ended without its last line", child->name);
	return true;
}

bool bench_child_run(struct bench_child *child, struct err *err)
{
	struct pipes pipes = {.from = -1, .to = -1, .talk = -1};
	int status = 0;
	bool ok;

	str_init(&pipes.text);
	str_init(&pipes.said);
	ok = start(child, &pipes, err) && listen_to(child, &pipes, err);
	if (pipes.pid > 0) {
		/* Its own children too: khugepaged's tasks must not outlive their run. */
		kill(-pipes.pid, SIGKILL);
		while (waitpid(pipes.pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	ok = ok && judge(child, &pipes, status, err);
	mem_close_ptr(&pipes.from);
	mem_close_ptr(&pipes.to);
	mem_close_ptr(&pipes.talk);
	str_release(&pipes.text);
	str_release(&pipes.said);
	return ok;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Running child processes. */
#include "base/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc_child.h"

#define DEFAULT_MAX_OUTPUT ((size_t)1 << 20)
#define GRACE_S		   5.0
#define STOP_LOOK_S	   0.2

void proc_spec_release(struct proc_spec *spec)
{
	strs_release(&spec->argv);
	strs_release(&spec->env);
}

void proc_result_release(struct proc_result *result)
{
	str_release(&result->out);
}

static int wait_readable(int fd, double timeout_s)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, (int)ceil(timeout_s * 1000));
}

static int open_log(const char *path, struct err *err)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644);

	if (fd < 0)
		err_sys(err, "cannot open %s", path);
	return fd;
}

static bool launch(const struct proc_spec *spec, int out_fd, struct proc *proc, struct err *err)
{
	struct proc fresh = PROC_NONE;
	AUTO_CLOSE int err_fd = -1;

	if (spec->err_path && (err_fd = open_log(spec->err_path, err)) < 0)
		return false;
	if (!child_launch(spec, out_fd, err_fd, &fresh.pid, err))
		return false;
	fresh.pidfd = (int)syscall(SYS_pidfd_open, fresh.pid, 0);
	if (fresh.pidfd < 0)
		err_sys(err, "cannot wait for %s", spec->argv.v[0]);
	else if (child_watch(fresh.pid, &fresh.watcher, err)) {
		*proc = fresh;
		return true;
	}
	proc_kill(&fresh, 0);
	return false;
}

bool proc_start(const struct proc_spec *spec, struct proc *proc, struct err *err)
{
	AUTO_CLOSE int out_fd = -1;

	if (spec->out_path && (out_fd = open_log(spec->out_path, err)) < 0)
		return false;
	return launch(spec, out_fd, proc, err);
}

static pid_t wait_eintr(pid_t pid, int *wstatus, struct rusage *usage)
{
	pid_t got;

	do
		got = wait4(pid, wstatus, 0, usage);
	while (got < 0 && errno == EINTR);
	return got;
}

/* The child has ended: what is left of its group goes too, then the zombies. */
static void reap(struct proc *proc, int *status, struct rusage *usage)
{
	int wstatus = 0;

	/* The group's number cannot have been reused: the zombie and the watcher hold it. */
	kill(-proc->pid, SIGKILL);
	wait_eintr(proc->pid, &wstatus, usage);
	if (proc->watcher > 0)
		wait_eintr(proc->watcher, NULL, NULL);
	mem_close_ptr(&proc->pidfd);
	*proc = (struct proc)PROC_NONE;
	*status = WIFSIGNALED(wstatus) ? 128 + WTERMSIG(wstatus) : WEXITSTATUS(wstatus);
}

bool proc_wait(struct proc *proc, double timeout_s, int *status)
{
	double end = clock_mono_s() + timeout_s, left = timeout_s;
	struct rusage usage;
	int ready;

	if (proc->pid <= 0)
		return false;
	while ((ready = wait_readable(proc->pidfd, left > 0 ? fmin(left, 1e6) : 0)) <= 0) {
		left = end - clock_mono_s();
		if (left <= 0 && ready == 0)
			return false;
	}
	reap(proc, status, &usage);
	return true;
}

void proc_kill(struct proc *proc, double grace_s)
{
	struct rusage usage;
	int status;

	if (proc->pid <= 0)
		return;
	if (grace_s > 0) {
		kill(-proc->pid, SIGTERM);
		if (proc_wait(proc, grace_s, &status))
			return;
	}
	kill(-proc->pid, SIGKILL);
	reap(proc, &status, &usage);
}

void proc_release(struct proc *proc)
{
	proc_kill(proc, 2);
}

/* A child whose output is read until it has ended. */
struct session {
	const struct proc_spec *spec;
	struct proc proc;
	int out_fd; /* -1 when nothing is captured or the child has closed it */
	struct proc_result *result;
	double deadline; /* of the next measure; INFINITY = none */
	enum {
		RUNNING,
		TERMINATED,
		KILLED
	} phase;
	bool stopped;
};

static void keep_tail(struct str *out, size_t max)
{
	if (out->len <= max)
		return;
	memmove(out->s, out->s + out->len - max, max + 1);
	out->len = max;
}

/* False at end of file or when nothing is there now. */
static bool read_some(struct session *s)
{
	size_t max = s->spec->max_output ? s->spec->max_output : DEFAULT_MAX_OUTPUT;
	char buf[65536];
	ssize_t n = read(s->out_fd, buf, sizeof(buf));

	if (n < 0 && (errno == EINTR || errno == EAGAIN))
		return errno == EINTR;
	if (n <= 0) {
		close(TAKE_FD(s->out_fd));
		return false;
	}
	str_addn(&s->result->out, buf, (size_t)n);
	if (s->result->out.len > 2 * max + sizeof(buf))
		keep_tail(&s->result->out, max);
	return true;
}

static void escalate(struct session *s)
{
	kill(-s->proc.pid, s->phase == RUNNING ? SIGTERM : SIGKILL);
	s->deadline = s->phase == RUNNING ? clock_mono_s() + GRACE_S : (double)INFINITY;
	s->phase = s->phase == RUNNING ? TERMINATED : KILLED;
}

static void look_at_limits(struct session *s)
{
	bool stop = s->phase == RUNNING && s->spec->stop && *s->spec->stop;

	if (!stop && clock_mono_s() < s->deadline)
		return;
	if (s->phase == RUNNING) {
		s->stopped = stop;
		s->result->timed_out = !stop;
	}
	escalate(s);
}

static int next_wait_ms(const struct session *s)
{
	double left = s->deadline - clock_mono_s();

	if (s->spec->stop && s->phase == RUNNING)
		left = fmin(left, STOP_LOOK_S);
	if (!isfinite(left))
		return -1;
	return (int)ceil(fmax(0, fmin(left, 3600)) * 1000);
}

static void attend(struct session *s)
{
	struct pollfd fds[2] = {{.fd = s->proc.pidfd, .events = POLLIN}, {.events = POLLIN}};

	for (;;) {
		fds[1].fd = s->out_fd;
		if (poll(fds, 2, next_wait_ms(s)) > 0) {
			if (fds[1].revents)
				read_some(s);
			if (fds[0].revents)
				break;
		}
		look_at_limits(s);
	}
	/* A grandchild may hold the pipe open: take what is there, do not wait for its end. */
	while (s->out_fd >= 0 && read_some(s))
		;
}

static void conclude(struct session *s, double started)
{
	struct rusage usage = {0};
	const struct timeval *u = &usage.ru_utime, *k = &usage.ru_stime;
	size_t max = s->spec->max_output ? s->spec->max_output : DEFAULT_MAX_OUTPUT;

	reap(&s->proc, &s->result->status, &usage);
	keep_tail(&s->result->out, max);
	s->result->seconds = clock_mono_s() - started;
	s->result->cpu_s =
		(double)(u->tv_sec + k->tv_sec) + (double)(u->tv_usec + k->tv_usec) / 1e6;
}

static bool open_output(const struct proc_spec *spec, int *read_end, int *write_end,
			struct err *err)
{
	int ends[2];

	if (spec->out_path) {
		*write_end = open_log(spec->out_path, err);
		return *write_end >= 0;
	}
	if (pipe2(ends, O_CLOEXEC) || fcntl(ends[0], F_SETFL, O_NONBLOCK))
		return err_sys(err, "cannot make a pipe");
	*read_end = ends[0];
	*write_end = ends[1];
	return true;
}

static bool verdict(const struct session *s, struct err *err)
{
	if (s->result->timed_out)
		return err_set(err, ERR_TIMEOUT, "%s did not end within %g s", s->spec->argv.v[0],
			       s->spec->timeout_s);
	if (s->stopped)
		return err_set(err, ERR_FAILED, "%s was stopped", s->spec->argv.v[0]);
	return true;
}

bool proc_run(const struct proc_spec *spec, struct proc_result *result, struct err *err)
{
	struct session s = {.spec = spec, .proc = PROC_NONE, .out_fd = -1, .result = result};
	AUTO_CLOSE int write_end = -1;
	double started = clock_mono_s();
	bool ok;

	*result = (struct proc_result){.out = str_new()};
	s.deadline = spec->timeout_s > 0 ? started + spec->timeout_s : (double)INFINITY;
	ok = open_output(spec, &s.out_fd, &write_end, err) && launch(spec, write_end, &s.proc, err);
	if (ok) {
		close(TAKE_FD(write_end));
		attend(&s);
		conclude(&s, started);
		ok = verdict(&s, err);
	}
	mem_close_ptr(&s.out_fd);
	return ok;
}

char *proc_self_dir(void)
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	char *slash;

	if (n <= 0)
		return xstrdup(".");
	path[n] = '\0';
	slash = strrchr(path, '/');
	if (slash)
		slash[slash == path] = '\0';
	return xstrdup(path);
}

char *proc_which(const char *name)
{
	const char *path = getenv("PATH");
	AUTO_STRS dirs = STRS_INIT;

	strs_split(&dirs, path && *path ? path : "/usr/local/bin:/usr/bin:/bin", ":");
	/* A service's PATH often lacks them, and kexec, qemu helpers and mkfs live there. */
	strs_pushl(&dirs, "/usr/local/sbin", "/usr/sbin", "/sbin", (char *)NULL);
	for (size_t i = 0; i < dirs.n; i++) {
		AUTO_FREE char *file = xasprintf("%s/%s", dirs.v[i], name);

		if (!access(file, X_OK))
			return xstrdup(file);
	}
	return NULL;
}

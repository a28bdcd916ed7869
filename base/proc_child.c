// SPDX-License-Identifier: GPL-2.0-or-later
/* Between fork and exec. */
#include "base/proc_child.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/sandbox.h"

#define WATCH_GRACE_S 2

/* What the child needs, made before fork: afterwards only async-signal-safe calls are allowed. */
struct plan {
	const struct proc_spec *spec;
	char *exe;
	struct strs env;
	bool switch_user;
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	int ngroups;
	bool pin;
	cpu_set_t cpus;
	int in_fd;
	int out_fd;
	int err_fd;
	int report_fd;
	pid_t parent;
};

enum step {
	STEP_SETUP,
	STEP_USER,
	STEP_NETWORK,
	STEP_CWD,
	STEP_EXEC
};

/* The child's last words when it could not become the program. */
struct report {
	enum step step;
	int error;
};

static void plan_release(struct plan *plan)
{
	free(plan->exe);
	strs_release(&plan->env);
	free(plan->groups);
	mem_close_ptr(&plan->in_fd);
	mem_close_ptr(&plan->out_fd);
	mem_close_ptr(&plan->err_fd);
	mem_close_ptr(&plan->report_fd);
}

static void env_put(struct strs *env, const char *entry)
{
	size_t n = strcspn(entry, "=") + 1;

	for (size_t i = 0; i < env->n; i++) {
		if (!strncmp(env->v[i], entry, n)) {
			free(env->v[i]);
			env->v[i] = xstrdup(entry);
			return;
		}
	}
	strs_push(env, entry);
}

static void env_putf(struct strs *env, const char *name, const char *value)
{
	AUTO_FREE char *entry = xasprintf("%s=%s", name, value);

	env_put(env, entry);
}

static bool plan_user(struct plan *plan, struct err *err)
{
	const char *name = plan->spec->user;
	struct passwd *pw;

	if (!name || !proc_may_switch())
		return true;
	errno = 0;
	pw = getpwnam(name);
	if (!pw)
		return err_set(err, ERR_FAILED,
			       "no such user \"%s\": run `deploy/setup` or create it", name);
	plan->switch_user = true;
	plan->uid = pw->pw_uid;
	plan->gid = pw->pw_gid;
	env_putf(&plan->env, "HOME", pw->pw_dir);
	env_putf(&plan->env, "USER", name);
	env_putf(&plan->env, "LOGNAME", name);
	plan->ngroups = 0;
	getgrouplist(name, plan->gid, NULL, &plan->ngroups);
	plan->groups = xcalloc((size_t)plan->ngroups, sizeof(*plan->groups));
	if (getgrouplist(name, plan->gid, plan->groups, &plan->ngroups) < 0)
		return err_set(err, ERR_FAILED, "cannot list the groups of user \"%s\"", name);
	return true;
}

bool proc_may_switch(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};
	const unsigned wanted = 1U << CAP_SETUID | 1U << CAP_SETGID;

	return !syscall(SYS_capget, &header, data) && (data[0].effective & wanted) == wanted;
}

static void plan_env(struct plan *plan)
{
	extern char **environ;

	for (char **e = environ; !plan->spec->env_clear && e && *e; e++)
		strs_push(&plan->env, *e);
}

static bool cpu_range(const char *text, cpu_set_t *set)
{
	AUTO_FREE char *copy = xstrdup(text);
	char *dash = strchr(copy, '-');
	long long first, last;

	if (dash)
		*dash = '\0';
	if (!str_to_i64(copy, &first))
		return false;
	last = first;
	if (dash && !str_to_i64(dash + 1, &last))
		return false;
	if (first < 0 || last < first || last >= CPU_SETSIZE)
		return false;
	for (long long cpu = first; cpu <= last; cpu++)
		CPU_SET((size_t)cpu, set);
	return true;
}

static bool plan_cpus(struct plan *plan, struct err *err)
{
	AUTO_STRS ranges = STRS_INIT;
	bool ok = true;

	if (!plan->spec->cpus)
		return true;
	CPU_ZERO(&plan->cpus);
	strs_split(&ranges, plan->spec->cpus, ", ");
	for (size_t i = 0; i < ranges.n; i++)
		ok = ok && cpu_range(ranges.v[i], &plan->cpus);
	plan->pin = ok && ranges.n > 0;
	if (plan->pin)
		return true;
	return err_set(err, ERR_USAGE, "\"%s\" is not a list of CPUs such as 0-3,8",
		       plan->spec->cpus);
}

static bool plan_stdin(struct plan *plan, struct err *err)
{
	const char *text = plan->spec->stdin_text;
	size_t n = text ? strlen(text) : 0;

	if (plan->spec->stdio_fd > 0) {
		plan->in_fd = fcntl(plan->spec->stdio_fd, F_DUPFD_CLOEXEC, 0);
		return plan->in_fd >= 0 || err_sys(err, "cannot prepare input");
	}
	if (!text) {
		plan->in_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		return plan->in_fd >= 0 || err_sys(err, "cannot open /dev/null");
	}
	/* Not a pipe: nobody has to feed it, and a child that does not read cannot block us. */
	plan->in_fd = memfd_create("stdin", MFD_CLOEXEC);
	if (plan->in_fd < 0 || write(plan->in_fd, text, n) != (ssize_t)n ||
	    lseek(plan->in_fd, 0, SEEK_SET))
		return err_sys(err, "cannot prepare input");
	return true;
}

static char *find_exe(const struct plan *plan)
{
	const char *name = plan->spec->argv.v[0];

	return strchr(name, '/') ? xstrdup(name) : proc_which(name);
}

static bool plan_make(struct plan *plan, struct err *err)
{
	const struct proc_spec *spec = plan->spec;

	if (!spec->argv.n)
		return err_set(err, ERR_FAILED, "no program given");
	plan->exe = find_exe(plan);
	if (!plan->exe)
		return err_set(err, ERR_FAILED, "%s is not installed (not found in PATH)",
			       spec->argv.v[0]);
	plan_env(plan);
	if (!plan_user(plan, err) || !plan_cpus(plan, err) || !plan_stdin(plan, err))
		return false;
	for (size_t i = 0; i < spec->env.n; i++)
		env_put(&plan->env, spec->env.v[i]);
	plan->parent = getpid();
	return true;
}

static void __attribute__((noreturn)) die(const struct plan *plan, enum step step)
{
	struct report report = {step, errno};
	ssize_t ignored _unused = write(plan->report_fd, &report, sizeof(report));

	_exit(127);
}

/* Above the three standard ones and 3, so that dup2() below cannot overwrite a source. */
static int lift(int fd)
{
	return fcntl(fd, F_DUPFD_CLOEXEC, 10);
}

static bool wire(struct plan *plan)
{
	int in = lift(plan->in_fd);
	int out = plan->out_fd < 0 ? -1 : lift(plan->out_fd);
	int apart = plan->err_fd < 0 ? -1 : lift(plan->err_fd);
	int pass = plan->spec->pass_fd > 0 ? lift(plan->spec->pass_fd) : -1;
	int report = lift(plan->report_fd);

	if (report < 0)
		return false;
	plan->report_fd = report;
	if (in < 0 || dup2(in, 0) < 0)
		return false;
	if (plan->out_fd >= 0 && (out < 0 || dup2(out, 1) < 0 || dup2(out, 2) < 0))
		return false;
	if (plan->err_fd >= 0 && (apart < 0 || dup2(apart, 2) < 0))
		return false;
	if (plan->spec->pass_fd > 0 && (pass < 0 || dup2(pass, 3) < 0))
		return false;
	return !close_range(pass < 0 ? 3 : 4, ~0U, CLOSE_RANGE_CLOEXEC);
}

static void reset_signals(void)
{
	struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int sig = 1; sig < NSIG; sig++)
		sigaction(sig, &plain, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static bool become_user(const struct plan *plan)
{
	if (!plan->switch_user)
		return true;
	return !setgroups((size_t)plan->ngroups, plan->groups) &&
	       !setresgid(plan->gid, plan->gid, plan->gid) &&
	       !setresuid(plan->uid, plan->uid, plan->uid);
}

static void settle(const struct plan *plan)
{
	if (plan->pin && sched_setaffinity(0, sizeof(plan->cpus), &plan->cpus))
		die(plan, STEP_SETUP);
	errno = 0;
	if (plan->spec->nice && nice(plan->spec->nice) == -1 && errno)
		die(plan, STEP_SETUP);
	/* An empty network besides the filter below, where that is allowed. */
	if (plan->spec->no_network && unshare(CLONE_NEWNET))
		errno = 0;
	if ((!plan->spec->keep_rights && !sandbox_drop_rights()) || !become_user(plan))
		die(plan, STEP_USER);
	if (plan->spec->no_network && !sandbox_cut_network())
		die(plan, STEP_NETWORK);
	/* Changing the user clears it, so it comes last; the parent may be gone already. */
	if (prctl(PR_SET_PDEATHSIG, SIGTERM) || getppid() != plan->parent)
		die(plan, STEP_SETUP);
	if (plan->spec->cwd && chdir(plan->spec->cwd))
		die(plan, STEP_CWD);
}

static void __attribute__((noreturn)) child_main(struct plan *plan)
{
	char *no_env[] = {NULL};

	setpgid(0, 0);
	reset_signals();
	if (!wire(plan))
		die(plan, STEP_SETUP);
	settle(plan);
	execve(plan->exe, plan->spec->argv.v, plan->env.n ? plan->env.v : no_env);
	die(plan, STEP_EXEC);
}

static bool told(const struct plan *plan, const struct report *report, struct err *err)
{
	errno = report->error;
	switch (report->step) {
	case STEP_SETUP:
		return err_sys(err, "cannot set up a child process for %s", plan->exe);
	case STEP_USER:
		return err_sys(err, "cannot become user \"%s\"", plan->spec->user);
	case STEP_NETWORK:
		return err_sys(
			err,
			"cannot take the network away from %s (a kernel with seccomp filters "
			"is needed)",
			plan->exe);
	case STEP_CWD:
		return err_sys(err, "cannot enter directory %s", plan->spec->cwd);
	case STEP_EXEC:
		break;
	}
	return err_sys(err, "cannot run %s", plan->exe);
}

static bool await_exec(const struct plan *plan, int report_fd, pid_t pid, struct err *err)
{
	struct report report;
	ssize_t n;

	do
		n = read(report_fd, &report, sizeof(report));
	while (n < 0 && errno == EINTR);
	if (n == 0)
		return true;
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (n != sizeof(report))
		return err_set(err, ERR_FAILED, "cannot tell whether %s was started", plan->exe);
	return told(plan, &report, err);
}

/* fork() with every signal blocked, so that no handler of ours runs in the child. */
static pid_t quiet_fork(void)
{
	sigset_t all, old;
	pid_t pid;
	int saved;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pid = fork();
	saved = errno;
	if (pid != 0)
		pthread_sigmask(SIG_SETMASK, &old, NULL);
	errno = saved;
	return pid;
}

bool child_launch(const struct proc_spec *spec, int out_fd, int err_fd, pid_t *pid, struct err *err)
{
	CLEANUP(plan_release)
	struct plan plan = {.spec = spec, .in_fd = -1, .out_fd = -1, .err_fd = -1, .report_fd = -1};
	AUTO_CLOSE int report_fd = -1;
	int ends[2];
	pid_t child;

	if (!plan_make(&plan, err))
		return false;
	if (spec->stdio_fd > 0)
		out_fd = spec->stdio_fd;
	if (out_fd >= 0 && (plan.out_fd = fcntl(out_fd, F_DUPFD_CLOEXEC, 0)) < 0)
		return err_sys(err, "cannot start %s", plan.exe);
	if (err_fd >= 0 && (plan.err_fd = fcntl(err_fd, F_DUPFD_CLOEXEC, 0)) < 0)
		return err_sys(err, "cannot start %s", plan.exe);
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, "cannot start %s", plan.exe);
	report_fd = ends[0];
	plan.report_fd = ends[1];
	child = quiet_fork();
	if (child < 0)
		return err_sys(err, "cannot start %s", plan.exe);
	if (child == 0)
		child_main(&plan);
	setpgid(child, child);
	close(TAKE_FD(plan.report_fd));
	if (!await_exec(&plan, report_fd, child, err))
		return false;
	*pid = child;
	return true;
}

static void __attribute__((noreturn)) watch_main(pid_t group, int parent_fd)
{
	struct timespec grace = {.tv_sec = WATCH_GRACE_S};
	struct pollfd parent = {.events = POLLIN};

	setpgid(0, group);
	parent.fd = dup2(parent_fd, 0);
	close_range(1, ~0U, 0);
	prctl(PR_SET_NAME, "mmperf-watch");
	while (poll(&parent, 1, -1) < 0 && errno == EINTR)
		;
	kill(-group, SIGTERM);
	nanosleep(&grace, NULL);
	kill(-group, SIGKILL);
	_exit(0);
}

bool child_watch(pid_t pid, pid_t *watcher, struct err *err)
{
	AUTO_CLOSE int parent_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	pid_t child;

	if (parent_fd < 0)
		return err_sys(err,
			       "cannot watch over child processes (Linux 5.3 or later is needed)");
	child = quiet_fork();
	if (child < 0)
		return err_sys(err, "cannot watch over a child process");
	if (child == 0)
		watch_main(pid, parent_fd);
	setpgid(child, pid);
	*watcher = child;
	return true;
}

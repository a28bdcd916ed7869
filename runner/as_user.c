// SPDX-License-Identifier: GPL-2.0-or-later
/* Becoming the build user. */
#include "runner/as_user.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOOK_MS 500

bool as_user_ids(const struct settings *settings, const char **name, uid_t *uid, gid_t *gid,
		 struct err *err)
{
	const char *user = conf_str(settings->conf, "build", NULL, "user");
	const struct passwd *pw;

	*name = NULL;
	*uid = geteuid();
	*gid = getegid();
	if (!proc_may_switch())
		return true;
	pw = getpwnam(user);
	if (!pw)
		return err_set(
			err, ERR_FAILED,
			"there is no user \"%s\" to build as: run deploy/setup, or name another "
			"with [build] user",
			user);
	*name = user;
	*uid = pw->pw_uid;
	*gid = pw->pw_gid;
	return true;
}

/* Keeps the right to read, if we have it (the repository may be ours alone), and gives up all others. */
static bool become(uid_t uid, gid_t gid)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {0};

	if (prctl(PR_SET_KEEPCAPS, 1) || setgroups(1, &gid) || setresgid(gid, gid, gid) ||
	    setresuid(uid, uid, uid) || syscall(SYS_capget, &header, data))
		return false;
	data[0].permitted &= 1U << CAP_DAC_READ_SEARCH;
	data[0].effective = data[0].permitted;
	data[0].inheritable = data[1].effective = data[1].permitted = data[1].inheritable = 0;
	return !syscall(SYS_capset, &header, data);
}

bool as_user_give(const char *path, const char *user, uid_t uid, gid_t gid, struct err *err)
{
	struct stat st;

	if (!user)
		return true;
	if (lstat(path, &st))
		return err_sys(err, "cannot look at %s", path);
	if (st.st_uid == uid || (st.st_gid == gid && (st.st_mode & S_IWGRP)))
		return true;
	if (!lchown(path, uid, gid) || (!lchown(path, (uid_t)-1, gid) && !chmod(path, 0775)))
		return true;
	return err_sys(err, "cannot give %s to user %s (is our user in its group?)", path, user);
}

struct call {
	bool (*fn)(void *arg, struct err *err);
	void *arg;
	const char *user; /* NULL: stay */
	uid_t uid;
	gid_t gid;
};

static void __attribute__((noreturn)) child_main(const struct call *call, int report_fd)
{
	struct err err = {0};
	bool ok;
	ssize_t ignored _unused;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, SIG_DFL);
	ok = !call->user || become(call->uid, call->gid) ||
	     err_sys(&err, "cannot become user \"%s\"", call->user);
	if (ok && call->fn(call->arg, &err))
		err.kind = ERR_NONE;
	ignored = write(report_fd, &err, sizeof(err));
	_exit(0);
}

static bool await(struct worker *w, int fd, struct err *err)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	struct err told;
	ssize_t n;

	while (poll(&p, 1, LOOK_MS) <= 0)
		if (w && !worker_tick(w, err))
			return false;
	do
		n = read(fd, &told, sizeof(told));
	while (n < 0 && errno == EINTR);
	if (n != sizeof(told))
		return err_set(err, ERR_FAILED, "a child process died without a word");
	if (told.kind == ERR_NONE)
		return true;
	*err = told;
	return false;
}

bool as_user_call(struct worker *w, const struct settings *settings,
		  bool (*fn)(void *arg, struct err *err), void *arg, struct err *err)
{
	struct call call = {.fn = fn, .arg = arg};
	AUTO_CLOSE int report_fd = -1;
	int ends[2];
	pid_t pid;
	bool ok;

	if (!as_user_ids(settings, &call.user, &call.uid, &call.gid, err))
		return false;
	if (pipe2(ends, O_CLOEXEC))
		return err_sys(err, "cannot make a pipe");
	report_fd = ends[0];
	pid = fork();
	if (pid == 0)
		child_main(&call, ends[1]);
	close(ends[1]);
	if (pid < 0)
		return err_sys(err, "cannot start a child process");
	ok = await(w, report_fd, err);
	if (!ok)
		kill(pid, SIGKILL);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	return ok;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Process 1. */
#include "bench/agent_init.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

#define PORTS	"/sys/class/virtio-ports"
#define PREPARE "/prepare"

struct fs_to_mount {
	const char *type, *path, *device, *options;
	bool optional; /* kernels without it are fine */
};

static const struct fs_to_mount mounts[] = {
	{"proc", "/proc", "proc", NULL, false},
	{"sysfs", "/sys", "sysfs", NULL, false},
	{"devtmpfs", "/dev", "devtmpfs", NULL, false},
	{"tmpfs", "/tmp", "tmpfs", "mode=1777", false},
	{"cgroup2", "/sys/fs/cgroup", "cgroup2", NULL, true},
	{"debugfs", "/sys/kernel/debug", "debugfs", NULL, true},
	{"tracefs", "/sys/kernel/tracing", "tracefs", NULL, true},
	{"ext4", "/data", "/dev/vda", NULL, true},
};

static void open_console(void)
{
	int fd = open("/dev/console", O_RDWR | O_NOCTTY);

	if (fd < 0)
		fd = open("/dev/null", O_RDWR);
	for (int i = 0; i < 3 && fd >= 0; i++) {
		if (i != fd)
			dup2(fd, i);
	}
	if (fd > 2)
		close(fd);
}

void init_mount_all(bool our_disk)
{
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(mounts); i++) {
		const struct fs_to_mount *m = &mounts[i];

		if (m->device[0] == '/' && (!our_disk || !fs_exists(m->device)))
			continue;
		if (!fs_mkdirs(m->path, 0755, &err) && !m->optional)
			fprintf(stderr, "agent: %s\n", err.msg);
		if (mount(m->device, m->path, m->type, 0, m->options) && errno != EBUSY &&
		    !m->optional)
			fprintf(stderr, "agent: cannot mount %s on %s: %s\n", m->type, m->path,
				strerror(errno));
		if (!strcmp(m->type, "devtmpfs"))
			open_console();
	}
}

struct program {
	char *const *argv, *const *env;
};

static int execute(void *arg)
{
	const struct program *program = arg;

	execve(program->argv[0], program->argv, program->env);
	fprintf(stderr, "agent: cannot run %s: %s\n", program->argv[0], strerror(errno));
	return 127;
}

void init_prepare(void)
{
	static char *const argv[] = {PREPARE, NULL};
	static char *const env[] = {"PATH=/usr/sbin:/usr/bin:/sbin:/bin", NULL};
	int status;

	if (access(PREPARE, X_OK))
		return;
	status = init_run(execute, &(struct program){argv, env});
	if (!WIFEXITED(status) || WEXITSTATUS(status))
		fprintf(stderr, "agent: " PREPARE " failed (status %d)\n",
			WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

static char *find_port(const char *name)
{
	DIR *dir = opendir(PORTS);
	const struct dirent *entry;
	char *path = NULL;

	while (dir && !path && (entry = readdir(dir))) {
		AUTO_FREE char *file = xasprintf(PORTS "/%s/name", entry->d_name);
		AUTO_STR text = str_new();
		struct err err;

		if (entry->d_name[0] != '.' && fs_read(file, 4096, &text, &err) &&
		    !strcmp(str_trim(text.s), name))
			path = xasprintf("/dev/%s", entry->d_name);
	}
	if (dir)
		closedir(dir);
	return path;
}

bool init_open_port(const char *name, double timeout_s, int *fd, struct err *err)
{
	double deadline = clock_mono_s() + timeout_s;

	for (;;) {
		AUTO_FREE char *path = find_port(name);
		int port = path ? open(path, O_WRONLY | O_CLOEXEC) : -1;

		if (port >= 0) {
			*fd = port;
			return true;
		}
		if (clock_mono_s() >= deadline)
			return path ? err_sys(err, "cannot open %s", path)
				    : err_set(err, ERR_NOTFOUND,
					      "no virtio port \"%s\" (virtserialport,name=%s; "
					      "CONFIG_VIRTIO_CONSOLE)",
					      name, name);
		clock_sleep_s(0.01);
	}
}

int init_run(int (*work)(void *arg), void *arg)
{
	pid_t child = fork();
	int status = 0;

	if (child < 0)
		return W_EXITCODE(1, 0);
	if (!child)
		_exit(work(arg));
	for (;;) {
		int one;
		pid_t pid = wait(&one);

		if (pid == child)
			status = one;
		if (pid == child || (pid < 0 && errno != EINTR))
			return status;
	}
}

void init_end(bool restart)
{
	sync();
	reboot(restart ? RB_AUTOBOOT : RB_POWER_OFF);
	/* A machine that cannot: a halt, so that the driver sees silence and not a panic. */
	reboot(RB_HALT_SYSTEM);
	for (;;)
		pause();
}

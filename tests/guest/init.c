// SPDX-License-Identifier: GPL-2.0-or-later
/* Process 1 of a test guest: mounts, runs what the kernel's command line says behind --, powers off. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void mount_at(const char *type, const char *path)
{
	mkdir(path, 0755);
	mount(type, path, type, 0, NULL);
}

int main(int argc, char **argv)
{
	int status = -1;
	pid_t pid;

	mount_at("proc", "/proc");
	mount_at("sysfs", "/sys");
	mount_at("devtmpfs", "/dev");
	mount_at("debugfs", "/sys/kernel/debug");
	mount_at("tracefs", "/sys/kernel/tracing");
	mount_at("cgroup2", "/sys/fs/cgroup");
	mount_at("tmpfs", "/tmp");
	mount_at("tmpfs", "/run");
	setenv("PATH", "/bin", 1);
	pid = fork();
	if (!pid) {
		execvp(argc > 1 ? argv[1] : "", argv + 1);
		perror(argc > 1 ? argv[1] : "no command");
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("guest: status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : 128);
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 1;
}

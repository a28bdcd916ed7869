// SPDX-License-Identifier: GPL-2.0-or-later
/* Process 1 of a test guest: mounts, runs the commands of /command (a word a line, ";" between two), powers off. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void mount_on(const char *what, const char *type, const char *path)
{
	mkdir(path, 0755);
	mount(what, path, type, 0, NULL);
}

static void mount_at(const char *type, const char *path)
{
	mount_on(type, type, path);
}

/* The words, NULL behind the last one. */
static void read_command(char **words, size_t most)
{
	static char text[4096];
	FILE *file = fopen("/command", "r");
	size_t n = 0;
	char *line;

	if (file)
		text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	for (line = strtok(text, "\n"); line && n + 1 < most; line = strtok(NULL, "\n"))
		words[n++] = line;
	words[n] = NULL;
}

/* Exit status of one command. */
static int run(char **words)
{
	int status = -1;
	pid_t pid = fork();

	if (!pid) {
		execvp(words[0] ? words[0] : "", words);
		perror(words[0] ? words[0] : "no command");
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* All of them; the status of the first that failed. */
static int run_all(char **words)
{
	int status = 0;

	while (*words) {
		char **begin = words;
		int one;

		while (*words && strcmp(*words, ";") != 0)
			words++;
		if (*words)
			*words++ = NULL;
		one = run(begin);
		status = status ? status : one;
	}
	return status;
}

int main(void)
{
	char *words[256];

	mount_at("proc", "/proc");
	mount_at("sysfs", "/sys");
	mount_at("devtmpfs", "/dev");
	mount_at("debugfs", "/sys/kernel/debug");
	mount_at("tracefs", "/sys/kernel/tracing");
	mount_at("cgroup2", "/sys/fs/cgroup");
	mount_at("tmpfs", "/tmp");
	mount_at("tmpfs", "/run");
	mount_on("/dev/vda", "ext4", "/data");
	read_command(words, sizeof(words) / sizeof(words[0]));
	setenv("PATH", "/bin", 1);
	printf("guest: status %d\n", run_all(words));
	fflush(stdout);
	reboot(RB_POWER_OFF);
	return 1;
}

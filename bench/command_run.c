// SPDX-License-Identifier: GPL-2.0-or-later
/* A child to watch. */
#include "bench/command_run.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

bool command_run(const char *who, char *const *argv, int *status, struct err *err)
{
	pid_t pid = fork();
	int ended;

	if (pid < 0)
		return err_sys(err, "cannot fork");
	if (!pid) {
		execvp(argv[0], argv);
		fprintf(stderr, "%s: cannot execute %s: %s\n", who, argv[0], strerror(errno));
		_exit(127);
	}
	/* What was seen until then is still told. */
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	while (waitpid(pid, &ended, 0) < 0) {
		if (errno != EINTR)
			return err_sys(err, "waitpid");
	}
	*status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
	return true;
}

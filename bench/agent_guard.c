// SPDX-License-Identifier: GPL-2.0-or-later
/* Watchdog and deadline. */
#include "bench/agent_guard.h"

#include <fcntl.h>
#include <linux/watchdog.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

#define DEVICE	"/dev/watchdog"
#define FEED_S	1.0
#define SYSRQ_S 1.0 /* sync and remount take their time, on a machine that may not have it */

static volatile sig_atomic_t told_to_stop;

static void take_signal(int signo _unused)
{
	told_to_stop = 1;
}

/* A letter that no driver takes for anything keeps it fed; V lets it be stopped. */
static void feed(int fd, char letter)
{
	if (fd >= 0 && write(fd, &letter, 1) != 1)
		return; /* it will bite, which is what it is for */
}

/* Returns when that did not help, once it is told to stop. Until then the watchdog gets nothing. */
static void restart_machine(const char *sysrq)
{
	static const char *const keys[] = {"s", "u", "b"};
	struct err ignored;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!fs_poke(sysrq, keys[i], &ignored))
			continue;
		clock_sleep_s(SYSRQ_S);
	}
	while (!told_to_stop)
		clock_sleep_s(FEED_S);
}

static _Noreturn void guard_main(int fd, double deadman_s, const char *sysrq)
{
	double end = deadman_s > 0 ? clock_mono_s() + deadman_s : (double)INFINITY;

	signal(SIGTERM, take_signal);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	while (!told_to_stop && getppid() != 1) {
		if (clock_mono_s() > end)
			restart_machine(sysrq);
		feed(fd, '\0');
		clock_sleep_s(FEED_S);
	}
	feed(fd, 'V');
	_exit(0);
}

static int open_watchdog(int seconds, char **note)
{
	struct watchdog_info info = {0};
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC), wanted = seconds;

	if (fd < 0) {
		struct err err;

		err_sys(&err, "no watchdog: " DEVICE);
		*note = xstrdup(err.msg);
		return -1;
	}
	ioctl(fd, WDIOC_GETSUPPORT, &info);
	/* Not every driver's timer can be set; what it says then is what counts. */
	if (ioctl(fd, WDIOC_SETTIMEOUT, &wanted) && ioctl(fd, WDIOC_GETTIMEOUT, &wanted))
		wanted = 0;
	*note = xasprintf("watchdog %.32s of %d s", (const char *)info.identity, wanted);
	return fd;
}

static char *tell_deadline(double deadman_s, const char *sysrq)
{
	if (deadman_s <= 0)
		return xstrdup("no deadline");
	return xasprintf("deadline %.0f s%s", deadman_s,
			 fs_exists(sysrq) ? ""
					  : ", which cannot restart it: no CONFIG_MAGIC_SYSRQ");
}

void guard_start(struct guard *guard, int watchdog_s, double deadman_s, const char *sysrq,
		 char **note)
{
	AUTO_FREE char *dog = NULL, *deadline = tell_deadline(deadman_s, sysrq);
	int fd = -1;

	*guard = (struct guard){0};
	if (watchdog_s > 0)
		fd = open_watchdog(watchdog_s, &dog);
	*note = xasprintf("%s, %s", dog ? dog : "no watchdog", deadline);
	if (fd < 0 && deadman_s <= 0)
		return;
	guard->pid = fork();
	if (!guard->pid)
		guard_main(fd, deadman_s, sysrq);
	if (guard->pid < 0)
		guard->pid = 0;
	/* Closed without the letter V it would go on to bite: the child's copy keeps it open. */
	if (fd >= 0)
		close(fd);
}

void guard_stop(struct guard *guard)
{
	if (!guard->pid)
		return;
	kill(guard->pid, SIGTERM);
	waitpid(guard->pid, NULL, 0);
	guard->pid = 0;
}

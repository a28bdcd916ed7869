// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel threads. */
#include "bench/kthread.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

#define QUIET_S 0.05

/* The first number of /proc/PID/schedstat is the time on a CPU in ns. */
static double from_schedstat(const char *pid)
{
	AUTO_FREE char *path = xasprintf("/proc/%s/schedstat", pid);
	AUTO_STR text = str_new();
	struct err ignored;

	return fs_read(path, 4096, &text, &ignored) ? strtod(text.s, NULL) : -1;
}

/* Fields 14 and 15 of proc(5), ticks; what is behind the name begins with field 3. */
static double from_stat(const char *behind_name)
{
	AUTO_STRS fields = STRS_INIT;

	strs_split(&fields, behind_name, " ");
	if (fields.n <= 12)
		return -1;
	return (strtod(fields.v[11], NULL) + strtod(fields.v[12], NULL)) * 1e9 /
	       (double)sysconf(_SC_CLK_TCK);
}

/* < 0 when it is not of that name. *busy is set, never cleared: it runs, or waits in the middle of its work. */
static double cpu_of(const char *pid, const char *name, bool *busy)
{
	AUTO_FREE char *path = xasprintf("/proc/%s/stat", pid);
	AUTO_FREE char *wanted = xasprintf("(%s", name);
	AUTO_STR text = str_new();
	struct err ignored;
	const char *open, *close;
	double ns;

	if (!fs_read(path, 4096, &text, &ignored))
		return -1;
	open = strchr(text.s, '(');
	close = strrchr(text.s, ')');
	if (!open || !close || !str_starts(open, wanted))
		return -1;
	/* ") S ..."; I is an idle worker's sleep. */
	*busy |= close[1] && !strchr("SI", close[2]);
	ns = from_schedstat(pid);
	return ns > 0 ? ns : from_stat(close + 1);
}

static double look(const char *name, bool *busy)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	double sum = -1;

	while (dir && (entry = readdir(dir))) {
		double ns;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		ns = cpu_of(entry->d_name, name, busy);
		if (ns >= 0)
			sum = ns + (sum < 0 ? 0 : sum);
	}
	if (dir)
		closedir(dir);
	return sum;
}

double kthread_cpu_ns(const char *name)
{
	bool ignored = false;

	return look(name, &ignored);
}

bool kthread_await_rest(const char *name, double timeout_s)
{
	double end_s = clock_mono_s() + timeout_s, quiet_s = clock_mono_s(), last_ns = -1;

	for (;;) {
		bool busy = false;
		double ns = look(name, &busy), now_s = clock_mono_s();

		if (ns < 0)
			return true;
		if (busy || ns > last_ns)
			quiet_s = now_s;
		if (now_s - quiet_s >= QUIET_S)
			return true;
		if (now_s >= end_s)
			return false;
		last_ns = ns;
		clock_sleep_s(QUIET_S / 5);
	}
}

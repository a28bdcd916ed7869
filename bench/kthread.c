// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel threads. */
#include "bench/kthread.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

#define QUIET_S	      0.05
#define KERNEL_THREAD 0x00200000ull /* PF_KTHREAD, include/linux/sched.h */

/* The first number of /proc/PID/schedstat is the time on a CPU in ns. */
static double from_schedstat(const char *pid)
{
	AUTO_FREE char *path = xasprintf("/proc/%s/schedstat", pid);
	AUTO_STR text = str_new();
	struct err ignored;

	return fs_read(path, 4096, &text, &ignored) ? strtod(text.s, NULL) : -1;
}

/* The fields of /proc/PID/stat behind the name, which is field 2: FIELD(14) is field 14 of proc(5). False
 * when the process is gone, or is no kernel thread whose name begins so: programs may have any name, and
 * the benchmark of khugepaged has khugepaged's. */
#define FIELD(n) ((n)-3)
static bool read_stat(const char *pid, const char *name, struct strs *fields)
{
	AUTO_FREE char *path = xasprintf("/proc/%s/stat", pid);
	AUTO_FREE char *wanted = xasprintf("(%s", name);
	AUTO_STR text = str_new();
	struct err ignored;
	const char *open, *close;

	if (!fs_read(path, 4096, &text, &ignored))
		return false;
	open = strchr(text.s, '(');
	close = strrchr(text.s, ')');
	if (!open || !close || !str_starts(open, wanted))
		return false;
	strs_split(fields, close + 1, " \n");
	return fields->n > FIELD(15) && (strtoull(fields->v[FIELD(9)], NULL, 10) & KERNEL_THREAD);
}

/* User and system time, in ticks. */
static double from_stat(const struct strs *fields)
{
	return (strtod(fields->v[FIELD(14)], NULL) + strtod(fields->v[FIELD(15)], NULL)) * 1e9 /
	       (double)sysconf(_SC_CLK_TCK);
}

/* < 0 when it is not one of those. *busy is set, never cleared: it runs, or waits in the middle of its
 * work. */
static double cpu_of(const char *pid, const char *name, bool *busy)
{
	AUTO_STRS fields = STRS_INIT;
	double ns;

	if (!read_stat(pid, name, &fields))
		return -1;
	/* I is an idle worker's sleep. */
	*busy |= !strchr("SI", fields.v[FIELD(3)][0]);
	ns = from_schedstat(pid);
	return ns > 0 ? ns : from_stat(&fields);
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

bool kthread_is(const char *pid)
{
	AUTO_STRS fields = STRS_INIT;

	return read_stat(pid, "", &fields);
}

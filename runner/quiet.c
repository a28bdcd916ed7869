// SPDX-License-Identifier: GPL-2.0-or-later
/* Disturbance by others. */
#include "runner/quiet.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

static bool is_listed(const char *cpus, long cpu)
{
	const char *p = cpus;
	char *end;

	while (p && *p) {
		long first = strtol(p, &end, 10), last = first;

		if (end == p)
			return false;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		p = *end == ',' ? end + 1 : end;
	}
	return !cpus;
}

/* user nice system idle iowait irq softirq steal; guest time is part of user already. */
static double busy_ticks(const char *fields)
{
	unsigned long long v[8] = {0};

	if (sscanf(fields, "%llu %llu %llu %llu %llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3],
		   &v[4], &v[5], &v[6], &v[7]) != 8)
		return 0;
	return (double)(v[0] + v[1] + v[2] + v[5] + v[6] + v[7]);
}

double quiet_busy(const char *stat, const char *cpus, double ticks_per_s, int *n)
{
	double sum = 0;

	*n = 0;
	for (const char *line = stat; line; line = strchr(line, '\n')) {
		char *fields;
		long cpu;

		line += *line == '\n';
		if (!str_starts(line, "cpu"))
			break;
		cpu = strtol(line + 3, &fields, 10);
		if (fields == line + 3 || line[3] == ' ' || !is_listed(cpus, cpu))
			continue; /* the line of all CPUs, or one that does not count */
		sum += busy_ticks(fields);
		(*n)++;
	}
	return sum / ticks_per_s;
}

static bool read_busy(const char *cpus, double *busy_s, int *n)
{
	AUTO_STR text = str_new();
	struct err err;

	if (!fs_read("/proc/stat", 1 << 20, &text, &err))
		return false;
	*busy_s = quiet_busy(text.s, cpus, (double)sysconf(_SC_CLK_TCK), n);
	return *n > 0;
}

bool quiet_begin(struct quiet *quiet, const char *cpus)
{
	int n;

	*quiet = (struct quiet){.cpus = cpus, .at_s = clock_mono_s()};
	if (read_busy(cpus, &quiet->busy_s, &n))
		return true;
	quiet->at_s = 0;
	return false;
}

/* utime and stime, fields 14 and 15; the name in field 2 may hold blanks and brackets. */
static bool read_process(pid_t pid, double *cpu_s)
{
	AUTO_FREE char *path = xasprintf("/proc/%d/stat", (int)pid);
	unsigned long long user, system;
	AUTO_STR text = str_new();
	const char *after;
	struct err err;

	if (!fs_read(path, 65536, &text, &err))
		return false;
	after = strrchr(text.s, ')');
	if (!after || sscanf(after + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
			     &user, &system) != 2)
		return false;
	*cpu_s = (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
	return true;
}

double quiet_share(const struct quiet *quiet, pid_t pid)
{
	double busy_s, own_s, wall_s = clock_mono_s() - quiet->at_s, share;
	int n;

	if (!(quiet->at_s > 0) || wall_s < 0.5 || !read_process(pid, &own_s) ||
	    !read_busy(quiet->cpus, &busy_s, &n))
		return -1;
	share = (busy_s - quiet->busy_s - own_s) / (n * wall_s);
	return share < 0 ? 0 : share;
}

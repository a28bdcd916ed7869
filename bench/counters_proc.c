// SPDX-License-Identifier: GPL-2.0-or-later
/* Pressure, and the time of the kernel's own threads. */
#include "bench/counters.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "bench/kthread.h"

#define PROC_MAX ((size_t)1 << 16)

bool counters_parse_pressure(struct counters *counters, const char *resource, const char *text)
{
	AUTO_STRS lines = STRS_INIT;

	strs_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		char *line = lines.v[i];
		const char *total = strstr(line, " total=");
		long long us;

		if (!total || !str_to_i64(total + strlen(" total="), &us))
			return false;
		line[strcspn(line, " ")] = '\0';
		counters_add(counters, xasprintf("psi.%s.%s_us", resource, line), us);
	}
	return true;
}

static void add_pressure(struct counters *counters)
{
	static const char *const resources[] = {"cpu", "io", "memory"};
	struct err err;

	for (size_t i = 0; i < ARRAY_SIZE(resources); i++) {
		AUTO_FREE char *path = xasprintf("/proc/pressure/%s", resources[i]);
		AUTO_STR text = str_new();

		if (fs_read(path, PROC_MAX, &text, &err))
			(void)!counters_parse_pressure(counters, resources[i], text.s);
	}
}

/* Some have one thread for each node, with the node's number behind. */
static bool is_watched(const char *name)
{
	static const char *const prefixes[] = {"khugepaged", "kcompactd", "kswapd", "ksmd"};

	for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++) {
		size_t n = strlen(prefixes[i]);

		if (str_starts(name, prefixes[i]) &&
		    strspn(name + n, "0123456789") == strlen(name + n))
			return true;
	}
	return false;
}

bool counters_parse_schedstat(struct counters *counters, const char *name, const char *text)
{
	static const char *const what[] = {"run_ns", "wait_ns", "slices"};
	AUTO_STRS fields = STRS_INIT;
	long long value[ARRAY_SIZE(what)];

	strs_split(&fields, text, " \n");
	if (fields.n < ARRAY_SIZE(what))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(what); i++) {
		if (!str_to_i64(fields.v[i], &value[i]))
			return false;
	}
	for (size_t i = 0; i < ARRAY_SIZE(what); i++)
		counters_add(counters, xasprintf("task.%s.%s", name, what[i]), value[i]);
	return true;
}

/* Without CONFIG_SCHED_INFO: user and system time, in ticks (fields 14 and 15). */
static void add_stat(struct counters *counters, const char *pid, const char *name)
{
	AUTO_FREE char *path = xasprintf("/proc/%s/stat", pid);
	AUTO_STR text = str_new();
	AUTO_STRS fields = STRS_INIT;
	const char *rest;
	long long user, system;
	struct err err;

	rest = fs_read(path, PROC_MAX, &text, &err) ? strrchr(text.s, ')') : NULL;
	if (!rest)
		return;
	strs_split(&fields, rest + 1, " \n");
	if (fields.n > 12 && str_to_i64(fields.v[11], &user) && str_to_i64(fields.v[12], &system))
		counters_add(counters, xasprintf("task.%s.run_ns", name),
			     (user + system) * (1000000000 / sysconf(_SC_CLK_TCK)));
}

static void add_task(struct counters *counters, const char *pid)
{
	AUTO_FREE char *comm = xasprintf("/proc/%s/comm", pid);
	AUTO_FREE char *schedstat = xasprintf("/proc/%s/schedstat", pid);
	AUTO_STR name = str_new(), text = str_new();
	const char *trimmed;
	size_t first = counters->n;
	struct err err;

	if (!fs_read(comm, PROC_MAX, &name, &err))
		return;
	trimmed = str_trim(name.s);
	if (!is_watched(trimmed) || !kthread_is(pid))
		return;
	if (!fs_read(schedstat, PROC_MAX, &text, &err) ||
	    !counters_parse_schedstat(counters, trimmed, text.s))
		add_stat(counters, pid, trimmed);
	/* khugepaged ends when huge pages are forbidden, and is another one later. */
	for (size_t i = first; i < counters->n; i++)
		counters->v[i].of = strtoll(pid, NULL, 10);
}

void counters_read_proc(struct counters *counters)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;

	add_pressure(counters);
	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9')
			add_task(counters, entry->d_name);
	}
	if (dir)
		closedir(dir);
}

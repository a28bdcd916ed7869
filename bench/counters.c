// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel event counters. */
#include "bench/counters.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "bench/knobs.h"
#include "bench/thp.h"

#define VMSTAT_MAX ((size_t)1 << 20)

static const char *const headline[] = {
	"allocstall_movable",
	"allocstall_normal",
	"compact_daemon_wake",
	"compact_fail",
	"compact_free_scanned",
	"compact_isolated",
	"compact_migrate_scanned",
	"compact_stall",
	"compact_success",
	"khugepaged.full_scans",
	"khugepaged.pages_collapsed",
	"pgfault",
	"pgfree",
	"pgmajfault",
	"pgmigrate_fail",
	"pgmigrate_success",
	"pgscan_direct",
	"pgscan_kswapd",
	"pgsteal_direct",
	"pgsteal_kswapd",
	"thp_collapse_alloc",
	"thp_collapse_alloc_failed",
	"thp_deferred_split_page",
	"thp_fault_alloc",
	"thp_fault_fallback",
	"thp_split_page",
	"thp_split_pmd",
};

bool counter_is_headline(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(headline); i++) {
		if (!strcmp(headline[i], name))
			return true;
	}
	return false;
}

void counters_release(struct counters *counters)
{
	for (size_t i = 0; i < counters->n; i++)
		free(counters->v[i].name);
	free(counters->v);
	*counters = (struct counters)COUNTERS_INIT;
}

void counters_add(struct counters *counters, char *name, int64_t value)
{
	struct counter *counter = array_push(counters->v, counters->n, counters->cap);

	*counter = (struct counter){.name = name, .value = value};
}

bool counters_parse(struct counters *counters, const char *text, struct err *err)
{
	AUTO_STRS lines = STRS_INIT;

	strs_split(&lines, text, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		char *line = lines.v[i];
		char *space = strchr(line, ' ');
		long long value;

		if (!space || space == line || !str_to_i64(space + 1, &value))
			return err_set(err, ERR_FAILED, "\"%s\" is not a counter and its value",
				       line);
		if (!str_starts(line, "nr_"))
			counters_add(counters, xstrndup(line, (size_t)(space - line)), value);
	}
	return true;
}

/* All numbers of the files in dir, as PREFIX.FILE; files that hold no number are knobs. */
static void add_dir(struct counters *counters, const char *path, const char *prefix,
		    bool (*wanted)(const char *name))
{
	DIR *dir = opendir(path);
	const struct dirent *entry;
	struct err err;

	while (dir && (entry = readdir(dir))) {
		AUTO_FREE char *file = xasprintf("%s/%s", path, entry->d_name);
		AUTO_FREE char *text = NULL;
		long long value;

		if (entry->d_name[0] == '.' || !wanted(entry->d_name) ||
		    !knob_read(file, &text, &err) || !str_to_i64(text, &value))
			continue;
		counters_add(counters, xasprintf("%s.%s", prefix, entry->d_name), value);
	}
	if (dir)
		closedir(dir);
}

static bool is_event(const char *name)
{
	return !str_starts(name, "nr_");
}

static bool is_khugepaged_event(const char *name)
{
	return !strcmp(name, "full_scans") || !strcmp(name, "pages_collapsed");
}

static void add_mthp(struct counters *counters)
{
	DIR *dir = opendir(THP_DIR);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		AUTO_FREE char *path = xasprintf(THP_DIR "/%s/stats", entry->d_name);
		AUTO_FREE char *prefix = NULL;

		if (!str_starts(entry->d_name, "hugepages-"))
			continue;
		prefix = xasprintf("mthp.%lldk",
				   strtoll(entry->d_name + strlen("hugepages-"), NULL, 10));
		add_dir(counters, path, prefix, is_event);
	}
	if (dir)
		closedir(dir);
}

static bool is_lock_event(const char *name)
{
	/* rwsem_*, lock_*, pv_*: unlike the tracepoints these count the first waiter, too. */
	return name[0] != '.';
}

void counters_read_locks(struct counters *counters)
{
	add_dir(counters, "/sys/kernel/debug/lock_event_counts", "lockevent", is_lock_event);
}

bool counters_read(struct counters *counters, struct err *err)
{
	AUTO_STR text = str_new();
	struct err ignored;

	/* Without it a counter may lag by a second; unprivileged readers live with that. */
	(void)!fs_poke("/proc/sys/vm/stat_refresh", "1", &ignored);
	if (!fs_read("/proc/vmstat", VMSTAT_MAX, &text, err) ||
	    !counters_parse(counters, text.s, err))
		return false;
	add_mthp(counters);
	add_dir(counters, THP_DIR "/khugepaged", "khugepaged", is_khugepaged_event);
	counters_read_locks(counters);
	counters_read_proc(counters);
	return true;
}

static const struct counter *find(const struct counters *counters, const char *name)
{
	for (size_t i = 0; i < counters->n; i++) {
		if (!strcmp(counters->v[i].name, name))
			return &counters->v[i];
	}
	return NULL;
}

const int64_t *counters_get(const struct counters *counters, const char *name)
{
	const struct counter *counter = find(counters, name);

	return counter ? &counter->value : NULL;
}

bool counters_delta(const struct counters *before, const struct counters *after, const char *name,
		    int64_t *delta)
{
	const struct counter *a = find(before, name);
	const struct counter *b = find(after, name);

	if (!a || !b)
		return false;
	*delta = a->of == b->of ? b->value - a->value : b->value;
	return true;
}

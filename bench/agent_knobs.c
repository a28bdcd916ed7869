// SPDX-License-Identifier: GPL-2.0-or-later
/* Knobs of the machine. */
#include "bench/agent_knobs.h"

#include <glob.h>
#include <string.h>

#include "base/fs.h"
#include "bench/thp.h"

#define KERNEL	   "/proc/sys/kernel/"
#define VM	   "/proc/sys/vm/"
#define KHUGEPAGED THP_DIR "/khugepaged/"

struct wanted {
	const char *path; /* may be a pattern */
	const char *value;
	/* Present in all kernels of our range with our recipe, so that it can be part of the
	 * environment: a knob that comes or goes with a commit must not split a series. */
	bool core;
};

static const struct wanted table[] = {
	{KERNEL "randomize_va_space", "0", true},
	{KERNEL "numa_balancing", "0", false},
	{KERNEL "nmi_watchdog", "0", false},
	{KERNEL "soft_watchdog", "0", false},
	{KERNEL "sched_schedstats", "0", false},
	{VM "compaction_proactiveness", "0", true},
	{VM "watermark_boost_factor", "0", true},
	{VM "overcommit_memory", "1", true},
	{VM "laptop_mode", "0", false},
	{THP_DIR "/enabled", "madvise", true},
	{THP_DIR "/defrag", "madvise", true},
	{KHUGEPAGED "defrag", "1", false},
	/* A benchmark that wants khugepaged wakes it itself. */
	{KHUGEPAGED "scan_sleep_millisecs", "3600000", false},
	{"/sys/kernel/mm/ksm/run", "0", false},
	{"/sys/module/zswap/parameters/enabled", "N", false},
	{"/sys/devices/system/cpu/intel_pstate/no_turbo", "1", false},
	{"/sys/devices/system/cpu/cpufreq/boost", "0", false},
	{"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance", false},
};

static void apply_one(struct knobs *knobs, const struct wanted *wanted, const char *path,
		      json_t *read_back, json_t *refused)
{
	AUTO_FREE char *value = NULL;
	struct err err;

	if (!knob_set(knobs, path, wanted->value, &err))
		js_set_str(refused, path, err.kind == ERR_NOTFOUND ? "absent" : err.msg);
	if (!wanted->core)
		return;
	js_set_str(read_back, path, knob_read(path, &value, &err) ? value : "absent");
}

static void tell_swap(json_t *refused)
{
	AUTO_STR text = str_new();
	AUTO_STRS lines = STRS_INIT;
	struct err err;

	if (!fs_read("/proc/swaps", (size_t)1 << 16, &text, &err))
		return;
	strs_split(&lines, text.s, "\n");
	for (size_t i = 1; i < lines.n; i++) {
		AUTO_FREE char *device = xstrndup(lines.v[i], strcspn(lines.v[i], " \t"));

		/* Not ours to turn off: someone's memory may be in it. Said, so that it can be seen. */
		js_set_str(refused, device, "swap is on");
	}
}

void agent_knobs_apply(struct knobs *knobs, json_t **read_back, json_t **refused)
{
	*read_back = json_object();
	*refused = json_object();
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		glob_t found;

		if (!strpbrk(table[i].path, "*?[")) {
			apply_one(knobs, &table[i], table[i].path, *read_back, *refused);
			continue;
		}
		if (glob(table[i].path, 0, NULL, &found)) {
			js_set_str(*refused, table[i].path, "absent");
			continue;
		}
		for (size_t k = 0; k < found.gl_pathc; k++)
			apply_one(knobs, &table[i], found.gl_pathv[k], *read_back, *refused);
		globfree(&found);
	}
	tell_swap(*refused);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Knobs of the machine. */
#include "bench/agent_knobs.h"

#include <glob.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "bench/swap_knob.h"
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
	const char *group; /* of many alike: told as one, with their number */
};

static const struct wanted table[] = {
	{KERNEL "randomize_va_space", "0", true, NULL},
	{KERNEL "numa_balancing", "0", false, NULL},
	{KERNEL "nmi_watchdog", "0", false, NULL},
	{KERNEL "soft_watchdog", "0", false, NULL},
	{KERNEL "watchdog", "0", false, NULL},
	{KERNEL "sched_schedstats", "0", false, NULL},
	{VM "compaction_proactiveness", "0", true, NULL},
	{VM "watermark_boost_factor", "0", true, NULL},
	{VM "overcommit_memory", "1", true, NULL},
	{VM "laptop_mode", "0", false, NULL},
	{VM "zone_reclaim_mode", "0", false, NULL},
	{THP_DIR "/enabled", "madvise", true, NULL},
	{THP_DIR "/defrag", "madvise", true, NULL},
	{THP_DIR "/shmem_enabled", "never", false, NULL},
	{KHUGEPAGED "defrag", "1", false, NULL},
	/* A benchmark that wants khugepaged wakes it itself. */
	{KHUGEPAGED "scan_sleep_millisecs", "3600000", false, NULL},
	{"/sys/kernel/mm/ksm/run", "0", false, NULL},
	{"/sys/kernel/mm/numa/demotion_enabled", "false", false, NULL},
	{"/sys/module/zswap/parameters/enabled", "N", false, NULL},
	{"/sys/devices/system/cpu/intel_pstate/no_turbo", "1", false, NULL},
	{"/sys/devices/system/cpu/cpufreq/boost", "0", false, NULL},
	{"/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "performance", false, "governor"},
	/* One CPU takes what can be moved: where an interrupt lands must not be chance. */
	{"/proc/irq/*/smp_affinity_list", "0", false, "interrupts"},
};

/* Only looked at: the kernel's own choice is part of what is measured, or cannot be changed back. */
static const char *const looked_at[] = {
	"/proc/sys/vm/extfrag_threshold", "/proc/sys/vm/min_free_kbytes",
	"/proc/sys/vm/swappiness",	  "/sys/devices/system/cpu/smt/active",
	"/sys/kernel/mm/lru_gen/enabled", KHUGEPAGED "max_ptes_none",
	KHUGEPAGED "pages_to_scan",	  THP_DIR "/shrink_underused",
	THP_DIR "/use_zero_page",
};

static void apply_one(struct knobs *knobs, const struct wanted *wanted, struct knobs_told *told)
{
	AUTO_FREE char *value = NULL;
	struct err err;

	if (!knob_set(knobs, wanted->path, wanted->value, &err))
		js_set_str(told->refused, wanted->path,
			   err.kind == ERR_NOTFOUND ? "absent" : err.msg);
	if (!knob_read(wanted->path, &value, &err))
		value = xstrdup("absent");
	js_set_str(wanted->core ? told->core : told->others, wanted->path, value);
}

static void apply_group(struct knobs *knobs, const struct wanted *wanted, struct knobs_told *told)
{
	size_t set = 0;
	glob_t found;
	struct err err;

	if (glob(wanted->path, 0, NULL, &found)) {
		js_set_str(told->refused, wanted->group, "absent");
		return;
	}
	for (size_t i = 0; i < found.gl_pathc; i++)
		set += knob_set(knobs, found.gl_pathv[i], wanted->value, &err);
	if (set < found.gl_pathc) {
		AUTO_FREE char *text = xasprintf("%zu of %zu refuse \"%s\"", found.gl_pathc - set,
						 found.gl_pathc, wanted->value);

		js_set_str(told->refused, wanted->group, text);
	}
	if (set)
		js_set_str(told->others, wanted->group, wanted->value);
	globfree(&found);
}

/* What a machine's owner decides. */
static const struct {
	const char *name, *word, *path, *value;
} choices[] = {
	{"smt", "on", "/sys/devices/system/cpu/smt/control", "on"},
	{"smt", "off", "/sys/devices/system/cpu/smt/control", "off"},
	{"lru_gen", "on", "/sys/kernel/mm/lru_gen/enabled", "0x0007"},
	{"lru_gen", "off", "/sys/kernel/mm/lru_gen/enabled", "0x0000"},
};

static void wish_file(struct knobs *knobs, const char *name, const char *word, const char *root,
		      struct knobs_told *told)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(choices) &&
	       (strcmp(choices[i].name, name) != 0 || strcmp(choices[i].word, word) != 0))
		i++;
	if (i == ARRAY_SIZE(choices)) {
		js_set_str(told->refused, name, "no such wish");
		return;
	}
	AUTO_FREE char *path = xasprintf("%s%s", root, choices[i].path);
	AUTO_FREE char *value = NULL;
	struct err err;

	if (!knob_set(knobs, path, choices[i].value, &err))
		js_set_str(told->refused, choices[i].path,
			   err.kind == ERR_NOTFOUND ? "absent" : err.msg);
	if (!knob_read(path, &value, &err))
		value = xstrdup("absent");
	js_set_str(told->core, choices[i].path, value);
}

static void wish_no_swap(struct knobs *knobs, struct knobs_told *told)
{
	struct err err;
	bool off = swap_all_off(knobs, &err);

	if (!off)
		js_set_str(told->refused, "swap", err.msg);
	js_set_str(told->core, "swap", off ? "off" : "on");
}

void agent_knobs_wish(struct knobs *knobs, const json_t *wishes, const char *root,
		      struct knobs_told *told)
{
	const char *name;
	json_t *value;

	json_object_foreach((json_t *)wishes, name, value)
	{
		const char *word = json_is_string(value) ? json_string_value(value) : "";

		if (!strcmp(name, "swap") && !strcmp(word, "off"))
			wish_no_swap(knobs, told);
		else
			wish_file(knobs, name, word, root, told);
	}
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

		/* Only turned off when the job asks: someone's memory may be in it. */
		js_set_str(refused, device, "swap is on");
	}
}

void agent_knobs_apply(struct knobs *knobs, struct knobs_told *told)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		if (table[i].group)
			apply_group(knobs, &table[i], told);
		else
			apply_one(knobs, &table[i], told);
	}
	for (size_t i = 0; i < ARRAY_SIZE(looked_at); i++) {
		AUTO_FREE char *value = NULL;
		struct err err;

		if (knob_read(looked_at[i], &value, &err))
			js_set_str(told->others, looked_at[i], value);
	}
	tell_swap(told->refused);
}

void agent_knobs_settle(void)
{
	static const struct {
		const char *path, *value;
	} actions[] = {{VM "drop_caches", "3"}, {VM "compact_memory", "1"}};
	struct err err;

	sync();
	for (size_t i = 0; i < ARRAY_SIZE(actions); i++)
		(void)!fs_poke(actions[i].path, actions[i].value, &err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Pre-flight. */
#include "bench/agent_preflight.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/fs.h"
#include "bench/agent_child.h"
#include "bench/agent_env.h"
#include "bench/knobs.h"
#include "bench/spinlock.h"

#define CPU_DIR "/sys/devices/system/cpu"

/* Files whose presence, or value when one is given, says something. */
static const struct {
	const char *path, *value;
	bool present; /* said when it is there (and has the value); else when it is absent */
	const char *text;
} signs[] = {
	{CPU_DIR "/cpu0/cpufreq/scaling_governor", NULL, false,
	 "no governor: the CPU's frequency is not ours to fix"},
	{CPU_DIR "/smt/active", "1", true, "SMT is on: two threads share a core"},
	{"/sys/kernel/mm/transparent_hugepage/enabled", NULL, false,
	 "no transparent huge pages in this kernel"},
	{"/proc/lockdep", NULL, true,
	 "lockdep is on: every lock is slower than in a production kernel"},
	{"/sys/kernel/debug/kmemleak", NULL, true,
	 "kmemleak is on: allocation is slower than in a production kernel"},
	{"/sys/kernel/debug/page_owner", NULL, true, "page_owner is built in"},
	{"/proc/pressure/memory", NULL, false, "no pressure stall information (psi=1)"},
};

/* Words on the command line (before =) that change what is measured. */
static const struct {
	const char *word, *text;
} words[] = {
	{"isolcpus", "CPUs are isolated: threads are not balanced over them"},
	{"nohz_full", "some CPUs have no tick"},
	{"slub_debug", "slub_debug: slab allocation is slower"},
	{"page_poison", "pages are poisoned"},
	{"init_on_alloc", "init_on_alloc is set by hand"},
	{"init_on_free", "init_on_free is set by hand"},
	{"debug_pagealloc", "debug_pagealloc"},
	{"maxcpus", "some CPUs are kept off"},
	{"mem", "memory is limited by hand"},
};

static void add(json_t *list, const char *text)
{
	json_array_append_new(list, json_string(text));
}

static bool says(const char *path, const char *value)
{
	AUTO_FREE char *text = NULL;
	struct err err;

	return knob_read(path, &text, &err) && (!value || !strcmp(text, value));
}

static void look_at_cmdline(json_t *list)
{
	AUTO_STR text = str_new();
	AUTO_STRS given = STRS_INIT;
	struct err err;

	if (!fs_read("/proc/cmdline", 65536, &text, &err))
		return;
	strs_split(&given, text.s, " \n");
	for (size_t i = 0; i < given.n; i++) {
		given.v[i][strcspn(given.v[i], "=")] = '\0';
		for (size_t k = 0; k < ARRAY_SIZE(words); k++) {
			if (!strcmp(given.v[i], words[k].word)) {
				AUTO_FREE char *line = xasprintf("command line: %s", words[k].text);

				add(list, line);
			}
		}
	}
}

static void look_at_pmu(json_t *list)
{
	struct perf_event_attr attr = {.type = PERF_TYPE_HARDWARE,
				       .config = PERF_COUNT_HW_CPU_CYCLES,
				       .size = sizeof(attr)};
	AUTO_CLOSE int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);

	if (fd < 0) {
		AUTO_FREE char *line = xasprintf("no hardware counters (%s)", strerror(errno));

		add(list, line);
	}
}

static void look_at_load(json_t *list)
{
	AUTO_STR text = str_new();
	double load;
	struct err err;

	/* Half a CPU of somebody else's work moves every number here. */
	if (!fs_read("/proc/loadavg", 4096, &text, &err))
		return;
	load = strtod(text.s, NULL);
	if (load >= 0.5) {
		AUTO_FREE char *line = xasprintf("others work here: load %.2f", load);

		add(list, line);
	}
}

json_t *preflight_list(const struct kallsyms *syms)
{
	AUTO_FREE char *clocksource = env_clocksource();
	json_t *list = json_array();
	const char *reason;

	if (env_in_guest())
		add(list, "virtualised: the host decides when our CPUs run");
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		if (says(signs[i].path, signs[i].value) == signs[i].present)
			add(list, signs[i].text);
	}
	if (strcmp(clocksource, "tsc") != 0) {
		AUTO_FREE char *line = xasprintf("the clock source is %s, not tsc", clocksource);

		add(list, line);
	}
	if (!memcg_available())
		add(list, "no memory cgroup (v2): runs share the root's lruvec");
	look_at_pmu(list);
	if (syms) {
		struct spinlock_facts spin;

		spinlock_facts_read(&spin, syms);
		if (!spinlock_measurable(&spin, &reason)) {
			AUTO_FREE char *line = xasprintf("spinlock waits are not seen: %s", reason);

			add(list, line);
		}
	} else {
		add(list, "kernel symbols cannot be read (root? kernel.kptr_restrict = 0?)");
	}
	look_at_cmdline(list);
	look_at_load(list);
	return list;
}

int preflight_main(void)
{
	CLEANUP(kallsyms_free_ptr) struct kallsyms *syms = NULL;
	AUTO_JSON *list = NULL;
	struct err err;
	json_t *line;
	size_t i;

	(void)!kallsyms_load(&syms, &err);
	list = preflight_list(syms);
	json_array_foreach(list, i, line)
	{
		puts(json_string_value(line));
	}
	if (!json_array_size(list))
		puts("nothing stands against measuring here");
	return 0;
}

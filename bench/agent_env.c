// SPDX-License-Identifier: GPL-2.0-or-later
/* Kernel, environment, state. */
#include "bench/agent_env.h"

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "bench/spinlock.h"

#define FILE_MAX ((size_t)1 << 20)
#define ROUND_MB 64

/* The whole file without blanks at the ends, or a dash. */
static char *text_of(const char *path)
{
	AUTO_STR text = str_new();
	struct err err;

	if (!fs_read(path, FILE_MAX, &text, &err))
		return xstrdup("-");
	return xstrdup(str_trim(text.s));
}

char *env_boot_id(void)
{
	AUTO_FREE char *id = text_of("/proc/sys/kernel/random/boot_id");

	return xstrdup(strcmp(id, "-") != 0 ? id : "unknown");
}

char *env_clocksource(void)
{
	return text_of("/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

bool env_clock_settled(void)
{
	AUTO_FREE char *name = env_clocksource();

	return !str_ends(name, "-early");
}

void env_settle_clock(double timeout_s)
{
	double deadline = clock_mono_s() + timeout_s;

	while (!env_clock_settled() && clock_mono_s() < deadline)
		clock_sleep_s(0.02);
}

bool env_build_id(const void *notes, size_t n, struct str *hex)
{
	const unsigned char *p = notes;

	while (n >= 12) {
		uint32_t head[3];
		size_t name, desc;

		memcpy(head, p, sizeof(head));
		name = ((size_t)head[0] + 3) & ~(size_t)3;
		desc = ((size_t)head[1] + 3) & ~(size_t)3;
		if (name > n - 12 || desc > n - 12 - name)
			return false;
		if (head[2] == 3 && head[0] == 4 && !memcmp(p + 12, "GNU", 4)) {
			for (size_t i = 0; i < head[1]; i++)
				str_addf(hex, "%02x", p[12 + name + i]);
			return true;
		}
		p += 12 + name + desc;
		n -= 12 + name + desc;
	}
	return false;
}

json_t *env_hello(const struct agent *agent)
{
	AUTO_FREE char *boot_id = env_boot_id();
	AUTO_FREE char *uptime = text_of("/proc/uptime");
	AUTO_STR notes = str_new();
	AUTO_STR build_id = str_new();
	json_t *line = agent_line("hello");
	struct utsname name;
	struct err err;

	js_set_i64(line, "v", 1);
	js_set_str(line, "nonce", agent->nonce);
	js_set_str(line, "agent", MMPERF_VERSION);
	js_set_str(line, "boot_id", boot_id);
	if (fs_read("/sys/kernel/notes", FILE_MAX, &notes, &err))
		env_build_id(notes.s, notes.len, &build_id);
	js_set_str(line, "build_id", build_id.s);
	js_set_str(line, "release", uname(&name) ? "-" : name.release);
	js_set_f64(line, "uptime_s", strtod(uptime, NULL));
	return line;
}

static char *cpu_model(void)
{
	AUTO_FREE char *info = text_of("/proc/cpuinfo");
	const char *line = strstr(info, "model name");
	const char *colon = line ? strchr(line, ':') : NULL;

	if (!colon)
		return xstrdup("-");
	colon += 1 + strspn(colon + 1, " ");
	return xstrndup(colon, strcspn(colon, "\n"));
}

static long count_nodes(void)
{
	DIR *dir = opendir("/sys/devices/system/node");
	const struct dirent *entry;
	long n = 0;

	while (dir && (entry = readdir(dir)))
		n += str_starts(entry->d_name, "node") && entry->d_name[4] >= '0' &&
		     entry->d_name[4] <= '9';
	if (dir)
		closedir(dir);
	return n ? n : 1;
}

/* What firmware gave, not MemTotal: that depends on the size of the kernel under test. */
static long long memory_mb(void)
{
	AUTO_FREE char *iomem = text_of("/proc/iomem");
	AUTO_STRS lines = STRS_INIT;
	unsigned long long bytes = 0;

	strs_split(&lines, iomem, "\n");
	for (size_t i = 0; i < lines.n; i++) {
		unsigned long long start, end;
		char *dash;

		if (lines.v[i][0] == ' ' || !str_ends(lines.v[i], ": System RAM"))
			continue;
		start = strtoull(lines.v[i], &dash, 16);
		end = *dash == '-' ? strtoull(dash + 1, NULL, 16) : 0;
		if (end > start)
			bytes += end - start + 1;
	}
	if (!bytes)
		bytes = (unsigned long long)sysconf(_SC_PHYS_PAGES) *
			(unsigned long long)sysconf(_SC_PAGESIZE);
	return (long long)(((bytes >> 20) + ROUND_MB / 2) / ROUND_MB * ROUND_MB);
}

bool env_in_guest(void)
{
	AUTO_FREE char *info = text_of("/proc/cpuinfo");
	const char *flags = strstr(info, "\nflags");
	AUTO_FREE char *line =
		xstrndup(flags ? flags + 1 : "", flags ? strcspn(flags + 1, "\n") : 0);

	return strstr(line, " hypervisor") != NULL;
}

/* The option, not the kernel's list of weaknesses: that list grows from commit to commit. */
static char *mitigations(void)
{
	AUTO_FREE char *cmdline = text_of("/proc/cmdline");
	AUTO_STRS words = STRS_INIT;

	strs_split(&words, cmdline, " ");
	for (size_t i = 0; i < words.n; i++) {
		if (str_starts(words.v[i], "mitigations="))
			return xstrdup(strchr(words.v[i], '=') + 1);
	}
	return xstrdup("default");
}

/* Settings of the firmware (clusters of a socket, prefetchers) change with it and are not seen from here
 * otherwise. */
static char *firmware(void)
{
	AUTO_FREE char *vendor = text_of("/sys/class/dmi/id/bios_vendor");
	AUTO_FREE char *version = text_of("/sys/class/dmi/id/bios_version");

	return xasprintf("%s %s", vendor, version);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *env_options(const char *cmdline)
{
	/* Where the system comes from, where it talks, what it does when it dies: no matter of speed. */
	static const char *const without[] = {
		"BOOT_IMAGE=", "acpi_rsdp=", "console=", "earlyprintk", "init=",    "initrd=",
		"ip=",	       "loglevel=",  "mmperf.",	 "netconsole=", "oops=",    "panic=",
		"quiet",       "rdinit=",    "reboot=",	 "ro",		"root=",    "rootflags=",
		"rootfstype=", "rootwait",   "rw",	 "splash",	"systemd.", "watchdog"};
	AUTO_STRS words = STRS_INIT, kept = STRS_INIT;

	strs_split(&words, cmdline, " \n");
	for (size_t i = 0; i < words.n && strcmp(words.v[i], "--") != 0; i++) {
		bool keep = true;

		for (size_t k = 0; k < ARRAY_SIZE(without) && keep; k++) {
			size_t n = strlen(without[k]);

			keep = strchr("=.", without[k][n - 1])
				       ? !str_starts(words.v[i], without[k])
				       : strcmp(words.v[i], without[k]) != 0;
		}
		if (keep)
			strs_push(&kept, words.v[i]);
	}
	if (kept.n)
		qsort(kept.v, kept.n, sizeof(*kept.v), by_text);
	return strs_join(&kept, " ");
}

/* Distances of each node: what firmware's choices (interleaving, sub-NUMA clusters)
 * come to. */
static json_t *nodes(void)
{
	json_t *list = json_array();

	for (long node = 0; node < count_nodes(); node++) {
		AUTO_FREE char *path = xasprintf("/sys/devices/system/node/node%ld/distance", node);
		AUTO_FREE char *distance = text_of(path);

		json_array_append_new(list, json_string(distance));
	}
	return list;
}

static long count_sockets(void)
{
	AUTO_FREE char *info = text_of("/proc/cpuinfo");
	long most = 0;

	for (const char *p = info; (p = strstr(p, "physical id"));) {
		const char *colon = strchr(p, ':');
		long id = colon ? strtol(colon + 1, NULL, 10) : 0;

		most = id > most ? id : most;
		p += strlen("physical id");
	}
	return most + 1;
}

/* Intel's prefetcher switches, MSR 0x1a4; "-" where it cannot be read. */
static char *prefetchers(void)
{
	AUTO_CLOSE int fd = open("/dev/cpu/0/msr", O_RDONLY | O_CLOEXEC);
	uint64_t value;

	if (fd < 0 || pread(fd, &value, sizeof(value), 0x1a4) != sizeof(value))
		return xstrdup("-");
	return xasprintf("0x%llx", (unsigned long long)value);
}

static const char *spinlock_word(const struct kallsyms *syms)
{
	static const char *const kinds[] = {[SPINLOCK_NATIVE] = "native",
					    [SPINLOCK_PV] = "paravirtual",
					    [SPINLOCK_TEST_AND_SET] = "test-and-set"};
	struct spinlock_facts facts;

	if (!syms)
		return "unknown";
	spinlock_facts_read(&facts, syms);
	return kinds[spinlock_kind_of(&facts)];
}

json_t *env_environment(json_t *knobs, bool memcg, const struct kallsyms *syms)
{
	AUTO_FREE char *bios = firmware();
	AUTO_FREE char *model = cpu_model();
	AUTO_FREE char *clocksource = env_clocksource();
	AUTO_FREE char *option = mitigations();
	AUTO_FREE char *cmdline = text_of("/proc/cmdline");
	AUTO_FREE char *options = env_options(cmdline);
	AUTO_FREE char *microcode = text_of("/sys/devices/system/cpu/cpu0/microcode/version");
	AUTO_FREE char *smt = text_of("/sys/devices/system/cpu/smt/active");
	AUTO_FREE char *prefetch = prefetchers();
	json_t *facts = json_object();
	struct utsname name;

	js_set_str(facts, "arch", uname(&name) ? "-" : name.machine);
	js_set_str(facts, "cpu", model);
	js_set_str(facts, "firmware", bios);
	js_set_i64(facts, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
	js_set_i64(facts, "sockets", count_sockets());
	js_set_str(facts, "smt", smt);
	js_set_str(facts, "microcode", microcode);
	js_set_str(facts, "prefetch_msr", prefetch);
	js_set_i64(facts, "nodes", count_nodes());
	js_set_new(facts, "node_distances", nodes());
	js_set_i64(facts, "memory_mb", memory_mb());
	js_set_str(facts, "clocksource", clocksource);
	js_set_bool(facts, "hypervisor", env_in_guest());
	js_set_str(facts, "spinlocks", spinlock_word(syms));
	js_set_str(facts, "mitigations", option);
	js_set_str(facts, "options", options);
	js_set_bool(facts, "memcg", memcg);
	js_set_new(facts, "knobs", knobs);
	return facts;
}

/* How often CPUs throttled since they were started; "-" where nothing counts that. */
static json_t *thermal_events(void)
{
	glob_t found;
	long long sum = 0;
	bool any = false;

	if (glob("/sys/devices/system/cpu/cpu*/thermal_throttle/core_throttle_count", 0, NULL,
		 &found))
		return json_string("-");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		AUTO_FREE char *text = text_of(found.gl_pathv[i]);
		long long n;

		if (str_to_i64(text, &n)) {
			sum += n;
			any = true;
		}
	}
	globfree(&found);
	return any ? json_integer(sum) : json_string("-");
}

static json_t *vulnerabilities(void)
{
	static const char path[] = "/sys/devices/system/cpu/vulnerabilities";
	DIR *dir = opendir(path);
	const struct dirent *entry;
	json_t *out = json_object();

	while (dir && (entry = readdir(dir))) {
		AUTO_FREE char *file = xasprintf("%s/%s", path, entry->d_name);

		if (entry->d_name[0] != '.') {
			AUTO_FREE char *text = text_of(file);

			js_set_str(out, entry->d_name, text);
		}
	}
	if (dir)
		closedir(dir);
	return out;
}

json_t *env_state(void)
{
	static const struct {
		const char *key, *path;
	} files[] = {
		{"buddyinfo", "/proc/buddyinfo"}, {"cmdline", "/proc/cmdline"},
		{"loadavg", "/proc/loadavg"},	  {"uptime", "/proc/uptime"},
		{"version", "/proc/version"},
	};
	json_t *facts = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AUTO_FREE char *text = text_of(files[i].path);

		js_set_str(facts, files[i].key, text);
	}
	js_set_str(facts, "agent", MMPERF_VERSION);
	js_set_new(facts, "thermal_events", thermal_events());
	js_set_new(facts, "vulnerabilities", vulnerabilities());
	return facts;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Collapse of hot memory behind cold. */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "bench/access.h"
#include "bench/benchmarks.h"
#include "bench/counters.h"
#include "bench/thp.h"

/*
 * Three tasks, hot1 -> cold -> hot2, are known to khugepaged in that order. Hot ones touch their
 * memory all the time; cold touched it once and gave it back lazily (MADV_FREE). We are hot2. In
 * contrast to the program that the procedure comes from, khugepaged is held until all three stand,
 * so that every run starts with the same phase.
 */
#define PAGE	   ((size_t)4096)
#define KHUGEPAGED THP_DIR "/khugepaged/"
#define NEVER	   "3600000"
#define POLL_S	   0.005

static const struct bench_param params[] = {
	{"size", BENCH_BYTES, "128M", NULL, "memory of each task", .least = 2 << 20,
	 .most = 1LL << 46, .multiple = 2 << 20},
	{"lazy", BENCH_INT, "512", NULL, "pages of each 2 MiB that cold frees lazily (512 = all)",
	 .least = 1, .most = 512},
	{"limit", BENCH_SECONDS, "150s", "s", "longest wait for hot2's memory to be huge",
	 .least = 0, .most = 86400},
	{"scan_sleep", BENCH_INT, "1000", "ms", "khugepaged/scan_sleep_millisecs", .least = 0,
	 .most = 4294967295},
	{"alloc_sleep", BENCH_INT, "1000", "ms", "khugepaged/alloc_sleep_millisecs", .least = 0,
	 .most = 4294967295},
	{"pages_to_scan", BENCH_INT, "4096", NULL, "khugepaged/pages_to_scan", .least = 1,
	 .most = 4294967295},
	{"max_ptes_none", BENCH_TEXT, "inherit", NULL, "khugepaged/max_ptes_none", .choices = NULL},
	{"accesses", BENCH_INT, "327680000", NULL, "random loads of hot2 afterwards", .least = 1,
	 .most = 1LL << 50},
	{"iterations", BENCH_INT, "1", NULL, "values reported", .least = 1, .most = 100000},
	{0},
};

static const struct bench_metric metrics[] = {
	{"time_to_collapse", "ns", BENCH_LOWER, true, false, 1e6,
	 "from waking khugepaged until all of hot2 is huge"},
	{"access_time", "ns", BENCH_LOWER, true, false, 1e3, "all random loads of hot2"},
	{"time_to_first_collapse", "ns", BENCH_LOWER, false, false, 1e6,
	 "from waking khugepaged until the first huge page of hot2"},
	{"huge_pmds", "count", BENCH_HIGHER, false, false, 1, "huge pages of hot2 at the end"},
	{"cycles_per_access", "cycles", BENCH_LOWER, false, false, 0.1,
	 "time stamp counter per random load"},
	{"throughput", "count/s", BENCH_HIGHER, false, false, 1, "random loads per second"},
	{"dtlb_load_misses", "count", BENCH_LOWER, false, false, 1000,
	 "dTLB load misses of the random loads"},
	{"collapses", "count", BENCH_NONE, false, false, 1,
	 "pages khugepaged collapsed, all tasks"},
	{"full_scans", "count", BENCH_NONE, false, false, 1, "rounds over all tasks"},
	{"khugepaged_time", "ns", BENCH_LOWER, false, false, 1e6, "CPU time of khugepaged"},
	{0},
};

static const struct bench_preset presets[] = {
	{"guest", "size=32M limit=10s scan_sleep=50 alloc_sleep=50 accesses=3276800",
	 "small emulated guest, about 5 s"},
	{"mixed", "lazy=12", "12 lazily freed pages among 500 kept in every 2 MiB"},
	{0},
};

struct task {
	pid_t pid;
	int ready; /* one byte comes when it stands */
};

static bool map_hot(size_t size, char **out, struct err *err)
{
	char *p;

	if (!pages_map(size, &p, err))
		return false;
	/* Base pages first: only khugepaged may make them huge. */
	(void)madvise(p, size, MADV_NOHUGEPAGE);
	memset(p, 1, size);
	if (madvise(p, size, MADV_HUGEPAGE))
		return err_sys(err, "madvise(MADV_HUGEPAGE) (CONFIG_TRANSPARENT_HUGEPAGE?)");
	*out = p;
	return true;
}

static void touch(char *p, size_t size)
{
	for (size_t at = 0; at < size; at += PAGE)
		(*(volatile char *)(p + at))++;
}

static void be_hot(int ready, char *p, size_t size)
{
	if (write(ready, "1", 1) != 1)
		_exit(1);
	for (;;) {
		touch(p, size);
		clock_sleep_s(POLL_S * 4);
	}
}

static void be_cold(int ready, char *p, size_t size, size_t lazy)
{
	for (size_t at = 0; at < size; at += PMD_SIZE) {
		if (madvise(p + at, lazy * PAGE, MADV_FREE))
			_exit(1);
	}
	if (write(ready, "1", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

static bool start_task(struct task *task, size_t size, size_t lazy, struct err *err)
{
	int pipe_fds[2];
	char *p, byte;

	if (pipe(pipe_fds))
		return err_sys(err, "pipe");
	task->pid = fork();
	if (task->pid < 0)
		return err_sys(err, "cannot fork");
	if (!task->pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		close(pipe_fds[0]);
		if (!map_hot(size, &p, err))
			_exit(1);
		if (lazy)
			be_cold(pipe_fds[1], p, size, lazy);
		be_hot(pipe_fds[1], p, size);
	}
	close(pipe_fds[1]);
	task->ready = pipe_fds[0];
	while (read(task->ready, &byte, 1) != 1) {
		if (errno != EINTR)
			return err_set(err, ERR_FAILED, "a task could not set up %zu bytes", size);
	}
	return true;
}

static void end_task(struct task *task)
{
	int status;

	mem_close_ptr(&task->ready);
	if (task->pid <= 0)
		return;
	kill(task->pid, SIGKILL);
	while (waitpid(task->pid, &status, 0) < 0 && errno == EINTR)
		;
}

/* CPU time of the kernel thread; -1 when it cannot be told. */
static double khugepaged_ns(void)
{
	DIR *dir = opendir("/proc");
	const struct dirent *entry;
	double ns = -1;

	while (dir && ns < 0 && (entry = readdir(dir))) {
		AUTO_FREE char *path = xasprintf("/proc/%s/stat", entry->d_name);
		AUTO_STR text = str_new();
		AUTO_STRS fields = STRS_INIT;
		struct err err;

		if (entry->d_name[0] < '1' || entry->d_name[0] > '9' ||
		    !fs_read(path, 4096, &text, &err) || !strstr(text.s, "(khugepaged)"))
			continue;
		strs_split(&fields, strchr(text.s, ')') + 1, " ");
		/* Fields 14 and 15 of proc(5), ticks; the list begins with field 3. */
		if (fields.n > 12)
			ns = (strtod(fields.v[11], NULL) + strtod(fields.v[12], NULL)) * 1e9 /
			     (double)sysconf(_SC_CLK_TCK);
	}
	if (dir)
		closedir(dir);
	return ns;
}

struct progress {
	double first_ns, all_ns; /* < 0: did not happen */
	size_t huge, pmds;
	double wall_s;
};

/* Plays hot2 until all is huge or the limit has passed. */
static bool wait_for_collapse(const struct pages_view *view, char *p, size_t size, double limit_s,
			      struct progress *out, struct err *err)
{
	uint64_t start = clock_mono_ns();

	*out = (struct progress){-1, -1, 0, size / PMD_SIZE, 0};
	while (out->all_ns < 0 && out->wall_s < limit_s) {
		touch(p, size);
		if (!pages_count_huge(view, p, size, &out->huge, err))
			return false;
		out->wall_s = (double)(clock_mono_ns() - start) / 1e9;
		if (out->huge && out->first_ns < 0)
			out->first_ns = out->wall_s * 1e9;
		if (out->huge == out->pmds)
			out->all_ns = out->wall_s * 1e9;
		else
			clock_sleep_s(POLL_S);
	}
	return true;
}

static void report_progress(struct bench_run *run, const struct progress *progress, double limit_s)
{
	AUTO_FREE char *reason = xasprintf("%zu of %zu huge pages within %g s", progress->huge,
					   progress->pmds, limit_s);

	bench_value(run, "huge_pmds", NULL, (double)progress->huge);
	if (progress->first_ns >= 0)
		bench_value(run, "time_to_first_collapse", NULL, progress->first_ns);
	else
		bench_missing(run, "time_to_first_collapse", NULL, reason);
	if (progress->all_ns >= 0)
		bench_value(run, "time_to_collapse", NULL, progress->all_ns);
	else
		bench_missing(run, "time_to_collapse", NULL, reason);
}

static void report_access(struct bench_run *run, const struct access_result *access)
{
	bench_value(run, "access_time", NULL, (double)access->ns);
	bench_value(run, "throughput", NULL, (double)access->accesses * 1e9 / (double)access->ns);
	if (access->cycles)
		bench_value(run, "cycles_per_access", NULL,
			    (double)access->cycles / (double)access->accesses);
	else
		bench_missing(run, "cycles_per_access", NULL, "no time stamp counter");
	if (access->counted)
		bench_value(run, "dtlb_load_misses", NULL, (double)access->dtlb_misses);
	else
		bench_missing(run, "dtlb_load_misses", NULL, access->why_not);
}

static int64_t report_kernel(struct bench_run *run, const struct counters *before,
			     const struct counters *after, double cpu_ns)
{
	int64_t collapses = 0, scans = 0;

	if (counters_delta(before, after, "khugepaged.pages_collapsed", &collapses))
		bench_value(run, "collapses", NULL, (double)collapses);
	if (counters_delta(before, after, "khugepaged.full_scans", &scans))
		bench_value(run, "full_scans", NULL, (double)scans);
	if (cpu_ns >= 0)
		bench_value(run, "khugepaged_time", NULL, cpu_ns);
	else
		bench_missing(run, "khugepaged_time", NULL, "no thread khugepaged in /proc");
	return collapses;
}

struct totals {
	int64_t collapses;
	double seconds;
};

/* The tasks stand and khugepaged sleeps: wakes it, watches, loads. */
static bool measure(struct bench_run *run, const struct pages_view *view, struct knobs *knobs,
		    char *p, struct totals *totals, struct err *err)
{
	size_t size = (size_t)bench_int(run, "size");
	double limit_s = bench_float(run, "limit"), cpu_ns = khugepaged_ns(), end_ns;
	AUTO_COUNTERS before = COUNTERS_INIT;
	AUTO_COUNTERS after = COUNTERS_INIT;
	struct progress progress;
	struct access_result access;

	/* Writing scan_sleep_millisecs wakes khugepaged: its phase is that of our clock. */
	if (!counters_read(&before, err) || !bench_phase(run, true, err) ||
	    !knob_set(knobs, KHUGEPAGED "scan_sleep_millisecs", bench_text(run, "scan_sleep"),
		      err) ||
	    !wait_for_collapse(view, p, size, limit_s, &progress, err) ||
	    !bench_phase(run, false, err) || !counters_read(&after, err))
		return false;
	end_ns = khugepaged_ns();
	report_progress(run, &progress, limit_s);
	totals->seconds += progress.wall_s;
	totals->collapses += report_kernel(run, &before, &after,
					   cpu_ns >= 0 && end_ns >= cpu_ns ? end_ns - cpu_ns : -1);
	access_random(p, size, (uint64_t)bench_int(run, "accesses"), 1, &access);
	report_access(run, &access);
	return knob_set(knobs, KHUGEPAGED "scan_sleep_millisecs", NEVER, err);
}

static bool iterate(struct bench_run *run, const struct pages_view *view, struct knobs *knobs,
		    struct totals *totals, struct err *err)
{
	size_t size = (size_t)bench_int(run, "size");
	struct task hot1 = {0, -1}, cold = {0, -1};
	char *p = NULL;
	bool ok = start_task(&hot1, size, 0, err) &&
		  start_task(&cold, size, (size_t)bench_int(run, "lazy"), err) &&
		  map_hot(size, &p, err) && measure(run, view, knobs, p, totals, err);

	end_task(&hot1);
	end_task(&cold);
	if (p)
		munmap(p, size);
	return ok;
}

static bool prepare(struct bench_run *run, struct knobs *knobs, struct err *err)
{
	return thp_pmd_by_madvise(knobs, err) &&
	       knob_set(knobs, KHUGEPAGED "scan_sleep_millisecs", NEVER, err) &&
	       knob_set(knobs, KHUGEPAGED "alloc_sleep_millisecs", bench_text(run, "alloc_sleep"),
			err) &&
	       knob_set(knobs, KHUGEPAGED "pages_to_scan", bench_text(run, "pages_to_scan"), err) &&
	       thp_max_ptes_none(knobs, bench_text(run, "max_ptes_none"), err);
}

static bool khugepaged(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	struct pages_view view = {-1, -1, false};
	struct totals totals = {0, 0};
	bool ok = prepare(run, &knobs, err) && pages_view_open(&view, err);

	for (long long i = 0; ok && i < bench_int(run, "iterations"); i++)
		ok = iterate(run, &view, &knobs, &totals, err);
	pages_view_close(&view);
	/* An operation is a collapse; the threads are the three tasks. */
	bench_total(run, (uint64_t)totals.collapses, 3, totals.seconds);
	return ok;
}

const struct bench bench_khugepaged = {
	.name = "khugepaged",
	.version = 1,
	.about = "how soon khugepaged makes hot memory huge that stands behind lazily freed memory",
	.params = params,
	.metrics = metrics,
	.presets = presets,
	.run = khugepaged,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Collapse of hot memory behind cold. */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
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
#include "bench/kthread.h"
#include "bench/thp.h"
#include "bench/tracing.h"

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
#define REASONS	   64 /* the kernel knows about 31 words */

static const struct bench_param params[] = {
	{"size", BENCH_BYTES, "128M", NULL, "memory of each task", .least = 2 << 20,
	 .most = 1LL << 46, .multiple = 2 << 20},
	{"lazy", BENCH_INT, "512", NULL, "pages of each 2 MiB that cold frees lazily (512 = all)",
	 .least = 1, .most = 512},
	{"lazy_run", BENCH_INT, "512", NULL,
	 "length of the runs in which those lie, spread evenly (an allocator frees a few at a "
	 "time)",
	 .least = 1, .most = 512, .added = true},
	{"cold", BENCH_TEXT, "idle", NULL, "what cold does with the pages that it keeps",
	 .choices = "idle|hot", .added = true},
	{"memory", BENCH_TEXT, "anon", NULL,
	 "of the hot tasks: private or shared anonymous, or a file's that is only read",
	 .choices = "anon|shmem|file", .added = true},
	{"dir", BENCH_TEXT, "auto", NULL,
	 "where the file is; auto = /data when that is there, else /var/tmp", .added = true},
	{"trace", BENCH_INT, "1", NULL, "1 = record why khugepaged took or left each range",
	 .least = 0, .most = 1, .added = true},
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
	{"huge_pmds_start", "count", BENCH_NONE, false, false, 1,
	 "huge pages of hot2 before khugepaged is woken"},
	{"scans_per_collapse", "count", BENCH_NONE, false, false, 0.1,
	 "ranges of 2 MiB that were looked at / collapses"},
	{"scan", "count", BENCH_NONE, false, true, 1,
	 "ranges looked at, by the kernel's word for it"},
	{0},
};

/* All but the time to collapse and the huge pages there are in the end. */
static const char *const real_cpus[] = {
	"access_time", "time_to_first_collapse", "cycles_per_access",
	"throughput",  "dtlb_load_misses",	 "khugepaged_time",
	NULL};

static const struct bench_preset presets[] = {
	{"guest", "size=32M limit=10s scan_sleep=50 alloc_sleep=50 accesses=3276800 trace=0",
	 "small emulated guest, about 5 s"},
	{"short", "size=64M limit=15s scan_sleep=100 alloc_sleep=100 accesses=32768000",
	 "at most 20 s"},
	{"s4", "size=128M lazy=512 scan_sleep=1000", "cold has freed all of its memory lazily"},
	{"mixed", "lazy=12 lazy_run=12 cold=hot",
	 "12 lazily freed pages beside 500 hot ones in every 2 MiB"},
	{"allocator", "lazy=128 lazy_run=4 cold=hot",
	 "many short lazily freed runs between hot pages"},
	{0},
};

struct setup {
	size_t size, lazy, lazy_run;
	enum {
		ANON,
		SHMEM,
		READ_FILE
	} memory;
	const char *dir;
	bool cold_is_hot;
};

struct task {
	pid_t pid;
	int ready; /* one byte comes when it stands */
};

/* At a multiple of 2 MiB; the descriptor is not needed afterwards. */
static bool map_fd(int fd, size_t size, int prot, int flags, char **out, struct err *err)
{
	void *place;

	if (!pages_reserve(size, &place, err))
		return false;
	*out = mmap(place, size, prot, flags | MAP_FIXED, fd, 0);
	return *out != MAP_FAILED || err_sys(err, "cannot map %zu bytes", size);
}

static bool map_shmem(size_t size, char **out, struct err *err)
{
	return map_fd(-1, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, out, err);
}

static bool write_all(int fd, size_t size)
{
	AUTO_FREE char *block = xcalloc(1, PMD_SIZE);

	for (size_t at = 0; at < size; at += PMD_SIZE) {
		if (!fs_write_fd(fd, block, PMD_SIZE))
			return false;
	}
	return !fsync(fd);
}

/* khugepaged collapses what may be executed and nobody has open for writing. */
static bool map_file(const char *dir, size_t size, char **out, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/mmperf-khugepaged.XXXXXX", dir);
	int writer = mkostemp(path, O_CLOEXEC);
	AUTO_CLOSE int reader = open(path, O_RDONLY | O_CLOEXEC);
	bool ok = writer >= 0 && write_all(writer, size);

	mem_close_ptr(&writer);
	unlink(path);
	if (!ok || reader < 0)
		return err_sys(err, "cannot make a file of %zu bytes in %s", size, dir);
	return map_fd(reader, size, PROT_READ | PROT_EXEC, MAP_PRIVATE, out, err);
}

static void touch(const struct setup *setup, char *p)
{
	for (size_t at = 0; at < setup->size; at += PAGE) {
		if (setup->memory == READ_FILE)
			(void)*(const volatile char *)(p + at);
		else
			(*(volatile char *)(p + at))++;
	}
}

static bool map_hot(const struct setup *setup, char **out, struct err *err)
{
	size_t size = setup->size;
	char *p = NULL;

	if (setup->memory == ANON    ? !pages_map(size, &p, err)
	    : setup->memory == SHMEM ? !map_shmem(size, &p, err)
				     : !map_file(setup->dir, size, &p, err))
		return false;
	/* Base pages first: only khugepaged may make them huge. */
	(void)madvise(p, size, MADV_NOHUGEPAGE);
	if (setup->memory == READ_FILE)
		touch(setup, p);
	else
		memset(p, 1, size);
	/* Twice: when shared memory is judged by the advice, the kernel looks at the advice from before
	 * this call, and only then makes the process known to khugepaged. */
	for (int i = 0; i < 2; i++) {
		if (madvise(p, size, MADV_HUGEPAGE))
			return err_sys(err,
				       "madvise(MADV_HUGEPAGE) (CONFIG_TRANSPARENT_HUGEPAGE?)");
	}
	*out = p;
	return true;
}

static void be_hot(const struct setup *setup, int ready, char *p)
{
	if (write(ready, "1", 1) != 1)
		_exit(1);
	for (;;) {
		touch(setup, p);
		clock_sleep_s(POLL_S * 4);
	}
}

/* Which of the 512 pages of a range are freed lazily: runs at equal distances. */
static bool is_lazy(const struct setup *setup, size_t page)
{
	size_t runs = (setup->lazy + setup->lazy_run - 1) / setup->lazy_run;
	size_t distance = PMD_SIZE / PAGE / runs, run = page / distance;

	/* The last run may be shorter. */
	return run < runs && page % distance < setup->lazy_run &&
	       run * setup->lazy_run + page % distance < setup->lazy;
}

static bool free_lazily(const struct setup *setup, char *range)
{
	for (size_t i = 0, n; i < PMD_SIZE / PAGE; i += n ? n : 1) {
		for (n = 0; i + n < PMD_SIZE / PAGE && is_lazy(setup, i + n); n++)
			;
		if (n && madvise(range + i * PAGE, n * PAGE, MADV_FREE))
			return false;
	}
	return true;
}

static void touch_kept(const struct setup *setup, char *p)
{
	for (size_t i = 0; i < setup->size / PAGE; i++) {
		if (!is_lazy(setup, i % (PMD_SIZE / PAGE)))
			(*(volatile char *)(p + i * PAGE))++;
	}
}

static void be_cold(const struct setup *setup, int ready, char *p)
{
	for (size_t at = 0; at < setup->size; at += PMD_SIZE) {
		if (!free_lazily(setup, p + at))
			_exit(1);
	}
	if (write(ready, "1", 1) != 1)
		_exit(1);
	while (setup->cold_is_hot) {
		touch_kept(setup, p);
		clock_sleep_s(POLL_S * 4);
	}
	for (;;)
		pause();
}

static _Noreturn void be_task(const struct setup *setup, bool cold, int ready)
{
	struct setup own = *setup;
	struct err err;
	char *p;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* Only anonymous memory can be freed lazily. */
	if (cold)
		own.memory = ANON;
	if (!map_hot(&own, &p, &err)) {
		fprintf(stderr, "khugepaged: %s\n", err.msg);
		_exit(1);
	}
	if (cold)
		be_cold(&own, ready, p);
	be_hot(&own, ready, p);
	_exit(1);
}

static bool start_task(struct task *task, const struct setup *setup, bool cold, struct err *err)
{
	int pipe_fds[2];
	char byte;

	if (pipe(pipe_fds))
		return err_sys(err, "pipe");
	task->pid = fork();
	if (task->pid < 0)
		return err_sys(err, "cannot fork");
	if (!task->pid) {
		close(pipe_fds[0]);
		be_task(setup, cold, pipe_fds[1]);
	}
	close(pipe_fds[1]);
	task->ready = pipe_fds[0];
	while (read(task->ready, &byte, 1) != 1) {
		if (errno != EINTR)
			return err_set(err, ERR_FAILED, "a task could not set up %zu bytes",
				       setup->size);
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

struct progress {
	double first_ns, all_ns; /* < 0: did not happen */
	size_t huge, pmds;
	double wall_s;
};

/* Plays hot2 until all is huge or the limit has passed. */
static bool wait_for_collapse(const struct pages_view *view, const struct setup *setup, char *p,
			      double limit_s, struct progress *out, struct err *err)
{
	size_t size = setup->size;
	uint64_t start = clock_mono_ns();

	*out = (struct progress){-1, -1, 0, size / PMD_SIZE, 0};
	while (out->all_ns < 0 && out->wall_s < limit_s) {
		touch(setup, p);
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
	if (access->enabled_ns) {
		bench_counter(run, "dtlb_enabled_ns", (int64_t)access->enabled_ns);
		bench_counter(run, "dtlb_running_ns", (int64_t)access->running_ns);
	}
}

static void count_reason(struct strs *words, size_t *counts, char *word)
{
	for (size_t i = 0; i < words->n; i++) {
		if (!strcmp(words->v[i], word)) {
			counts[i]++;
			return;
		}
	}
	if (words->n < REASONS) {
		counts[words->n] = 1;
		strs_push(words, word);
	}
}

/* The words become names of metrics: only what those may hold. */
static void clean(char *word)
{
	for (; *word; word++) {
		if (!islower((unsigned char)*word) && !isdigit((unsigned char)*word))
			*word = '_';
	}
}

static void report_scans(struct bench_run *run, const struct strs *lines, int64_t collapses)
{
	AUTO_STRS words = STRS_INIT;
	size_t counts[REASONS], scans = 0;

	for (size_t i = 0; i < lines->n; i++) {
		AUTO_FREE char *word = tracing_field(lines->v[i], "status");

		/* That of files calls it so. */
		if (!word)
			word = tracing_field(lines->v[i], "result");
		if (!word)
			continue;
		clean(word);
		count_reason(&words, counts, word);
		scans++;
	}
	for (size_t i = 0; i < words.n; i++)
		bench_value(run, "scan", words.v[i], (double)counts[i]);
	if (collapses > 0 && scans)
		bench_value(run, "scans_per_collapse", NULL, (double)scans / (double)collapses);
	else
		bench_missing(run, "scans_per_collapse", NULL,
			      scans ? "nothing collapsed" : "no scan was recorded");
}

/* False only in *tracing: what cannot be recorded is told, and the run goes on without. */
static void start_trace(struct bench_run *run, struct tracing *tracing)
{
	static const char *const events[] = {"huge_memory/mm_khugepaged_scan_pmd",
					     "huge_memory/mm_khugepaged_scan_file"};
	struct err err;

	if (!bench_int(run, "trace"))
		return;
	if (tracing_open(tracing, events, ARRAY_SIZE(events), &err) &&
	    tracing_switch(tracing, true, &err))
		return;
	bench_missing(run, "scans_per_collapse", NULL, err.msg);
	tracing_close(tracing);
}

static void end_trace(struct bench_run *run, struct tracing *tracing, int64_t collapses)
{
	AUTO_STRS lines = STRS_INIT;
	struct err err;

	if (!tracing->dir)
		return;
	if (tracing_switch(tracing, false, &err) && tracing_read(tracing, &lines, &err))
		report_scans(run, &lines, collapses);
	else
		bench_missing(run, "scans_per_collapse", NULL, err.msg);
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
static bool measure(struct bench_run *run, const struct setup *setup, const struct pages_view *view,
		    struct knobs *knobs, char *p, struct totals *totals, struct err *err)
{
	double limit_s = bench_float(run, "limit"), cpu_ns = kthread_cpu_ns("khugepaged"), end_ns;
	AUTO_COUNTERS before = COUNTERS_INIT;
	AUTO_COUNTERS after = COUNTERS_INIT;
	AUTO_TRACING tracing = TRACING_INIT;
	struct progress progress;
	struct access_result access;
	int64_t collapses;
	size_t huge;

	if (!pages_count_huge(view, p, setup->size, &huge, err))
		return false;
	bench_value(run, "huge_pmds_start", NULL, (double)huge);
	start_trace(run, &tracing);
	/* Writing scan_sleep_millisecs wakes khugepaged: its phase is that of our clock. */
	if (!counters_read(&before, err) || !bench_phase(run, true, err) ||
	    !knob_set(knobs, KHUGEPAGED "scan_sleep_millisecs", bench_text(run, "scan_sleep"),
		      err) ||
	    !wait_for_collapse(view, setup, p, limit_s, &progress, err) ||
	    !bench_phase(run, false, err) || !counters_read(&after, err))
		return false;
	end_ns = kthread_cpu_ns("khugepaged");
	report_progress(run, &progress, limit_s);
	totals->seconds += progress.wall_s;
	collapses = report_kernel(run, &before, &after,
				  cpu_ns >= 0 && end_ns >= cpu_ns ? end_ns - cpu_ns : -1);
	totals->collapses += collapses;
	end_trace(run, &tracing, collapses);
	access_random(p, setup->size, (uint64_t)bench_int(run, "accesses"), 1, &access);
	report_access(run, &access);
	return knob_set(knobs, KHUGEPAGED "scan_sleep_millisecs", NEVER, err);
}

static bool iterate(struct bench_run *run, const struct setup *setup, const struct pages_view *view,
		    struct knobs *knobs, struct totals *totals, struct err *err)
{
	struct task hot1 = {0, -1}, cold = {0, -1};
	char *p = NULL;
	bool ok = start_task(&hot1, setup, false, err) && start_task(&cold, setup, true, err) &&
		  map_hot(setup, &p, err) && measure(run, setup, view, knobs, p, totals, err);

	end_task(&hot1);
	end_task(&cold);
	if (p)
		munmap(p, setup->size);
	return ok;
}

static bool allow_shmem(struct knobs *knobs, struct err *err)
{
	static const char pmd[] = THP_DIR "/hugepages-2048kB/shmem_enabled";

	return knob_set(knobs, THP_DIR "/shmem_enabled", "advise", err) &&
	       (!fs_exists(pmd) || knob_set(knobs, pmd, "inherit", err));
}

static bool prepare(struct bench_run *run, const struct setup *setup, struct knobs *knobs,
		    struct err *err)
{
	return thp_pmd_by_madvise(knobs, err) &&
	       (setup->memory != SHMEM || allow_shmem(knobs, err)) &&
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
	struct setup setup = {.size = (size_t)bench_int(run, "size"),
			      .lazy = (size_t)bench_int(run, "lazy"),
			      .lazy_run = (size_t)bench_int(run, "lazy_run"),
			      .memory = bench_choice(run, "memory"),
			      .dir = bench_text(run, "dir"),
			      .cold_is_hot = bench_choice(run, "cold") == 1};
	bool ok = prepare(run, &setup, &knobs, err) && pages_view_open(&view, err);

	if (setup.memory == READ_FILE)
		bench_log(run, "pages of files collapse only with CONFIG_READ_ONLY_THP_FOR_FS");
	if (!strcmp(setup.dir, "auto"))
		setup.dir = fs_exists("/data") ? "/data" : "/var/tmp";
	for (long long i = 0; ok && i < bench_int(run, "iterations"); i++)
		ok = iterate(run, &setup, &view, &knobs, &totals, err);
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
	.real_cpus = real_cpus,
	.run = khugepaged,
};

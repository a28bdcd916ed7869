// SPDX-License-Identifier: GPL-2.0-or-later
/* Collapse of hot memory behind cold. */
#include <ctype.h>
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
#include "bench/hotmem.h"
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
#define REST_S	   5.0
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
	{"by", BENCH_TEXT, "khugepaged", NULL,
	 "who makes hot2's memory huge; madvise: hot2 itself, by MADV_COLLAPSE",
	 .choices = "khugepaged|madvise", .added = true},
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
	{"time_to_last_collapse", "ns", BENCH_NONE, false, false, 1e6,
	 "the same until the last one that came within the limit, when not all did, too"},
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
	{"pages_per_collapse", "count", BENCH_NONE, false, false, 1,
	 "pages that khugepaged counted as scanned / collapses (kernels that tell it, 2026)"},
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
	struct hot hot;
	size_t lazy, lazy_run;
	bool cold_is_hot, by_madvise;
};

struct task {
	pid_t pid;
	int ready; /* one byte comes when it stands */
};

static void be_hot(const struct setup *setup, int ready, char *p)
{
	if (write(ready, "1", 1) != 1)
		_exit(1);
	for (;;) {
		hot_touch(&setup->hot, p);
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
	for (size_t i = 0; i < setup->hot.size / PAGE; i++) {
		if (!is_lazy(setup, i % (PMD_SIZE / PAGE)))
			(*(volatile char *)(p + i * PAGE))++;
	}
}

static void be_cold(const struct setup *setup, int ready, char *p)
{
	for (size_t at = 0; at < setup->hot.size; at += PMD_SIZE) {
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
		own.hot.kind = HOT_ANON;
	if (!hot_map(&own.hot, &p, &err)) {
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
				       setup->hot.size);
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
	double first_ns, last_ns, all_ns; /* < 0: did not happen */
	size_t huge, pmds;
	double wall_s;
};

/* Looks at hot2's memory, start being when collapsing began. */
static bool look(const struct pages_view *view, const struct setup *setup, const char *p,
		 uint64_t start, struct progress *progress, struct err *err)
{
	size_t before = progress->huge;

	if (!pages_count_huge(view, p, setup->hot.size, &progress->huge, err))
		return false;
	progress->wall_s = (double)(clock_mono_ns() - start) / 1e9;
	if (progress->huge > before)
		progress->last_ns = progress->wall_s * 1e9;
	if (progress->huge && progress->first_ns < 0)
		progress->first_ns = progress->wall_s * 1e9;
	if (progress->huge == progress->pmds)
		progress->all_ns = progress->wall_s * 1e9;
	return true;
}

/* Plays hot2 until all is huge or the limit has passed. */
static bool wait_for_collapse(const struct pages_view *view, const struct setup *setup, char *p,
			      double limit_s, uint64_t start, struct progress *out, struct err *err)
{
	while (out->all_ns < 0 && out->wall_s < limit_s) {
		hot_touch(&setup->hot, p);
		if (!look(view, setup, p, start, out, err))
			return false;
		if (out->all_ns < 0)
			clock_sleep_s(POLL_S);
	}
	return true;
}

/* hot2 itself, without waiting for khugepaged. A range that is refused is left out, as it would be there. */
static bool collapse_all(const struct pages_view *view, const struct setup *setup, char *p,
			 struct progress *out, struct err *err)
{
	uint64_t start = clock_mono_ns();

	for (size_t at = 0; at < setup->hot.size; at += PMD_SIZE) {
		bool done = hot_collapse(p + at);
		double now_ns = (double)(clock_mono_ns() - start);

		if (done && out->first_ns < 0)
			out->first_ns = now_ns;
		if (done)
			out->last_ns = now_ns;
	}
	out->wall_s = (double)(clock_mono_ns() - start) / 1e9;
	/* What it came to is read from the page tables, here as there. */
	if (!pages_count_huge(view, p, setup->hot.size, &out->huge, err))
		return false;
	if (out->huge == out->pmds)
		out->all_ns = out->last_ns;
	return true;
}

static void report_progress(struct bench_run *run, const struct setup *setup,
			    const struct progress *progress)
{
	AUTO_FREE char *within = setup->by_madvise
					 ? xstrdup("by MADV_COLLAPSE")
					 : xasprintf("within %g s", bench_float(run, "limit"));
	AUTO_FREE char *reason =
		xasprintf("%zu of %zu huge pages %s", progress->huge, progress->pmds, within);

	bench_value(run, "huge_pmds", NULL, (double)progress->huge);
	if (progress->first_ns >= 0)
		bench_value(run, "time_to_first_collapse", NULL, progress->first_ns);
	else
		bench_missing(run, "time_to_first_collapse", NULL, reason);
	if (progress->last_ns >= 0)
		bench_value(run, "time_to_last_collapse", NULL, progress->last_ns);
	else
		bench_missing(run, "time_to_last_collapse", NULL, reason);
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

static void tell_per_collapse(struct bench_run *run, const char *metric, double n,
			      int64_t collapses, const char *none)
{
	if (n > 0 && collapses > 0)
		bench_value(run, metric, NULL, n / (double)collapses);
	else
		bench_missing(run, metric, NULL, n > 0 ? "nothing collapsed" : none);
}

static void report_scans(struct bench_run *run, const struct strs *lines, int64_t collapses)
{
	AUTO_STRS words = STRS_INIT;
	size_t counts[REASONS], scans = 0;
	double pages = 0;

	for (size_t i = 0; i < lines->n; i++) {
		AUTO_FREE char *word = tracing_field(lines->v[i], "status");
		AUTO_FREE char *progress = tracing_field(lines->v[i], "progress");

		if (progress)
			pages += strtod(progress, NULL);
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
	tell_per_collapse(run, "scans_per_collapse", (double)scans, collapses,
			  "no scan was recorded");
	tell_per_collapse(run, "pages_per_collapse", pages, collapses,
			  "this kernel does not tell its progress (event mm_khugepaged_scan)");
}

static void no_trace(struct bench_run *run, const char *why)
{
	bench_missing(run, "scans_per_collapse", NULL, why);
	bench_missing(run, "pages_per_collapse", NULL, why);
}

/* False only in *tracing: what cannot be recorded is told, and the run goes on without. */
static void start_trace(struct bench_run *run, struct tracing *tracing)
{
	static const char *const events[] = {"huge_memory/mm_khugepaged_scan_pmd",
					     "huge_memory/mm_khugepaged_scan_file",
					     "huge_memory/mm_khugepaged_scan"};
	struct err err;

	if (!bench_int(run, "trace"))
		return;
	if (tracing_open(tracing, events, ARRAY_SIZE(events), &err) &&
	    tracing_switch(tracing, true, &err))
		return;
	no_trace(run, err.msg);
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
		no_trace(run, err.msg);
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

/* Writing scan_sleep_millisecs wakes khugepaged: its phase is that of our clock. */
static bool collapse(struct bench_run *run, const struct setup *setup,
		     const struct pages_view *view, struct knobs *knobs, char *p,
		     struct progress *out, struct err *err)
{
	uint64_t start = clock_mono_ns();

	if (setup->by_madvise)
		return collapse_all(view, setup, p, out, err);
	return knob_set(knobs, KHUGEPAGED "scan_sleep_millisecs", bench_text(run, "scan_sleep"),
			err) &&
	       wait_for_collapse(view, setup, p, bench_float(run, "limit"), start, out, err);
}

/* The tasks stand and khugepaged sleeps: has hot2's memory collapsed, watches, loads. */
static bool measure(struct bench_run *run, const struct setup *setup, const struct pages_view *view,
		    struct knobs *knobs, char *p, struct totals *totals, struct err *err)
{
	double cpu_ns = kthread_cpu_ns("khugepaged"), end_ns;
	AUTO_COUNTERS before = COUNTERS_INIT;
	AUTO_COUNTERS after = COUNTERS_INIT;
	AUTO_TRACING tracing = TRACING_INIT;
	struct progress progress = {-1, -1, -1, 0, setup->hot.size / PMD_SIZE, 0};
	struct access_result access;
	int64_t collapses;
	size_t huge;

	/* It also wakes when the first process becomes known to it, and may be in a round from before. */
	if (!kthread_await_rest("khugepaged", REST_S))
		bench_log(run, "khugepaged has not come to rest within %g s", REST_S);
	if (!pages_count_huge(view, p, setup->hot.size, &huge, err))
		return false;
	bench_value(run, "huge_pmds_start", NULL, (double)huge);
	progress.huge = huge;
	start_trace(run, &tracing);
	if (!counters_read(&before, err) || !bench_phase(run, true, err) ||
	    !collapse(run, setup, view, knobs, p, &progress, err) ||
	    !bench_phase(run, false, err) || !counters_read(&after, err))
		return false;
	end_ns = kthread_cpu_ns("khugepaged");
	report_progress(run, setup, &progress);
	totals->seconds += progress.wall_s;
	collapses = report_kernel(run, &before, &after,
				  cpu_ns >= 0 && end_ns >= cpu_ns ? end_ns - cpu_ns : -1);
	if (setup->by_madvise)
		collapses = (int64_t)progress.huge - (int64_t)huge;
	totals->collapses += collapses;
	end_trace(run, &tracing, collapses);
	access_random(p, setup->hot.size, (uint64_t)bench_int(run, "accesses"), 1, &access);
	report_access(run, &access);
	return knob_set(knobs, KHUGEPAGED "scan_sleep_millisecs", NEVER, err);
}

static bool iterate(struct bench_run *run, const struct setup *setup, const struct pages_view *view,
		    struct knobs *knobs, struct totals *totals, struct err *err)
{
	struct task hot1 = {0, -1}, cold = {0, -1};
	char *p = NULL;
	bool ok = start_task(&hot1, setup, false, err) && start_task(&cold, setup, true, err) &&
		  hot_map(&setup->hot, &p, err) && measure(run, setup, view, knobs, p, totals, err);

	end_task(&hot1);
	end_task(&cold);
	if (p)
		munmap(p, setup->hot.size);
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
	       (setup->hot.kind != HOT_SHMEM || allow_shmem(knobs, err)) &&
	       knob_set(knobs, KHUGEPAGED "scan_sleep_millisecs", NEVER, err) &&
	       knob_set(knobs, KHUGEPAGED "alloc_sleep_millisecs", bench_text(run, "alloc_sleep"),
			err) &&
	       knob_set(knobs, KHUGEPAGED "pages_to_scan", bench_text(run, "pages_to_scan"), err) &&
	       thp_max_ptes_none(knobs, bench_text(run, "max_ptes_none"), err);
}

/* Instead of waiting for what never comes. */
static void report_refused(struct bench_run *run, const char *why)
{
	for (const struct bench_metric *m = metrics; m->name; m++) {
		if (!m->family)
			bench_missing(run, m->name, NULL, why);
	}
}

static bool khugepaged(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	struct pages_view view = {-1, -1, false};
	struct totals totals = {0, 0};
	struct setup setup = {.hot = {.kind = (enum hot_kind)bench_choice(run, "memory"),
				      .size = (size_t)bench_int(run, "size"),
				      .dir = bench_text(run, "dir")},
			      .lazy = (size_t)bench_int(run, "lazy"),
			      .lazy_run = (size_t)bench_int(run, "lazy_run"),
			      .cold_is_hot = bench_choice(run, "cold") == 1,
			      .by_madvise = bench_choice(run, "by") == 1};
	const char *why = NULL;
	bool ok = prepare(run, &setup, &knobs, err) && pages_view_open(&view, err);

	if (!strcmp(setup.hot.dir, "auto"))
		setup.hot.dir = fs_exists("/data") ? "/data" : "/var/tmp";
	if (ok && setup.hot.kind != HOT_ANON)
		ok = hot_refused(&setup.hot, &why, err);
	if (ok && why)
		report_refused(run, why);
	for (long long i = 0; ok && !why && i < bench_int(run, "iterations"); i++)
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

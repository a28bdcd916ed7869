// SPDX-License-Identifier: GPL-2.0-or-later
/* Huge faults into fragmented memory. */
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <linux/magic.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "bench/bench_run.h"
#include "bench/benchmarks.h"
#include "bench/counters.h"
#include "bench/freemem.h"
#include "bench/kthread.h"
#include "bench/numa.h"
#include "bench/thp.h"

/*
 * The procedure is that of thpscale (mmtests until 2023): huge pages are filled and half of each
 * is given back; file pages fill the holes; then all threads fault regions of 2 MiB at once, each
 * touched and filled. Differences: what served a region is read from the page tables (mincore
 * takes any large folio for a huge page); nothing is reported where nothing was measured; ns.
 */
#define PAGE	      ((size_t)4096)
#define HALF_PMD      (PMD_SIZE / 2)
#define BUCKETS	      40
#define ROUND_TO      ((long long)64 << 20)
/* In shares of free memory. Natively with 24 GB the starts of one process differed by 0.001; with 96 MB
 * free in a guest the second one was 0.17 away from the first, and that has to be told. */
#define SAME_START    0.1
#define BALLAST_TRIES 4
#define BALLAST_SHORT 0.05 /* of the memory to leave */
#define NODES	      "/sys/devices/system/node"
#define DATA_DIR      "/data"
#define DATA_FILE     DATA_DIR "/compaction.dat"

static const struct bench_param params[] = {
	{"threads", BENCH_TEXT, "auto", NULL,
	 "numbers of threads, one after the other; auto = 1,3,5,7,12,18,24,30,32 up to 4 x CPUs",
	 .choices = NULL},
	{"memory", BENCH_TEXT, "all", NULL,
	 "free memory to leave for the test; the rest becomes hugetlb ballast; or all",
	 .choices = NULL},
	{"size", BENCH_TEXT, "auto", NULL, "memory to fragment; auto = 80 % of memory",
	 .choices = NULL},
	{"file", BENCH_TEXT, "auto", NULL,
	 "file whose pages fill the holes (made when absent), on a disk; auto = " DATA_FILE
	 " when " DATA_DIR " is mounted; none = holes stay free",
	 .choices = NULL},
	{"first", BENCH_TEXT, "huge", NULL, "what is fragmented: huge pages or base pages",
	 .choices = "huge|base"},
	{"node", BENCH_INT, "-1", NULL, "memory and ballast only of this node (-1 = all)",
	 .least = -1, .most = 1023, .added = true},
	{"madvise", BENCH_INT, "1", NULL, "1 = MADV_HUGEPAGE on the faulted regions", .least = 0,
	 .most = 1},
	{"iterations", BENCH_INT, "1", NULL, "values reported per number of threads", .least = 1,
	 .most = 100000},
	{0},
};

static const struct bench_metric metrics[] = {
	{"fault_both", "ns", BENCH_LOWER, true, true, 1000,
	 "mean time to touch and fill a region of 2 MiB, with N threads"},
	{"fault_huge", "ns", BENCH_LOWER, false, true, 1000, "regions served by a huge page"},
	{"fault_base", "ns", BENCH_LOWER, false, true, 1000, "regions served by smaller pages"},
	{"percentage_huge", "ratio", BENCH_HIGHER, false, true, 0.01,
	 "regions served by a huge page / regions"},
	{"unusable_free", "ratio", BENCH_NONE, false, true, 0.01,
	 "just before: free memory that is not in free blocks of 2 MiB / free memory"},
	{"kcompactd_time", "ns", BENCH_NONE, false, true, 1e6, "CPU time of kcompactd meanwhile"},
	{0},
};

static const struct bench_preset presets[] = {
	{"guest", "threads=2 first=base memory=224M size=160M", "small emulated guest, under 15 s"},
	{0},
};

struct fault {
	uint64_t ns;
	bool huge;
};

struct step {
	pthread_barrier_t ready, go, end;
	size_t thread_size, regions; /* per thread */
	int file;		     /* -1 = none */
	bool first_huge, advise;
	struct pages_view view;
};

struct worker {
	pthread_t thread;
	struct step *step;
	unsigned index;
	char *first, *second, *cache;
	struct fault *faults;
	bool failed;
	struct err err;
};

static bool map_anon(size_t size, bool advise, char **out, struct err *err)
{
	if (!pages_map(size, out, err))
		return false;
	/* Advice that a kernel without huge pages refuses changes nothing there. */
	(void)madvise(*out, size, advise ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
	return true;
}

static bool fragment(struct worker *worker)
{
	const struct step *step = worker->step;

	if (!map_anon(step->thread_size, step->first_huge, &worker->first, &worker->err))
		return false;
	memset(worker->first, 1, step->thread_size);
	for (size_t at = 0; at < step->thread_size; at += PMD_SIZE) {
		if (munmap(worker->first + at, HALF_PMD))
			return err_sys(&worker->err, "munmap (vm.max_map_count?)");
	}
	return map_anon(step->regions * PMD_SIZE, step->advise, &worker->second, &worker->err);
}

static bool fill_cache(struct worker *worker)
{
	const struct step *step = worker->step;
	size_t size = step->thread_size / 4 / PAGE * PAGE;
	unsigned sum = 0;

	if (step->file < 0 || !size)
		return true;
	worker->cache =
		mmap(NULL, size, PROT_READ, MAP_SHARED, step->file, (off_t)(size * worker->index));
	if (worker->cache == MAP_FAILED) {
		worker->cache = NULL;
		return err_sys(&worker->err, "cannot map the file");
	}
	for (size_t at = 0; at < size; at += PAGE)
		sum += *(volatile unsigned char *)(worker->cache + at);
	return sum || true;
}

static void fault_regions(struct worker *worker)
{
	const struct step *step = worker->step;

	for (size_t i = 0; i < step->regions; i++) {
		char *region = worker->second + i * PMD_SIZE;
		uint64_t t0 = clock_mono_ns();

		*(volatile char *)region = 1;
		memset(region, 2, PMD_SIZE);
		worker->faults[i].ns = clock_mono_ns() - t0;
	}
}

/* Afterwards, since looking takes the lock that faults take. Nothing splits or collapses meanwhile:
 * khugepaged sleeps, and filled anonymous memory without swap is not reclaimed. */
static bool look_at_regions(struct worker *worker, struct err *err)
{
	const struct step *step = worker->step;

	for (size_t i = 0; i < step->regions; i++) {
		if (!pages_is_huge(&step->view, worker->second + i * PMD_SIZE,
				   &worker->faults[i].huge, err))
			return false;
	}
	return true;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct step *step = worker->step;

	worker->failed = !fragment(worker) || !fill_cache(worker);
	pthread_barrier_wait(&step->ready);
	pthread_barrier_wait(&step->go);
	if (!worker->failed)
		fault_regions(worker);
	pthread_barrier_wait(&step->end);
	return NULL;
}

static void unmap_all(const struct step *step, struct worker *workers, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (workers[i].first)
			munmap(workers[i].first, step->thread_size);
		if (workers[i].second)
			munmap(workers[i].second, step->regions * PMD_SIZE);
		if (workers[i].cache)
			munmap(workers[i].cache, step->thread_size / 4 / PAGE * PAGE);
		free(workers[i].faults);
	}
}

struct kind {
	double sum_ns;
	size_t n;
	uint64_t buckets[BUCKETS];
};

static void add_fault(struct kind *kind, uint64_t ns)
{
	size_t bucket = ns ? (size_t)log2((double)ns) : 0;

	kind->sum_ns += (double)ns;
	kind->n++;
	kind->buckets[bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

static void report_kind(struct bench_run *run, const char *metric, const char *suffix,
			const struct kind *kind, const char *none)
{
	if (!kind->n) {
		bench_missing(run, metric, suffix, none);
		return;
	}
	bench_value(run, metric, suffix, kind->sum_ns / (double)kind->n);
	bench_histogram(run, metric, suffix, kind->buckets, BUCKETS);
}

static void report(struct bench_run *run, const char *suffix, const struct step *step,
		   const struct worker *workers, size_t n)
{
	struct kind base = {0}, huge = {0}, both = {0};

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < step->regions; k++) {
			const struct fault *fault = &workers[i].faults[k];

			add_fault(fault->huge ? &huge : &base, fault->ns);
			add_fault(&both, fault->ns);
		}
	}
	report_kind(run, "fault_base", suffix, &base, "every region was served by a huge page");
	report_kind(run, "fault_huge", suffix, &huge, "no region was served by a huge page");
	report_kind(run, "fault_both", suffix, &both, "no regions");
	if (both.n)
		bench_value(run, "percentage_huge", suffix, (double)huge.n / (double)both.n);
}

static void report_counters(struct bench_run *run, const char *suffix,
			    const struct counters *before, const struct counters *after)
{
	static const char *const names[] = {
		"compact_stall",	   "compact_success",	   "compact_fail",
		"compact_migrate_scanned", "compact_free_scanned", "pgmigrate_success",
		"thp_fault_fallback",	   "thp_fault_alloc",	   "thp_deferred_split_page",
		"thp_split_page"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		AUTO_FREE char *name = xasprintf("%s-%s", names[i], suffix);
		int64_t delta;

		if (counters_delta(before, after, names[i], &delta))
			bench_counter(run, name, delta);
	}
}

static void report_nothing(struct bench_run *run, const char *suffix)
{
	static const char *const names[] = {"fault_both", "fault_huge", "fault_base",
					    "percentage_huge"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		bench_missing(run, names[i], suffix,
			      "no compaction happened (compact_stall did not rise)");
}

struct totals {
	uint64_t operations;
	unsigned most_threads;
	double thread_s;
	double start_unusable; /* of the first run; < 0 = none yet */
};

static void count_state(struct bench_run *run, const char *prefix, const char *suffix,
			const struct freemem *mem)
{
	const struct {
		const char *name;
		int64_t value;
	} counts[] = {{"free_pages", mem->pages},
		      {"free_huge_pages", mem->huge_pages / (int64_t)(PMD_SIZE / PAGE)},
		      {"pageblocks_unmovable", mem->unmovable},
		      {"pageblocks_movable", mem->movable},
		      {"pageblocks_reclaimable", mem->reclaimable}};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		AUTO_FREE char *name = xasprintf("%s%s-%s", prefix, counts[i].name, suffix);

		if (counts[i].value >= 0)
			bench_counter(run, name, counts[i].value);
	}
}

/* What the run starts from, when caches are dropped and nothing is mapped. Runs that start elsewhere
 * than the first one are marked, not thrown away. */
static bool check_start(struct bench_run *run, const char *suffix, struct totals *totals,
			struct err *err)
{
	AUTO_FREE char *mark = xasprintf("other_start-%s", suffix);
	struct freemem mem;
	double unusable;

	if (!freemem_read(&mem, bench_int(run, "node"), err))
		return false;
	count_state(run, "start_", suffix, &mem);
	unusable = freemem_unusable(&mem);
	if (totals->start_unusable < 0)
		totals->start_unusable = unusable;
	if (fabs(unusable - totals->start_unusable) <= SAME_START)
		return true;
	bench_counter(run, mark, 1);
	bench_log(run,
		  "%s threads start with %.0f %% of free memory in pieces, the first run did with "
		  "%.0f %%",
		  suffix, unusable * 100, totals->start_unusable * 100);
	return true;
}

/* The fragmentation that was made. */
static bool report_state(struct bench_run *run, const char *suffix, struct err *err)
{
	struct freemem mem;

	if (!freemem_read(&mem, bench_int(run, "node"), err))
		return false;
	count_state(run, "", suffix, &mem);
	bench_value(run, "unusable_free", suffix, freemem_unusable(&mem));
	return true;
}

static void report_kcompactd(struct bench_run *run, const char *suffix, double before, double after)
{
	if (before >= 0 && after >= before)
		bench_value(run, "kcompactd_time", suffix, after - before);
	else
		bench_missing(run, "kcompactd_time", suffix, "no thread kcompactd in /proc");
}

/* All threads have arrived at `ready`; lets them fault, and tells what came of it. */
static bool fault_phase(struct bench_run *run, struct step *step, struct worker *workers, size_t n,
			struct totals *totals, struct err *err)
{
	AUTO_FREE char *suffix = xasprintf("%zu", n);
	AUTO_COUNTERS before = COUNTERS_INIT;
	AUTO_COUNTERS after = COUNTERS_INIT;
	double kcompactd_ns = kthread_cpu_ns("kcompactd"), kcompactd_end_ns;
	bool ok = report_state(run, suffix, err) && counters_read(&before, err) &&
		  bench_phase(run, true, err);
	double wall_s = clock_mono_s();
	int64_t stalls = 0;

	pthread_barrier_wait(&step->go);
	pthread_barrier_wait(&step->end);
	wall_s = clock_mono_s() - wall_s;
	ok = ok && bench_phase(run, false, err) && counters_read(&after, err);
	kcompactd_end_ns = kthread_cpu_ns("kcompactd");
	for (size_t i = 0; i < n && ok; i++) {
		if (workers[i].failed)
			ok = err_set(err, ERR_FAILED, "thread %zu of %zu: %.900s", i + 1, n,
				     workers[i].err.msg);
		else
			ok = look_at_regions(&workers[i], err);
	}
	if (!ok)
		return false;
	totals->operations += step->regions * n;
	totals->thread_s += wall_s * (double)n;
	report_counters(run, suffix, &before, &after);
	report_kcompactd(run, suffix, kcompactd_ns, kcompactd_end_ns);
	if (counters_delta(&before, &after, "compact_stall", &stalls) && stalls > 0)
		report(run, suffix, step, workers, n);
	else
		report_nothing(run, suffix);
	return true;
}

static void flush_memory(void)
{
	struct err ignored;

	sync();
	(void)!fs_poke("/proc/sys/vm/drop_caches", "3", &ignored);
	(void)!fs_poke("/proc/sys/vm/compact_memory", "1", &ignored);
}

static bool run_threads(struct bench_run *run, struct step *step, size_t n, struct totals *totals,
			struct err *err)
{
	AUTO_FREE struct worker *workers = xcalloc(n, sizeof(*workers));
	AUTO_FREE char *suffix = xasprintf("%zu", n);
	bool ok;

	/* Every number of threads starts from clean caches and joined free memory. */
	flush_memory();
	if (!check_start(run, suffix, totals, err))
		return false;
	pthread_barrier_init(&step->ready, NULL, (unsigned)n + 1);
	pthread_barrier_init(&step->go, NULL, (unsigned)n + 1);
	pthread_barrier_init(&step->end, NULL, (unsigned)n + 1);
	for (size_t i = 0; i < n; i++) {
		workers[i].step = step;
		workers[i].index = (unsigned)i;
		workers[i].faults = xcalloc(step->regions, sizeof(*workers[i].faults));
		/* Threads that did start wait at a barrier for ever: only the process can end. */
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return err_sys(err, "cannot start thread %zu of %zu", i + 1, n);
	}
	pthread_barrier_wait(&step->ready);
	ok = fault_phase(run, step, workers, n, totals, err);
	for (size_t i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	unmap_all(step, workers, n);
	return ok;
}

/* Pages of ramfs are not movable, those of tmpfs go to swap. */
static bool in_memory(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC);
}

/* Its content does not matter, only that it has blocks on the disk. */
static bool open_file(const char *path, size_t size, int *fd, struct err *err)
{
	AUTO_CLOSE int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	AUTO_FREE char *block = xcalloc(1, PMD_SIZE);
	struct stat st;

	if (file < 0 || fstat(file, &st))
		return err_sys(err, "cannot open %s", path);
	if (in_memory(file))
		return err_set(
			err, ERR_USAGE,
			"--file: %s is on a memory file system, whose pages cannot fill holes as "
			"page cache does; name a file on a disk, or none",
			path);
	memset(block, 0x5a, PMD_SIZE);
	if (st.st_size < (off_t)size) {
		for (size_t at = 0; at < size; at += PMD_SIZE) {
			if (pwrite(file, block, PMD_SIZE, (off_t)at) != (ssize_t)PMD_SIZE)
				return err_sys(err, "cannot write %zu bytes to %s", size, path);
		}
		if (fsync(file))
			return err_sys(err, "cannot write %s", path);
	}
	*fd = TAKE_FD(file);
	return true;
}

static char *auto_threads(void)
{
	AUTO_STR list = str_new();
	long most = sysconf(_SC_NPROCESSORS_ONLN) * 4;

	if (most > 32)
		most = 32;
	for (long n = 1; n < most; n += n < 7 ? 2 : n < 12 ? 5 : 6)
		str_addf(&list, "%ld,", n);
	str_addf(&list, "%ld", most);
	return str_take(&list);
}

static bool is_mounted(const char *dir)
{
	struct stat here, above;

	return !stat(dir, &here) && !stat("/", &above) && here.st_dev != above.st_dev;
}

static bool check_threads(const char *text, struct err *err)
{
	AUTO_STRS list = STRS_INIT;
	long long n;

	strs_split(&list, text, ",");
	for (size_t i = 0; i < list.n; i++) {
		if (!str_to_i64(list.v[i], &n) || n < 1 || n > 4096)
			return err_set(err, ERR_USAGE,
				       "--threads: \"%s\" should be auto or numbers such as 1,3,5",
				       text);
	}
	return list.n || err_set(err, ERR_USAGE, "--threads: no number");
}

static bool settle(struct bench_run *run, struct err *err)
{
	AUTO_FREE char *threads = auto_threads();
	long long bytes = (long long)sysconf(_SC_PHYS_PAGES) * (long long)PAGE;
	AUTO_FREE char *size = NULL;

	if (!strcmp(bench_text(run, "threads"), "auto") &&
	    !bench_run_set(run, "threads", threads, err))
		return false;
	if (!check_threads(bench_text(run, "threads"), err))
		return false;
	if (!strcmp(bench_text(run, "file"), "auto") &&
	    !bench_run_set(run, "file", is_mounted(DATA_DIR) ? DATA_FILE : "none", err))
		return false;
	if (strcmp(bench_text(run, "memory"), "all") != 0 &&
	    !str_to_bytes(bench_text(run, "memory"), &bytes))
		return err_set(err, ERR_USAGE, "memory \"%s\" should be all or a size such as 4G",
			       bench_text(run, "memory"));
	/* Rounded, so that a kernel that is a page larger does not make another series. */
	bytes = bytes / 10 * 8 / ROUND_TO * ROUND_TO;
	if (strcmp(bench_text(run, "size"), "auto") != 0 &&
	    !str_to_bytes(bench_text(run, "size"), &bytes))
		return err_set(err, ERR_USAGE, "size \"%s\" should be auto or a size such as 512M",
			       bench_text(run, "size"));
	size = xasprintf("%lldM", bytes >> 20);
	return bench_run_set(run, "size", size, err);
}

/* "MemFree:" in /proc/meminfo, or "Node 0 MemFree:" in that of a node. */
static bool free_bytes(long long node, long long *out, struct err *err)
{
	AUTO_FREE char *of_node = xasprintf(NODES "/node%lld/meminfo", node);
	AUTO_STR info = str_new();
	const char *line;

	if (!fs_read(node < 0 ? "/proc/meminfo" : of_node, 65536, &info, err))
		return err_wrap(err, "free memory");
	line = strstr(info.s, "MemFree:");
	*out = line ? strtoll(line + strlen("MemFree:"), NULL, 10) * 1024 : 0;
	return true;
}

/* The kernel gives what it finds at once, and finds more when asked again. */
static bool ask_for_pages(struct knobs *knobs, const char *path, const char *pages, struct err *err)
{
	for (int i = 0; i < BALLAST_TRIES; i++) {
		if (knob_set(knobs, path, pages, err))
			return true;
		flush_memory();
	}
	return false;
}

/* Compaction is per zone: a memory cgroup would measure reclaim instead. */
static bool set_ballast(struct bench_run *run, struct knobs *knobs, struct err *err)
{
	const char *memory = bench_text(run, "memory");
	long long node = bench_int(run, "node"), leave, spare = 0;
	AUTO_FREE char *of_node =
		xasprintf(NODES "/node%lld/hugepages/hugepages-2048kB/nr_hugepages", node);
	AUTO_FREE char *pages = NULL;
	struct err why;

	if (!strcmp(memory, "all"))
		return true;
	flush_memory();
	if (!str_to_bytes(memory, &leave) || !free_bytes(node, &spare, err))
		return false;
	if (spare < leave)
		return err_set(err, ERR_FAILED, "--memory %s: only %lld MB are free", memory,
			       spare >> 20);
	pages = xasprintf("%lld", (spare - leave) / (long long)PMD_SIZE);
	if (ask_for_pages(knobs, node < 0 ? "/proc/sys/vm/nr_hugepages" : of_node, pages, &why))
		return true;
	/* A few pages short are told by the state that each run starts from. */
	if (!free_bytes(node, &spare, err))
		return false;
	if ((double)spare <= (double)leave * (1 + BALLAST_SHORT))
		return true;
	return err_set(err, ERR_FAILED, "ballast: %lld MB stay free instead of %lld: %.400s",
		       spare >> 20, leave >> 20, why.msg);
}

static bool prepare(struct bench_run *run, struct step *step, size_t size, struct knobs *knobs,
		    struct err *err)
{
	const char *file = bench_text(run, "file");
	AUTO_FREE char *maps = xasprintf("%zu", size / PMD_SIZE * 4);

	step->first_huge = !bench_choice(run, "first");
	step->advise = bench_int(run, "madvise") != 0;
	if (!strcmp(file, "none"))
		bench_log(run, "no file: holes stay free instead of being filled by page cache");
	else if (!open_file(file, size / 4 + PMD_SIZE, &step->file, err))
		return false;
	if (!thp_pmd_by_madvise(knobs, err) ||
	    !knob_set(knobs, THP_DIR "/khugepaged/scan_sleep_millisecs", "3600000", err))
		return false;
	if (size / PMD_SIZE * 4 > 65530 &&
	    !knob_set(knobs, "/proc/sys/vm/max_map_count", maps, err))
		return false;
	return pages_view_open(&step->view, err) && set_ballast(run, knobs, err) &&
	       numa_bind(bench_int(run, "node"), err);
}

static bool run_list(struct bench_run *run, struct step *step, size_t size, struct err *err)
{
	AUTO_STRS list = STRS_INIT;
	struct totals totals = {.start_unusable = -1};

	strs_split(&list, bench_text(run, "threads"), ",");
	for (long long i = 0; i < bench_int(run, "iterations"); i++) {
		for (size_t k = 0; k < list.n; k++) {
			long long n = strtoll(list.v[k], NULL, 10);

			step->thread_size = size / (size_t)n / PMD_SIZE * PMD_SIZE;
			step->regions = step->thread_size / PMD_SIZE / 2;
			if (!step->regions)
				return err_set(err, ERR_USAGE,
					       "size %zu is too small for %lld threads", size, n);
			if (totals.most_threads < n)
				totals.most_threads = (unsigned)n;
			if (!run_threads(run, step, (size_t)n, &totals, err))
				return false;
		}
	}
	/* Seconds as if the largest number of threads had run all the time: threads x seconds is
	 * then the time that threads spent. */
	bench_total(run, totals.operations, totals.most_threads,
		    totals.most_threads ? totals.thread_s / totals.most_threads : 0);
	return true;
}

static bool compaction(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	struct step step = {.file = -1, .view = {-1, -1, false}};
	long long size = 0;
	bool ok;

	if (!str_to_bytes(bench_text(run, "size"), &size) || size <= 0)
		return err_set(err, ERR_USAGE, "size should be at least 64M");
	ok = prepare(run, &step, (size_t)size, &knobs, err) &&
	     run_list(run, &step, (size_t)size, err);
	mem_close_ptr(&step.file);
	pages_view_close(&step.view);
	return ok;
}

const struct bench bench_compaction = {
	.name = "compaction",
	.version = 1,
	.about = "threads fault 2 MiB regions into fragmented memory (the thpscale procedure)",
	.params = params,
	.metrics = metrics,
	.presets = presets,
	.settle = settle,
	.run = compaction,
};

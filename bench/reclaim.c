// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages out and in again. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "bench/agent_child.h"
#include "bench/benchmarks.h"
#include "bench/memcg_nest.h"
#include "bench/swapfile.h"
#include "bench/thp.h"

#define PAGEOUT 21 /* MADV_PAGEOUT of linux/mman.h (5.4) */

static const struct bench_param params[] = {
	{"size", BENCH_BYTES, "64M", NULL, "memory that is reclaimed at once", .least = 4096,
	 .most = 1LL << 40, .multiple = 4096},
	{"memory", BENCH_TEXT, "file", NULL,
	 "clean pages of a file, or anonymous ones, which go to a swap file made for it",
	 .choices = "file|anon"},
	{"dir", BENCH_TEXT, "auto", NULL,
	 "where the file is, on a disk; auto = /data when that is there, else /var/tmp",
	 .choices = NULL},
	{"page_cluster", BENCH_TEXT, "inherit", NULL, "vm.page-cluster: swap-in readahead, log2",
	 .choices = "inherit|0|1|2|3|4|5"},
	{"iterations", BENCH_INT, "5", NULL, "values reported; a warm-up is added", .least = 1,
	 .most = 1000000},
	{0},
};

static const struct bench_metric metrics[] = {
	{"reclaim_time", "ns", BENCH_LOWER, true, false, 1,
	 "madvise(MADV_PAGEOUT) / pages that it took away"},
	{"refault_time", "ns", BENCH_LOWER, true, false, 1,
	 "reading all pages again / pages that had been taken away"},
	{"reclaimed", "ratio", BENCH_NONE, false, false, 0.01, "pages taken away / pages"},
	{"major_faults", "ratio", BENCH_NONE, false, false, 0.001,
	 "reads that waited for the disk / pages taken away; the others found readahead, or pages "
	 "that "
	 "the swap cache still had"},
	{"warmup_reclaim_time", "ns", BENCH_NONE, false, false, 1, "reclaim_time of the warm-up"},
	{0},
};

struct target {
	char *p;
	size_t size, pages;
	bool anon;
	unsigned char *map; /* of mincore(2) */
	uint64_t *entries;  /* of /proc/self/pagemap */
	int pagemap;
	const char *memcg; /* NULL = none of our own */
};

/* In memory, be it only in the swap cache. */
static size_t in_memory(const struct target *t)
{
	size_t n = 0;

	if (mincore(t->p, t->size, t->map))
		return 0;
	for (size_t i = 0; i < t->pages; i++)
		n += t->map[i] & 1;
	return n;
}

/* Anonymous pages are gone when their entry says so, though a copy may wait in the swap cache. */
static size_t left(const struct target *t)
{
	off_t at = (off_t)((uintptr_t)t->p / 4096 * sizeof(*t->entries));
	size_t n = 0;

	if (!t->anon)
		return in_memory(t);
	if (pread(t->pagemap, t->entries, t->pages * sizeof(*t->entries), at) < 0)
		return 0;
	for (size_t i = 0; i < t->pages; i++)
		n += t->entries[i] >> 63;
	return n;
}

/* Written pages stay in the swap cache until someone wants memory: the group's limit does. */
static void empty_swap_cache(const struct target *t)
{
	AUTO_FREE char *path = xasprintf("%s/memory.reclaim", t->memcg ? t->memcg : "");
	AUTO_FREE char *bytes = xasprintf("%zu", t->size);
	struct err ignored;

	for (int i = 0; t->memcg && i < 40 && in_memory(t) > t->pages / 100; i++) {
		(void)!fs_poke(path, bytes, &ignored);
		clock_sleep_s(0.025);
	}
}

static bool fill_file(int fd, size_t size)
{
	AUTO_FREE char *block = xcalloc(1, PMD_SIZE);

	memset(block, 3, PMD_SIZE);
	for (size_t at = 0; at < size; at += PMD_SIZE) {
		if (!fs_write_fd(fd, block, size - at < PMD_SIZE ? size - at : PMD_SIZE))
			return false;
	}
	return !fsync(fd);
}

static bool map_file(const char *dir, size_t size, char **out, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/mmperf-reclaim.XXXXXX", dir);
	AUTO_CLOSE int fd = mkostemp(path, O_CLOEXEC);
	char *p;

	if (fd >= 0)
		unlink(path);
	if (fd < 0 || !fill_file(fd, size))
		return err_sys(err, "cannot make a file of %zu bytes in %s", size, dir);
	p = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return err_sys(err, "cannot map %zu bytes", size);
	*out = p;
	return true;
}

static void read_all(const char *p, size_t size)
{
	for (size_t at = 0; at < size; at += 4096)
		(void)*(const volatile char *)(p + at);
}

static int64_t major_faults(void)
{
	struct rusage usage;

	getrusage(RUSAGE_THREAD, &usage);
	return usage.ru_majflt;
}

/* False in *took when nothing was taken away. */
static bool once(struct bench_run *run, const struct target *t, bool warmup, bool *took,
		 struct err *err)
{
	size_t before, gone;
	uint64_t out, in;
	int64_t major;

	if (t->anon)
		pages_touch(t->p, t->size, 3); /* clean ones would be dropped, not written */
	else
		read_all(t->p, t->size);
	before = left(t);
	out = clock_mono_ns();
	if (madvise(t->p, t->size, PAGEOUT))
		return err_sys(err, "madvise(MADV_PAGEOUT)");
	out = clock_mono_ns() - out;
	gone = before - left(t);
	if (t->anon)
		empty_swap_cache(t);
	major = major_faults();
	in = clock_mono_ns();
	read_all(t->p, t->size);
	in = clock_mono_ns() - in;
	*took = gone > 0;
	if (!gone)
		return true;
	if (warmup) {
		bench_value(run, "warmup_reclaim_time", NULL, (double)out / (double)gone);
		return true;
	}
	bench_value(run, "reclaimed", NULL, (double)gone / (double)t->pages);
	bench_value(run, "reclaim_time", NULL, (double)out / (double)gone);
	bench_value(run, "refault_time", NULL, (double)in / (double)gone);
	bench_value(run, "major_faults", NULL, (double)(major_faults() - major) / (double)gone);
	return true;
}

static bool measure(struct bench_run *run, const struct target *t, struct err *err)
{
	long long n = bench_int(run, "iterations");
	uint64_t start;
	bool took;

	if (!once(run, t, true, &took, err) || !bench_phase(run, true, err))
		return false;
	start = clock_mono_ns();
	for (long long i = 0; i < n && took; i++) {
		if (!once(run, t, false, &took, err))
			return false;
	}
	for (const struct bench_metric *m = metrics; m->name && !took; m++)
		bench_missing(run, m->name, NULL, "no page was reclaimed (a file in memory?)");
	bench_total(run, took ? (uint64_t)n * t->pages : 0, 1,
		    (double)(clock_mono_ns() - start) / 1e9);
	return bench_phase(run, false, err);
}

static bool prepare(struct bench_run *run, struct knobs *knobs, struct swapfile *swap,
		    struct memcg_nest *nest, struct target *t, struct err *err)
{
	const char *dir = bench_text(run, "dir"), *cluster = bench_text(run, "page_cluster");

	if (!strcmp(dir, "auto"))
		dir = fs_exists("/data") ? "/data" : "/var/tmp";
	if (strcmp(cluster, "inherit") != 0 &&
	    !knob_set(knobs, "/proc/sys/vm/page-cluster", cluster, err))
		return false;
	if (!t->anon)
		return map_file(dir, t->size, &t->p, err);
	/* Clusters of swap that are half used are not used again at once: twice the size. */
	if ((memcg_available() && !memcg_nest_enter(nest, 1, err)) ||
	    !swapfile_on(swap, dir, 2 * t->size + PMD_SIZE, err) || !pages_map(t->size, &t->p, err))
		return false;
	(void)madvise(t->p, t->size, MADV_NOHUGEPAGE);
	t->memcg = memcg_nest_dir(nest);
	return true;
}

static bool reclaim(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	AUTO_SWAPFILE swap = SWAPFILE_INIT;
	AUTO_MEMCG_NEST nest = MEMCG_NEST_INIT;
	size_t size = (size_t)bench_int(run, "size");
	AUTO_FREE unsigned char *map = xcalloc(size / 4096, 1);
	AUTO_FREE uint64_t *entries = xcalloc(size / 4096, sizeof(*entries));
	AUTO_CLOSE int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	struct target target = {.size = size,
				.pages = size / 4096,
				.anon = bench_choice(run, "memory") == 1,
				.map = map,
				.entries = entries,
				.pagemap = pagemap};

	if (!prepare(run, &knobs, &swap, &nest, &target, err) || !measure(run, &target, err))
		return false;
	munmap(target.p, size);
	return true;
}

const struct bench bench_reclaim = {
	.name = "reclaim",
	.version = 1,
	.about = "one thread has its memory reclaimed (MADV_PAGEOUT) and reads it again (swap-in, "
		 "refault)",
	.params = params,
	.metrics = metrics,
	.run = reclaim,
};

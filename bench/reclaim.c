// SPDX-License-Identifier: GPL-2.0-or-later
/* Pages out and in again. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "bench/benchmarks.h"
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
	{0},
};

static size_t resident(char *p, size_t size, unsigned char *map)
{
	size_t n = 0;

	if (mincore(p, size, map))
		return 0;
	for (size_t i = 0; i < size / 4096; i++)
		n += map[i] & 1;
	return n;
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

/* False in *took when nothing was taken away. */
static bool once(struct bench_run *run, char *p, unsigned char *map, bool warmup, bool *took,
		 struct err *err)
{
	size_t size = (size_t)bench_int(run, "size"), before, gone;
	uint64_t t0, t1, t2;

	if (!bench_choice(run, "memory"))
		read_all(p, size);
	else
		pages_touch(p, size, 3); /* dirty, or it would be dropped without being written */
	before = resident(p, size, map);
	t0 = clock_mono_ns();
	if (madvise(p, size, PAGEOUT))
		return err_sys(err, "madvise(MADV_PAGEOUT)");
	t0 = clock_mono_ns() - t0;
	gone = before - resident(p, size, map);
	t1 = clock_mono_ns();
	read_all(p, size);
	t2 = clock_mono_ns();
	*took = gone > 0;
	if (warmup || !gone)
		return true;
	bench_value(run, "reclaimed", NULL, (double)gone / ((double)size / 4096));
	bench_value(run, "reclaim_time", NULL, (double)t0 / (double)gone);
	bench_value(run, "refault_time", NULL, (double)(t2 - t1) / (double)gone);
	return true;
}

static bool measure(struct bench_run *run, char *p, struct err *err)
{
	size_t pages = (size_t)bench_int(run, "size") / 4096;
	AUTO_FREE unsigned char *map = xcalloc(pages, 1);
	long long n = bench_int(run, "iterations");
	uint64_t start;
	bool took;

	if (!once(run, p, map, true, &took, err) || !bench_phase(run, true, err))
		return false;
	start = clock_mono_ns();
	for (long long i = 0; i < n && took; i++) {
		if (!once(run, p, map, false, &took, err))
			return false;
	}
	for (const struct bench_metric *m = metrics; m->name && !took; m++)
		bench_missing(run, m->name, NULL, "no page was reclaimed (a file in memory?)");
	bench_total(run, (uint64_t)n * pages, 1, (double)(clock_mono_ns() - start) / 1e9);
	return bench_phase(run, false, err);
}

static bool reclaim(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	AUTO_SWAPFILE swap = SWAPFILE_INIT;
	size_t size = (size_t)bench_int(run, "size");
	const char *dir = bench_text(run, "dir"), *cluster = bench_text(run, "page_cluster");
	bool anon = bench_choice(run, "memory") == 1;
	char *p;

	if (!strcmp(dir, "auto"))
		dir = fs_exists("/data") ? "/data" : "/var/tmp";
	/* Clusters of swap that are half used are not used again at once: twice the size. */
	if (strcmp(cluster, "inherit") != 0 &&
	    !knob_set(&knobs, "/proc/sys/vm/page-cluster", cluster, err))
		return false;
	if (anon ? !swapfile_on(&swap, dir, 2 * size + PMD_SIZE, err) || !pages_map(size, &p, err)
		 : !map_file(dir, size, &p, err))
		return false;
	if (anon)
		(void)madvise(p, size, MADV_NOHUGEPAGE);
	if (!measure(run, p, err))
		return false;
	munmap(p, size);
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

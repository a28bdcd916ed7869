// SPDX-License-Identifier: GPL-2.0-or-later
/* Copying an address space, and its pages on write. */
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/benchmarks.h"
#include "bench/thp.h"

static const struct bench_param params[] = {
	{"size", BENCH_BYTES, "64M", NULL, "filled anonymous memory of the parent", .least = 4096,
	 .most = 1LL << 46, .multiple = 4096},
	{"folio", BENCH_TEXT, "none", NULL, "none, inherit, or the only size allowed (16K, 2M)",
	 .choices = NULL},
	{"iterations", BENCH_INT, "10", NULL, "values reported; a warm-up is added", .least = 1,
	 .most = 1000000},
	{0},
};

static const struct bench_metric metrics[] = {
	{"fork_time", "ns", BENCH_LOWER, true, false, 0.1, "fork / pages of 4 KiB"},
	{"cow_time", "ns", BENCH_LOWER, false, false, 1,
	 "the child writes each page, which copies it / pages of 4 KiB"},
	{"exit_time", "ns", BENCH_LOWER, false, false, 0.1,
	 "the child's exit, until the parent sees it / pages of 4 KiB"},
	{"cow_faults", "ratio", BENCH_NONE, false, false, 0.001,
	 "minor faults of the child while it writes / pages of 4 KiB"},
	{"warmup_fork_time", "ns", BENCH_NONE, false, false, 0.1, "fork_time of the warm-up"},
	{0},
};

/* What the child tells through shared memory. */
struct told {
	uint64_t cow_ns, left_ns;
	int64_t faults;
};

static _Noreturn void be_child(char *p, size_t size, struct told *told)
{
	int64_t faults = pages_minor_faults();
	uint64_t start = clock_mono_ns();

	pages_touch(p, size, 2);
	told->left_ns = clock_mono_ns();
	told->cow_ns = told->left_ns - start;
	told->faults = pages_minor_faults() - faults;
	_exit(0);
}

static bool once(struct bench_run *run, char *p, struct told *told, bool warmup, struct err *err)
{
	size_t size = (size_t)bench_int(run, "size");
	double pages = (double)size / 4096;
	uint64_t start = clock_mono_ns(), forked, ended;
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		be_child(p, size, told);
	forked = clock_mono_ns() - start;
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	ended = clock_mono_ns();
	if (pid < 0 || status)
		return err_set(err, ERR_FAILED, "a child of %zu bytes failed (memory?)", size);
	if (warmup) {
		bench_value(run, "warmup_fork_time", NULL, (double)forked / pages);
		return true;
	}
	bench_value(run, "fork_time", NULL, (double)forked / pages);
	bench_value(run, "cow_time", NULL, (double)told->cow_ns / pages);
	bench_value(run, "exit_time", NULL, (double)(ended - told->left_ns) / pages);
	bench_value(run, "cow_faults", NULL, (double)told->faults / pages);
	return true;
}

static bool run_fork(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	size_t size = (size_t)bench_int(run, "size");
	long long n = bench_int(run, "iterations");
	struct told *told =
		mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t start;
	char *p;

	if (told == MAP_FAILED)
		return err_sys(err, "cannot map a page");
	if (!thp_allow_only(&knobs, bench_text(run, "folio"), err) || !pages_map(size, &p, err))
		return false;
	pages_touch(p, size, 1);
	if (!once(run, p, told, true, err) || !bench_phase(run, true, err))
		return false;
	start = clock_mono_ns();
	for (long long i = 0; i < n; i++) {
		if (!once(run, p, told, false, err))
			return false;
	}
	bench_total(run, (uint64_t)n * size / 4096, 1, (double)(clock_mono_ns() - start) / 1e9);
	return bench_phase(run, false, err);
}

const struct bench bench_fork = {
	.name = "fork",
	.version = 1,
	.about = "a process with filled anonymous memory forks; the child writes every page and "
		 "exits",
	.params = params,
	.metrics = metrics,
	.run = run_fork,
};

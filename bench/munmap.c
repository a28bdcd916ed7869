// SPDX-License-Identifier: GPL-2.0-or-later
/* Taking memory away from an address space. */
#include <sys/mman.h>

#include "base/clock.h"
#include "bench/benchmarks.h"
#include "bench/thp.h"

static const struct bench_param params[] = {
	{"size", BENCH_BYTES, "64M", NULL, "what is unmapped at once", .least = 4096,
	 .most = 1LL << 46, .multiple = 4096},
	{"how", BENCH_TEXT, "munmap", NULL, "the call that is timed",
	 .choices = "munmap|dontneed|free"},
	{"folio", BENCH_TEXT, "none", NULL, "none, inherit, or the only size allowed (16K, 2M)",
	 .choices = NULL},
	{"iterations", BENCH_INT, "20", NULL, "values reported; a warm-up is added", .least = 1,
	 .most = 1000000},
	{0},
};

static const struct bench_metric metrics[] = {
	{"release_time", "ns", BENCH_LOWER, true, false, 0.1, "the call / pages of 4 KiB"},
	{"fault_time", "ns", BENCH_NONE, false, false, 1, "filling it before / pages of 4 KiB"},
	{"warmup_release_time", "ns", BENCH_NONE, false, false, 0.1, "release_time of the warm-up"},
	{0},
};

static bool release(char *p, size_t size, int how, struct err *err)
{
	static const int advice[] = {0, MADV_DONTNEED, MADV_FREE};

	if (how ? madvise(p, size, advice[how]) : munmap(p, size))
		return err_sys(err, "cannot release %zu bytes", size);
	return true;
}

static bool once(struct bench_run *run, bool warmup, double *seconds, struct err *err)
{
	size_t size = (size_t)bench_int(run, "size");
	double pages = (double)size / 4096;
	int how = bench_choice(run, "how");
	uint64_t t0, t1, t2;
	char *p;

	if (!pages_map(size, &p, err))
		return false;
	t0 = clock_mono_ns();
	pages_touch(p, size, 1);
	t1 = clock_mono_ns();
	if (!release(p, size, how, err))
		return false;
	t2 = clock_mono_ns();
	if (how)
		munmap(p, size);
	if (warmup) {
		bench_value(run, "warmup_release_time", NULL, (double)(t2 - t1) / pages);
		return true;
	}
	bench_value(run, "fault_time", NULL, (double)(t1 - t0) / pages);
	bench_value(run, "release_time", NULL, (double)(t2 - t1) / pages);
	*seconds += (double)(t2 - t0) / 1e9;
	return true;
}

static bool run_munmap(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	long long n = bench_int(run, "iterations");
	double seconds = 0;

	if (!thp_allow_only(&knobs, bench_text(run, "folio"), err) ||
	    !once(run, true, &seconds, err) || !bench_phase(run, true, err))
		return false;
	for (long long i = 0; i < n; i++) {
		if (!once(run, false, &seconds, err))
			return false;
	}
	bench_total(run, (uint64_t)(n * bench_int(run, "size") / 4096), 1, seconds);
	return bench_phase(run, false, err);
}

const struct bench bench_munmap = {
	.name = "munmap",
	.version = 1,
	.about = "one thread fills anonymous memory and gives it back in one call (zap)",
	.params = params,
	.metrics = metrics,
	.run = run_munmap,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Changing protection. (Template: copy to bench/NAME.c; docs/benchmark.md explains.) */
#include <sys/mman.h>

#include "base/clock.h"
#include "bench/benchmarks.h"
#include "bench/thp.h"

/* Each becomes --NAME VALUE, a line of --help, and a part of the series' identity. Texts that are
 * none of the choices, and numbers outside of the limits, never reach run(). */
static const struct bench_param params[] = {
	{"size", BENCH_BYTES, "16M", NULL, "memory whose protection is changed", .least = 4096,
	 .most = 1LL << 40, .multiple = 4096},
	{"folio", BENCH_TEXT, "none", NULL, "none, inherit, or the only size allowed (16K, 2M)",
	 .choices = NULL},
	{"iterations", BENCH_INT, "20", NULL, "values reported; a warm-up is added", .least = 1,
	 .most = 1000000},
	{0},
};

/* Unit, direction, whether it is judged first, whether it is a family (NAME-N), and the floor:
 * changes are judged on log(x + floor), so name the size below which a difference is noise. */
static const struct bench_metric metrics[] = {
	{"protect_time", "ns", BENCH_LOWER, true, false, 0.1,
	 "to read-only and back / pages of 4 KiB"},
	{"write_time", "ns", BENCH_LOWER, false, false, 1,
	 "first write to each page afterwards / pages of 4 KiB"},
	{"warmup_protect_time", "ns", BENCH_NONE, false, false, 0.1, "protect_time of the warm-up"},
	{0},
};

static bool once(struct bench_run *run, char *p, bool warmup, struct err *err)
{
	size_t size = (size_t)bench_int(run, "size");
	double pages = (double)size / 4096;
	uint64_t t0 = clock_mono_ns(), t1;

	if (mprotect(p, size, PROT_READ) || mprotect(p, size, PROT_READ | PROT_WRITE))
		return err_sys(err, "mprotect of %zu bytes", size);
	t1 = clock_mono_ns();
	pages_touch(p, size, 2);
	if (warmup) {
		bench_value(run, "warmup_protect_time", NULL, (double)(t1 - t0) / pages);
		return true;
	}
	bench_value(run, "protect_time", NULL, (double)(t1 - t0) / pages);
	bench_value(run, "write_time", NULL, (double)(clock_mono_ns() - t1) / pages);
	return true;
}

static bool run_mprotect(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT; /* puts back what it set */
	size_t size = (size_t)bench_int(run, "size");
	long long n = bench_int(run, "iterations");
	uint64_t start;
	char *p;

	if (!thp_allow_only(&knobs, bench_text(run, "folio"), err) || !pages_map(size, &p, err))
		return false;
	pages_touch(p, size, 1);
	/* Instruments (locks, profile) are on between the two calls of bench_phase(). */
	if (!once(run, p, true, err) || !bench_phase(run, true, err))
		return false;
	start = clock_mono_ns();
	for (long long i = 0; i < n; i++) {
		if (!once(run, p, false, err))
			return false;
	}
	bench_total(run, (uint64_t)n * size / 4096, 1, (double)(clock_mono_ns() - start) / 1e9);
	munmap(p, size);
	return bench_phase(run, false, err);
}

const struct bench bench_mprotect = {
	.name = "mprotect",
	.version = 1,
	.about = "one thread makes filled memory read-only and back, and writes it again",
	.params = params,
	.metrics = metrics,
	.run = run_mprotect,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Moving page tables. */
#include <sys/mman.h>

#include "base/clock.h"
#include "bench/benchmarks.h"
#include "bench/thp.h"

static const struct bench_param params[] = {
	{"size", BENCH_BYTES, "64M", NULL, "what is moved", .least = 4096, .most = 1LL << 46,
	 .multiple = 4096},
	{"offset", BENCH_BYTES, "0", NULL,
	 "of the new place from a multiple of 2M: only 0 can move whole page tables", .least = 0,
	 .most = (2 << 20) - 4096, .multiple = 4096},
	{"folio", BENCH_TEXT, "none", NULL, "none, inherit, or the only size allowed (16K, 2M)",
	 .choices = NULL},
	{"iterations", BENCH_INT, "50", NULL, "values reported; a warm-up is added", .least = 1,
	 .most = 1000000},
	{0},
};

static const struct bench_metric metrics[] = {
	{"move_time", "ns", BENCH_LOWER, true, false, 0.1, "mremap / pages of 4 KiB"},
	{"touch_time", "ns", BENCH_NONE, false, false, 0.1,
	 "first read of each page in the new place / pages of 4 KiB"},
	{"warmup_move_time", "ns", BENCH_NONE, false, false, 0.1,
	 "move_time of the warm-up, there and back"},
	{0},
};

static bool intact(const char *p, size_t size, uint64_t *ns)
{
	uint64_t start = clock_mono_ns();
	size_t bad = 0;

	for (size_t at = 0; at < size; at += 4096)
		bad += *(const volatile char *)(p + at) != 7;
	*ns = clock_mono_ns() - start;
	return !bad;
}

/* from -> to. */
static bool move(struct bench_run *run, char *from, char *to, size_t size, bool warmup,
		 struct err *err)
{
	double pages = (double)size / 4096;
	uint64_t start = clock_mono_ns(), moved, touched;

	if (mremap(from, size, size, MREMAP_MAYMOVE | MREMAP_FIXED, to) == MAP_FAILED)
		return err_sys(err, "mremap of %zu bytes", size);
	moved = clock_mono_ns() - start;
	/* Kept, or something of ours might be put there and be overwritten by the way back. */
	if (mmap(from, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0) !=
	    from)
		return err_sys(err, "cannot keep the place of %zu bytes", size);
	if (!intact(to, size, &touched))
		return err_set(err, ERR_FAILED, "mremap lost what was in the pages");
	if (warmup) {
		bench_value(run, "warmup_move_time", NULL, (double)moved / pages);
		return true;
	}
	bench_value(run, "move_time", NULL, (double)moved / pages);
	bench_value(run, "touch_time", NULL, (double)touched / pages);
	return true;
}

/* There and back again, so that each value is a move between the same two places. */
static bool run_mremap(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	size_t size = (size_t)bench_int(run, "size");
	long long n = bench_int(run, "iterations");
	uint64_t start;
	void *place;
	char *p, *to;

	if (!thp_allow_only(&knobs, bench_text(run, "folio"), err) || !pages_map(size, &p, err) ||
	    !pages_reserve(size + PMD_SIZE, &place, err))
		return false;
	to = (char *)place + bench_int(run, "offset");
	pages_touch(p, size, 7);
	if (!move(run, p, to, size, true, err) || !move(run, to, p, size, true, err) ||
	    !bench_phase(run, true, err))
		return false;
	start = clock_mono_ns();
	for (long long i = 0; i < n; i++) {
		if (!(i % 2 ? move(run, to, p, size, false, err)
			    : move(run, p, to, size, false, err)))
			return false;
	}
	bench_total(run, (uint64_t)n * size / 4096, 1, (double)(clock_mono_ns() - start) / 1e9);
	return bench_phase(run, false, err);
}

const struct bench bench_mremap = {
	.name = "mremap",
	.version = 1,
	.about = "one thread moves filled anonymous memory between two places",
	.params = params,
	.metrics = metrics,
	.run = run_mremap,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* Page faults. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "bench/bench_run.h"
#include "bench/benchmarks.h"
#include "bench/counters.h"
#include "bench/fault_tasks.h"
#include "bench/memcg_nest.h"
#include "bench/numa.h"
#include "bench/thp.h"

#define PAGE		 4096
#define OTHERS		 0.01 /* share of faults that others' allocations may add unseen */
#define LEAST_ITERATIONS 8    /* below, the median of a bistable boot tells nothing */
#define TOLD_PER_SAMPLE	 20   /* times that a process tells what its rounds cost */
/* will-it-scale throws away six samples of a second each before it counts. */
#define WILL_IT_SCALE                                                             \
	"threads=cpus mode=processes size=128M seconds=1 warmup=6 folio=inherit " \
	"place=kernel latency=0 mapping="

static const struct bench_param params[] = {
	{"threads", BENCH_INT, "cpus", NULL, "tasks that fault at the same time", .least = 1,
	 .most = 4096},
	{"mode", BENCH_TEXT, "threads", NULL, "what tasks are", .choices = "threads|processes",
	 .added = true},
	{"mapping", BENCH_TEXT, "anon", NULL, "anonymous memory, or of a file",
	 .choices = "anon|private|shared", .added = true},
	{"dir", BENCH_TEXT, "/tmp", NULL, "where each task's file is made (and unlinked)",
	 .added = true},
	{"size", BENCH_BYTES, "16M", NULL, "mapping of each task", .least = PAGE, .most = 1LL << 46,
	 .multiple = PAGE},
	{"rounds", BENCH_INT, "8", NULL, "map, touch, let go: times per iteration", .least = 1,
	 .most = 1000000000},
	{"seconds", BENCH_SECONDS, "0", "s",
	 "length of an iteration instead of rounds, without a pause between them; 0 = rounds",
	 .least = 0, .most = 86400, .added = true},
	{"iterations", BENCH_INT, "6", NULL, "values reported", .least = 1, .most = 1000000},
	{"limit", BENCH_SECONDS, "0", "s",
	 "no further iteration after so long, but 8 at least; 0 = none is left out", .least = 0,
	 .most = 86400, .added = true},
	{"warmup", BENCH_INT, "1", NULL, "iterations before them", .least = 0, .most = 1000000,
	 .added = true},
	{"latency", BENCH_INT, "1", NULL, "iterations afterwards that time every single fault",
	 .least = 0, .most = 1000000, .added = true},
	{"scaling", BENCH_TEXT, "none", NULL,
	 "then again with these numbers of tasks (1,2,4); auto = doubled up to threads",
	 .added = true},
	{"touch", BENCH_TEXT, "page", NULL, "write once per page, once per folio, or all bytes",
	 .choices = "page|folio|memset"},
	{"release", BENCH_TEXT, "munmap", NULL,
	 "how memory is let go (dontneed: the mapping stays; exit: each round is a process; "
	 "halves: "
	 "of each folio, then all, so that folios are queued for splitting)",
	 .choices = "munmap|dontneed|exit|halves", .added = true},
	{"folio", BENCH_TEXT, "none", NULL, "none, inherit, or the only size allowed (16K, 2M)",
	 .choices = NULL},
	{"thp", BENCH_TEXT, "folio", NULL,
	 "transparent_hugepage/enabled, sizes staying as found; folio = what --folio makes of it",
	 .choices = "folio|always|madvise|never", .added = true},
	{"advise", BENCH_TEXT, "none", NULL, "madvise on each mapping",
	 .choices = "none|huge|nohuge", .added = true},
	{"max_ptes_none", BENCH_TEXT, "inherit", NULL, "khugepaged/max_ptes_none", .choices = NULL},
	{"shrink_underused", BENCH_TEXT, "inherit", NULL, "transparent_hugepage/shrink_underused",
	 .choices = "inherit|0|1", .added = true},
	{"memcg_depth", BENCH_INT, "0", NULL, "fresh memory cgroups, one in the other; 0 = as is",
	 .least = 0, .most = 32, .added = true},
	{"place", BENCH_TEXT, "slot", NULL,
	 "each task's mapping has its place, or is where mmap puts it", .choices = "kernel|slot",
	 .added = true},
	{"align", BENCH_BYTES, "2M", NULL, "alignment of slots, a power of two", .least = PAGE,
	 .most = 1LL << 40, .added = true},
	{"offset", BENCH_BYTES, "0", NULL, "of the mapping in its slot", .least = 0,
	 .most = 1LL << 46, .multiple = PAGE, .added = true},
	{"node", BENCH_INT, "-1", NULL, "memory only from this node (-1 = any)", .least = -1,
	 .most = 1023},
	{"pin", BENCH_INT, "1", NULL, "1 = task i runs on CPU i", .least = 0, .most = 1},
	{"guard", BENCH_INT, "1", NULL, "1 = keep mappings of neighbouring slots from merging",
	 .least = 0, .most = 1},
	{0},
};

static const struct bench_metric metrics[] = {
	{"fault_time", "ns", BENCH_LOWER, true, false, 1,
	 "task time per touch, mapping and letting go included: sum over tasks / touches"},
	{"throughput", "count/s", BENCH_HIGHER, false, false, 1,
	 "touches per second of wall clock"},
	{"per_process_ops", "count/s", BENCH_HIGHER, false, false, 1,
	 "throughput / processes, with seconds"},
	{"per_thread_ops", "count/s", BENCH_HIGHER, false, false, 1,
	 "throughput / threads, with seconds"},
	{"touch_time", "ns", BENCH_LOWER, false, false, 1,
	 "task time per touch, only the touching"},
	{"release_time", "ns", BENCH_LOWER, false, false, 1,
	 "task time per touch, only the letting go"},
	{"user_time", "ns", BENCH_NONE, false, false, 1, "user CPU time per touch"},
	{"system_time", "ns", BENCH_LOWER, false, false, 1, "system CPU time per touch"},
	{"faults_per_touch", "ratio", BENCH_NONE, false, false, 0.001,
	 "minor faults as getrusage counts them / touches"},
	{"latency_mean", "ns", BENCH_LOWER, false, false, 1, "of single faults, timed one by one"},
	{"latency_p50", "ns", BENCH_NONE, false, false, 1, "half of them took no longer"},
	{"latency_p99", "ns", BENCH_NONE, false, false, 1,
	 "not judged: near the batch sizes of LRU (1/31) and free lists (1/63)"},
	{"latency_p999", "ns", BENCH_LOWER, false, false, 1, "999 of 1000 took no longer"},
	{"latency_max", "ns", BENCH_NONE, false, false, 1, "the longest"},
	{"folio_fallback", "ratio", BENCH_LOWER, false, false, 0.001,
	 "faults that did not get the folio size asked for (inherit: a huge page)"},
	{"served", "ratio", BENCH_NONE, false, true, 0.001,
	 "anonymous faults that got a folio of N / all faults (allocations of the whole machine)"},
	{"vmas", "count", BENCH_NONE, false, false, 1,
	 "mappings of the first task's address space while all tasks map"},
	{"throughput", "count/s", BENCH_HIGHER, false, true, 1, "with N tasks"},
	{"scalability", "ratio", BENCH_HIGHER, false, true, 0.01,
	 "throughput with N tasks / (N x throughput with one)"},
	{"warmup_fault_time", "ns", BENCH_NONE, false, false, 1, "fault_time of the warm-up"},
	{0},
};

static const char *const real_cpus[] = {"latency_p999", "scalability", NULL};

static const struct bench_preset presets[] = {
	{"guest", "threads=cpus size=8M rounds=2 iterations=25 limit=4s latency=0",
	 "small emulated guest"},
	{"guest-thp", "threads=cpus size=16M rounds=8 iterations=5 folio=2M touch=folio latency=0",
	 "huge faults in a small guest"},
	{"s1", "threads=80 size=16M rounds=200 iterations=5 folio=16K max_ptes_none=0 node=0",
	 "16K folios, all queued for splitting, one lruvec; two-socket machine"},
	{"page_fault1", WILL_IT_SCALE "anon iterations=5 guard=0",
	 "will-it-scale's page_fault1_processes (_threads: --mode threads)"},
	{"page_fault2", WILL_IT_SCALE "private iterations=5 guard=0", "its page_fault2"},
	{"page_fault3", WILL_IT_SCALE "shared iterations=5 guard=0", "its page_fault3"},
	{0},
};

/* Measuring -------------------------------------------------------------------------------------- */

struct sample {
	struct fault_sums sums; /* of this iteration alone */
	double wall_s;
};

static void subtract(struct fault_sums *a, const struct fault_sums *b)
{
	a->live -= b->live;
	a->touches -= b->touches;
	a->total_ns -= b->total_ns;
	a->touch_ns -= b->touch_ns;
	a->release_ns -= b->release_ns;
	a->user_ns -= b->user_ns;
	a->system_ns -= b->system_ns;
	a->faults -= b->faults;
}

struct stretch {
	struct bench_run *run;
	struct fault_crew *crew;
	const struct fault_work *work;
	unsigned n;
	double seconds; /* 0 = by rounds */
	long long warmup, iterations;
	double limit_s;	  /* 0 = none */
	uint64_t touches; /* without the warm-up, as is wall_s */
	bool rounds_seen;
	double wall_s;
	bool phases; /* instruments are switched at the ends */
	void (*report)(const struct stretch *stretch, const struct sample *sample, bool warmup);
};

/* By rounds all tasks wait for each other after every iteration; by time they go on, and a sample
 * is what happened between two looks. */
static bool take_sample(const struct stretch *s, struct sample *sample, struct err *err)
{
	struct fault_sums before;
	double start;

	fault_crew_sums(s->crew, &before);
	start = clock_mono_s();
	if (s->seconds > 0) {
		clock_sleep_s(s->seconds);
	} else {
		fault_crew_begin(s->crew, FAULT_ROUNDS);
		if (!fault_crew_wait(s->crew, err))
			return false;
	}
	sample->wall_s = clock_mono_s() - start;
	fault_crew_sums(s->crew, &sample->sums);
	subtract(&sample->sums, &before);
	return true;
}

static uint64_t touches_of(const struct stretch *s, const struct sample *sample)
{
	return s->seconds > 0 ? sample->sums.live : sample->sums.touches;
}

/* A guest whose virtual CPUs outnumber the real ones may take many times as long where locks are
 * contended, and then fewer iterations tell as much. */
static bool is_enough(const struct stretch *s, long long done)
{
	return s->limit_s > 0 && s->wall_s >= s->limit_s && done >= LEAST_ITERATIONS;
}

static bool take_samples(struct stretch *s, struct err *err)
{
	for (long long i = 0; i < s->warmup + s->iterations && !is_enough(s, i - s->warmup); i++) {
		struct sample sample;

		if (i == s->warmup && s->phases && !bench_phase(s->run, true, err))
			return false;
		if (!take_sample(s, &sample, err))
			return false;
		s->report(s, &sample, i < s->warmup);
		if (i < s->warmup)
			continue;
		s->rounds_seen |= sample.sums.touches > 0;
		s->touches += touches_of(s, &sample);
		s->wall_s += sample.wall_s;
	}
	return !s->phases || bench_phase(s->run, false, err);
}

static bool measure(struct stretch *s, struct err *err)
{
	struct err second;
	bool ok;

	if (s->seconds <= 0)
		return take_samples(s, err);
	fault_crew_begin(s->crew, FAULT_TIMED);
	ok = take_samples(s, err);
	fault_crew_stop(s->crew);
	return fault_crew_wait(s->crew, ok ? err : &second) && ok;
}

/* The passes ------------------------------------------------------------------------------------- */

static void report_sample(const struct stretch *s, const struct sample *sample, bool warmup)
{
	const struct fault_sums *sums = &sample->sums;
	double ops = (double)sums->touches, live = (double)touches_of(s, sample) / sample->wall_s;

	if (warmup) {
		if (sums->touches)
			bench_value(s->run, "warmup_fault_time", NULL,
				    (double)sums->total_ns / ops);
		return;
	}
	bench_value(s->run, "throughput", NULL, live);
	if (s->seconds > 0)
		bench_value(s->run, s->work->processes ? "per_process_ops" : "per_thread_ops", NULL,
			    live / s->n);
	/* A round may last longer than a sample. */
	if (!sums->touches)
		return;
	bench_value(s->run, "fault_time", NULL, (double)sums->total_ns / ops);
	bench_value(s->run, "touch_time", NULL, (double)sums->touch_ns / ops);
	bench_value(s->run, "release_time", NULL, (double)sums->release_ns / ops);
	bench_value(s->run, "user_time", NULL, (double)sums->user_ns / ops);
	bench_value(s->run, "system_time", NULL, (double)sums->system_ns / ops);
	bench_value(s->run, "faults_per_touch", NULL, (double)sums->faults / ops);
}

static void report_latency(struct bench_run *run, const struct histogram *h)
{
	bench_value(run, "latency_mean", NULL, histogram_mean(h));
	bench_value(run, "latency_p50", NULL, histogram_quantile(h, 0.5));
	bench_value(run, "latency_p99", NULL, histogram_quantile(h, 0.99));
	bench_value(run, "latency_p999", NULL, histogram_quantile(h, 0.999));
	bench_value(run, "latency_max", NULL, (double)h->max);
}

static void no_latency(struct bench_run *run, const char *why)
{
	static const char *const names[] = {"latency_mean", "latency_p50", "latency_p99",
					    "latency_p999", "latency_max"};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		bench_missing(run, names[i], NULL, why);
}

/* A pass of its own: reading the clock around each fault costs about as much as a system call. */
static bool time_faults(struct bench_run *run, struct fault_crew *crew, struct err *err)
{
	AUTO_FREE struct histogram *all = xcalloc(2, sizeof(*all));
	struct histogram *one = all + 1;
	uint64_t buckets[HISTOGRAM_LOG2], faults;

	for (long long i = 0; i < bench_int(run, "latency"); i++) {
		fault_crew_begin(crew, FAULT_LATENCY);
		if (!fault_crew_wait(crew, err))
			return false;
		fault_crew_latency(crew, one, &faults);
		if (faults * 100 < one->n * 99 || faults * 100 > one->n * 101) {
			AUTO_FREE char *why =
				xasprintf("%llu touches timed, but %llu minor faults counted",
					  (unsigned long long)one->n, (unsigned long long)faults);

			no_latency(run, why);
			return true;
		}
		report_latency(run, one);
		histogram_merge(all, one);
	}
	if (!all->n)
		return true;
	histogram_log2(all, buckets);
	bench_histogram(run, "latency_mean", NULL, buckets, HISTOGRAM_LOG2);
	return true;
}

static bool count_maps(struct bench_run *run, struct fault_crew *crew, struct err *err)
{
	fault_crew_begin(crew, FAULT_MAPS);
	if (!fault_crew_wait(crew, err))
		return false;
	bench_value(run, "vmas", NULL, (double)fault_crew_maps(crew));
	return true;
}

/* Rounds that outlast every sample leave nothing to report but the touches. */
static void report_absent(const struct stretch *s)
{
	static const char *const names[] = {"fault_time", "touch_time",	 "release_time",
					    "user_time",  "system_time", "faults_per_touch"};

	for (size_t i = 0; i < ARRAY_SIZE(names) && !s->rounds_seen; i++)
		bench_missing(s->run, names[i], NULL, "no round ended: longer --seconds");
}

static bool run_main(struct stretch *s, struct err *err)
{
	CLEANUP(fault_crew_free_ptr) struct fault_crew *crew = NULL;

	if (!fault_crew_start(s->work, s->n, &crew, err))
		return false;
	s->crew = crew;
	if (!measure(s, err))
		return false;
	report_absent(s);
	bench_total(s->run, s->touches, s->n, s->wall_s);
	return count_maps(s->run, crew, err) && time_faults(s->run, crew, err);
}

static void report_scaling(const struct stretch *s, const struct sample *sample, bool warmup)
{
	AUTO_FREE char *suffix = xasprintf("%u", s->n);

	if (!warmup)
		bench_value(s->run, "throughput", suffix,
			    (double)touches_of(s, sample) / sample->wall_s);
}

static bool run_scaling(const struct stretch *as, const char *list, struct err *err)
{
	AUTO_STRS counts = STRS_INIT;
	double one = 0;

	if (!strcmp(list, "none"))
		return true;
	strs_split(&counts, list, ",");
	for (size_t i = 0; i < counts.n; i++) {
		CLEANUP(fault_crew_free_ptr) struct fault_crew *crew = NULL;
		struct stretch s = *as;

		s.n = (unsigned)strtoul(counts.v[i], NULL, 10);
		s.touches = 0;
		s.wall_s = 0;
		s.phases = false;
		s.report = report_scaling;
		if (!fault_crew_start(s.work, s.n, &crew, err))
			return false;
		s.crew = crew;
		if (!measure(&s, err))
			return false;
		if (s.n == 1)
			one = (double)s.touches / s.wall_s;
		bench_value(s.run, "scalability", counts.v[i],
			    (double)s.touches / s.wall_s / (s.n * one));
	}
	return true;
}

/* What the kernel served ------------------------------------------------------------------------- */

/* Faults that got the size asked for and faults that did not. Older kernels count huge pages only, as does who asks
 * for no size by itself. */
static bool count_fallback(const char *folio, const struct counters *before,
			   const struct counters *after, int64_t *served, int64_t *fallback)
{
	long long bytes = (long long)PMD_SIZE;

	if (str_to_bytes(folio, &bytes)) {
		AUTO_FREE char *got = xasprintf("mthp.%lldk.anon_fault_alloc", bytes / 1024);
		AUTO_FREE char *fell = xasprintf("mthp.%lldk.anon_fault_fallback", bytes / 1024);

		if (counters_delta(before, after, got, served) &&
		    counters_delta(before, after, fell, fallback))
			return true;
	}
	return bytes == (long long)PMD_SIZE &&
	       counters_delta(before, after, "thp_fault_alloc", served) &&
	       counters_delta(before, after, "thp_fault_fallback", fallback);
}

static void report_fallback(struct bench_run *run, const char *folio, const struct counters *before,
			    const struct counters *after)
{
	int64_t served, fallback;

	if (!strcmp(folio, "none"))
		return;
	if (!count_fallback(folio, before, after, &served, &fallback))
		bench_missing(run, "folio_fallback", NULL, "no statistics per folio size (6.10)");
	else if (served + fallback == 0)
		bench_missing(run, "folio_fallback", NULL, "no fault asked for such a folio");
	else
		bench_value(run, "folio_fallback", NULL,
			    (double)fallback / (double)(served + fallback));
}

/* The size in "mthp.16k.anon_fault_alloc" ("16k"), or NULL; the caller frees it. Without
 * statistics per size there is one. */
static char *served_size(const char *name, bool per_size)
{
	static const char prefix[] = "mthp.", suffix[] = ".anon_fault_alloc";
	size_t n = strlen(name);

	if (!per_size)
		return !strcmp(name, "thp_fault_alloc") ? xstrdup("2048k") : NULL;
	if (!str_starts(name, prefix) || !str_ends(name, suffix))
		return NULL;
	return xstrndup(name + strlen(prefix), n - strlen(prefix) - strlen(suffix));
}

/* Counted are allocations of the whole machine, so that more of them than faults of ours are others'. */
static void report_served(struct bench_run *run, const struct counters *before,
			  const struct counters *after, uint64_t faults)
{
	bool per_size = counters_get(after, "mthp.2048k.anon_fault_alloc");
	double base = 1;

	for (size_t i = 0; i < after->n && faults; i++) {
		AUTO_FREE char *size = served_size(after->v[i].name, per_size);
		double share;
		int64_t n;

		if (!size || !counters_delta(before, after, after->v[i].name, &n) || n <= 0)
			continue;
		share = (double)n / (double)faults;
		base -= share;
		if (share <= 1 + OTHERS)
			bench_value(run, "served", size, share);
		else
			bench_missing(run, "served", size,
				      "others on this machine got such folios, too");
	}
	if (base >= -OTHERS)
		bench_value(run, "served", "4k", base > 0 ? base : 0);
	else
		bench_missing(run, "served", "4k", "others on this machine got larger folios, too");
}

/* Parameters ------------------------------------------------------------------------------------- */

static bool choose_steps(const struct bench_run *run, struct fault_work *work, struct err *err)
{
	long long folio = 0;
	bool sized = str_to_bytes(bench_text(run, "folio"), &folio);
	const size_t steps[] = {PAGE, (size_t)folio, 0};

	if (sized && folio < PAGE)
		return err_set(err, ERR_USAGE, "--folio: %s should be at least 8K",
			       bench_text(run, "folio"));
	work->step = steps[bench_choice(run, "touch")];
	work->fault_step = sized && work->mapping == FAULT_ANON ? (size_t)folio : PAGE;
	if (!sized && bench_choice(run, "touch") == 1)
		return err_set(err, ERR_USAGE,
			       "--touch folio needs a size in --folio, such as 16K");
	return true;
}

static bool choose(const struct bench_run *run, struct fault_work *work, struct err *err)
{
	static const int advices[] = {-1, MADV_HUGEPAGE, MADV_NOHUGEPAGE};

	*work = (struct fault_work){
		.mapping = (enum fault_mapping)bench_choice(run, "mapping"),
		.release = (enum fault_release)bench_choice(run, "release"),
		.dir = bench_text(run, "dir"),
		.size = (size_t)bench_int(run, "size"),
		.rounds = bench_int(run, "rounds"),
		.tell_ns = (uint64_t)(bench_float(run, "seconds") * 1e9 / TOLD_PER_SAMPLE),
		.advice = advices[bench_choice(run, "advise")],
		.processes = bench_choice(run, "mode") == 1,
		.pin = bench_int(run, "pin") == 1,
		.slots = bench_choice(run, "place") == 1,
		.guard = bench_int(run, "guard") == 1,
		.align = (size_t)bench_int(run, "align"),
		.offset = (size_t)bench_int(run, "offset"),
	};
	if (!choose_steps(run, work, err))
		return false;
	if (work->release == FAULT_EXIT && !work->processes)
		return err_set(err, ERR_USAGE, "--release exit needs --mode processes");
	if (work->release == FAULT_HALVES && work->fault_step == PAGE)
		return err_set(err, ERR_USAGE,
			       "--release halves needs a size in --folio, such as 64K");
	if (work->size < work->step || work->size < work->fault_step)
		return err_set(err, ERR_USAGE, "--size: %s should be at least one folio",
			       bench_text(run, "size"));
	if (work->align & (work->align - 1))
		return err_set(err, ERR_USAGE, "--align: %s should be a power of two",
			       bench_text(run, "align"));
	return true;
}

/* "auto" becomes a list; a list begins with 1, which all others are compared with. */
static bool settle(struct bench_run *run, struct err *err)
{
	const char *list = bench_text(run, "scaling");
	long long threads = bench_int(run, "threads");
	AUTO_STRS counts = STRS_INIT;
	AUTO_STR text = str_new();

	if (!strcmp(list, "none"))
		return true;
	str_add(&text, "1");
	for (long long n = 2; n < threads && !strcmp(list, "auto"); n *= 2)
		str_addf(&text, ",%lld", n);
	if (!strcmp(list, "auto") && threads > 1)
		str_addf(&text, ",%lld", threads);
	if (strcmp(list, "auto") != 0)
		strs_split(&counts, list, ",");
	for (size_t i = 0; i < counts.n; i++) {
		long long n;

		if (!str_to_i64(counts.v[i], &n) || n < 1 || n > 4096)
			return err_set(err, ERR_USAGE,
				       "--scaling \"%s\" should be none, auto or numbers of tasks "
				       "such as 1,2,4",
				       list);
		if (n > 1)
			str_addf(&text, ",%lld", n);
	}
	return bench_run_set(run, "scaling", text.s, err);
}

static bool set_knobs(const struct bench_run *run, struct knobs *knobs, struct err *err)
{
	const char *shrink = bench_text(run, "shrink_underused");

	if (bench_choice(run, "thp") && strcmp(bench_text(run, "folio"), "inherit") != 0)
		return err_set(err, ERR_USAGE,
			       "--thp %s goes with --folio inherit: both set the same switch",
			       bench_text(run, "thp"));
	return numa_bind(bench_int(run, "node"), err) &&
	       (!bench_choice(run, "thp") ||
		knob_set(knobs, THP_DIR "/enabled", bench_text(run, "thp"), err)) &&
	       thp_max_ptes_none(knobs, bench_text(run, "max_ptes_none"), err) &&
	       (!strcmp(shrink, "inherit") ||
		knob_set(knobs, THP_DIR "/shrink_underused", shrink, err)) &&
	       thp_allow_only(knobs, bench_text(run, "folio"), err);
}

static uint64_t faults_so_far(void)
{
	struct rusage own, children;

	getrusage(RUSAGE_SELF, &own);
	getrusage(RUSAGE_CHILDREN, &children);
	return (uint64_t)own.ru_minflt + (uint64_t)children.ru_minflt;
}

static bool fault(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	AUTO_MEMCG_NEST nest = MEMCG_NEST_INIT;
	AUTO_COUNTERS before = COUNTERS_INIT;
	AUTO_COUNTERS after = COUNTERS_INIT;
	struct fault_work work = {0};
	struct stretch stretch = {.run = run,
				  .work = &work,
				  .n = (unsigned)bench_int(run, "threads"),
				  .seconds = bench_float(run, "seconds"),
				  .warmup = bench_int(run, "warmup"),
				  .iterations = bench_int(run, "iterations"),
				  .limit_s = bench_float(run, "limit"),
				  .phases = true,
				  .report = report_sample};
	uint64_t faults;

	if (!choose(run, &work, err) || !set_knobs(run, &knobs, err) ||
	    !memcg_nest_enter(&nest, bench_int(run, "memcg_depth"), err) ||
	    !counters_read(&before, err))
		return false;
	faults = faults_so_far();
	if (!run_main(&stretch, err) || !counters_read(&after, err))
		return false;
	if (work.mapping == FAULT_ANON) {
		report_fallback(run, bench_text(run, "folio"), &before, &after);
		report_served(run, &before, &after, faults_so_far() - faults);
	}
	return run_scaling(&stretch, bench_text(run, "scaling"), err);
}

const struct bench bench_fault = {
	.name = "fault",
	.version = 1,
	.about = "tasks map, touch and let go of memory of their own at the same time",
	.params = params,
	.metrics = metrics,
	.presets = presets,
	.real_cpus = real_cpus,
	.settle = settle,
	.run = fault,
};

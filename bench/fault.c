// SPDX-License-Identifier: GPL-2.0-or-later
/* Anonymous page faults. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/benchmarks.h"
#include "bench/counters.h"
#include "bench/thp.h"

#define PAGE	   ((size_t)4096)
#define MPOL_BIND_ 2 /* linux/mempolicy.h, without libnuma */

static const struct bench_param params[] = {
	{"threads", BENCH_INT, "cpus", NULL, "threads that fault at the same time"},
	{"size", BENCH_BYTES, "16M", NULL, "mapping of each thread"},
	{"rounds", BENCH_INT, "8", NULL, "map, touch, unmap: times per iteration"},
	{"iterations", BENCH_INT, "6", NULL, "values reported; a warm-up is added"},
	{"folio", BENCH_TEXT, "none", NULL, "none, inherit, or the only size allowed (16K, 2M)"},
	{"max_ptes_none", BENCH_TEXT, "inherit", NULL, "khugepaged/max_ptes_none"},
	{"touch", BENCH_TEXT, "page", NULL, "write once per page, or once per folio"},
	{"node", BENCH_INT, "-1", NULL, "memory only from this node (-1 = any)"},
	{"pin", BENCH_INT, "1", NULL, "1 = thread i runs on CPU i"},
	{"guard", BENCH_INT, "1", NULL, "1 = keep neighbouring mappings from merging"},
	{0},
};

static const struct bench_metric metrics[] = {
	{"fault_time", "ns", BENCH_LOWER, true, false, 1,
	 "thread time per touch, mapping and unmapping included: sum over threads / touches"},
	{"throughput", "count/s", BENCH_HIGHER, false, false, 1,
	 "touches per second of wall clock"},
	{"touch_time", "ns", BENCH_LOWER, false, false, 1,
	 "thread time per touch, only the touching"},
	{"release_time", "ns", BENCH_LOWER, false, false, 1,
	 "thread time per touch, only the munmap"},
	{"user_time", "ns", BENCH_NONE, false, false, 1, "user CPU time per touch"},
	{"system_time", "ns", BENCH_LOWER, false, false, 1, "system CPU time per touch"},
	{"folio_fallback", "ratio", BENCH_LOWER, false, false, 0.001,
	 "faults that did not get the folio size asked for"},
	{"warmup_fault_time", "ns", BENCH_NONE, false, false, 1, "fault_time of the warm-up"},
	{0},
};

static const struct bench_preset presets[] = {
	{"guest", "threads=cpus size=8M rounds=2 iterations=25", "small emulated guest"},
	{"guest-thp", "threads=cpus size=16M rounds=8 iterations=5 folio=2M touch=folio",
	 "huge faults in a small guest"},
	{"s1", "threads=80 size=16M rounds=200 iterations=5 folio=16K max_ptes_none=0 node=0",
	 "16K folios, all queued for splitting, one lruvec; two-socket machine"},
	{0},
};

struct job {
	pthread_barrier_t start, end;
	size_t size, step;
	long long rounds, iterations; /* iterations includes the warm-up */
	bool pin, guard;
};

struct worker {
	pthread_t thread;
	struct job *job;
	unsigned index;
	char *slot;
	uint64_t touch_ns, release_ns; /* being summed */
	/* Of the last iteration; still while main is between its two barriers. */
	struct {
		uint64_t total_ns, touch_ns, release_ns;
	} last;
	bool failed;
};

static void pin_to(unsigned index)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(index % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &set);
	/* A smaller cpuset than the online CPUs leaves the thread where the scheduler puts it. */
	if (sched_setaffinity(0, sizeof(set), &set))
		sched_yield();
}

static bool one_round(struct worker *worker)
{
	const struct job *job = worker->job;
	uint64_t t0, t1;
	char *p = mmap(worker->slot, job->size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (p != worker->slot)
		return false;
	t0 = clock_mono_ns();
	for (size_t at = 0; at < job->size; at += job->step)
		*(volatile char *)(p + at) = 1;
	t1 = clock_mono_ns();
	if (munmap(p, job->size))
		return false;
	worker->touch_ns += t1 - t0;
	worker->release_ns += clock_mono_ns() - t1;
	return true;
}

static void *work(void *arg)
{
	struct worker *worker = arg;
	struct job *job = worker->job;

	if (job->pin)
		pin_to(worker->index);
	for (long long i = 0; i < job->iterations; i++) {
		uint64_t t0;

		worker->touch_ns = worker->release_ns = 0;
		pthread_barrier_wait(&job->start);
		t0 = clock_mono_ns();
		for (long long round = 0; round < job->rounds && !worker->failed; round++)
			worker->failed = !one_round(worker);
		worker->last.total_ns = clock_mono_ns() - t0;
		worker->last.touch_ns = worker->touch_ns;
		worker->last.release_ns = worker->release_ns;
		pthread_barrier_wait(&job->end);
	}
	return NULL;
}

/* Slots of one reservation, each followed by a PROT_NONE hole when guarded. */
static size_t stride_of(size_t size, bool guard)
{
	return (size + PMD_SIZE - 1) / PMD_SIZE * PMD_SIZE + (guard ? PMD_SIZE : 0);
}

static bool place_slots(struct worker *workers, unsigned n, const struct job *job, struct err *err)
{
	size_t stride = stride_of(job->size, job->guard);
	void *base;

	if (!pages_reserve(stride * n, &base, err))
		return false;
	for (unsigned i = 0; i < n; i++)
		workers[i].slot = (char *)base + stride * i;
	return true;
}

/* Between rounds nothing is in a slot. Not before all threads run: their stacks would move in. */
static void empty_slots(struct worker *workers, unsigned n, const struct job *job)
{
	for (unsigned i = 0; i < n; i++)
		munmap(workers[i].slot, stride_of(job->size, false));
}

static bool bind_node(long long node, struct err *err)
{
	unsigned long mask[16] = {0};

	if (node < 0)
		return true;
	if (node >= 1024)
		return err_set(err, ERR_USAGE, "node %lld: at most 1023", node);
	mask[node / 64] = 1UL << (node % 64);
	if (syscall(SYS_set_mempolicy, MPOL_BIND_, mask, sizeof(mask) * 8))
		return err_sys(err, "cannot bind memory to node %lld", node);
	return true;
}

static double timeval_ns(struct timeval now, struct timeval then)
{
	return (double)(now.tv_sec - then.tv_sec) * 1e9 +
	       (double)(now.tv_usec - then.tv_usec) * 1e3;
}

static void report(struct bench_run *run, const struct worker *workers, unsigned n,
		   uint64_t touches, double wall_s, const struct rusage *before)
{
	double total = 0, touch = 0, release = 0, ops = (double)touches;
	struct rusage after;

	getrusage(RUSAGE_SELF, &after);
	for (unsigned i = 0; i < n; i++) {
		total += (double)workers[i].last.total_ns;
		touch += (double)workers[i].last.touch_ns;
		release += (double)workers[i].last.release_ns;
	}
	bench_value(run, "fault_time", NULL, total / ops);
	bench_value(run, "throughput", NULL, ops / wall_s);
	bench_value(run, "touch_time", NULL, touch / ops);
	bench_value(run, "release_time", NULL, release / ops);
	bench_value(run, "user_time", NULL, timeval_ns(after.ru_utime, before->ru_utime) / ops);
	bench_value(run, "system_time", NULL, timeval_ns(after.ru_stime, before->ru_stime) / ops);
}

static bool iterate(struct bench_run *run, struct job *job, struct worker *workers, unsigned n,
		    struct err *err)
{
	uint64_t touches = (uint64_t)(job->size / job->step) * (uint64_t)job->rounds * n;
	double wall_s = 0;
	bool ok = true;

	for (long long i = 0; i < job->iterations; i++) {
		struct rusage before;
		double start;

		if (i == 1)
			ok = bench_phase(run, true, err);
		getrusage(RUSAGE_SELF, &before);
		start = clock_mono_s();
		pthread_barrier_wait(&job->start);
		pthread_barrier_wait(&job->end);
		start = clock_mono_s() - start;
		if (i) {
			report(run, workers, n, touches, start, &before);
			wall_s += start;
			continue;
		}
		double total = 0;

		for (unsigned k = 0; k < n; k++)
			total += (double)workers[k].last.total_ns;
		bench_value(run, "warmup_fault_time", NULL, total / (double)touches);
	}
	bench_total(run, touches * (uint64_t)(job->iterations - 1), n, wall_s);
	return ok && bench_phase(run, false, err);
}

static bool run_threads(struct bench_run *run, struct job *job, struct worker *workers, unsigned n,
			struct err *err)
{
	bool ok;

	pthread_barrier_init(&job->start, NULL, n + 1);
	pthread_barrier_init(&job->end, NULL, n + 1);
	for (unsigned i = 0; i < n; i++) {
		workers[i].job = job;
		workers[i].index = i;
		/* Threads that did start wait at a barrier for ever: only the process can end. */
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]))
			return err_sys(err, "cannot start thread %u of %u", i + 1, n);
	}
	empty_slots(workers, n, job);
	ok = iterate(run, job, workers, n, err);
	for (unsigned i = 0; i < n; i++)
		pthread_join(workers[i].thread, NULL);
	for (unsigned i = 0; i < n && ok; i++) {
		if (workers[i].failed)
			ok = err_set(err, ERR_FAILED, "thread %u: cannot map %zu bytes", i,
				     job->size);
	}
	return ok;
}

static void report_fallback(struct bench_run *run, const char *folio, const struct counters *before,
			    const struct counters *after)
{
	AUTO_FREE char *served = NULL;
	AUTO_FREE char *fell = NULL;
	long long bytes;
	int64_t n, fallback;

	if (!str_to_bytes(folio, &bytes))
		return;
	served = xasprintf("mthp.%lldk.anon_fault_alloc", bytes / 1024);
	fell = xasprintf("mthp.%lldk.anon_fault_fallback", bytes / 1024);
	if (!counters_delta(before, after, served, &n) ||
	    !counters_delta(before, after, fell, &fallback))
		bench_missing(run, "folio_fallback", NULL, "no statistics per folio size (6.10)");
	else if (n + fallback == 0)
		bench_missing(run, "folio_fallback", NULL, "no fault asked for such a folio");
	else
		bench_value(run, "folio_fallback", NULL, (double)fallback / (double)(n + fallback));
}

static bool step_of(const struct bench_run *run, size_t *step, struct err *err)
{
	const char *touch = bench_text(run, "touch");
	long long bytes;

	if (!strcmp(touch, "page")) {
		*step = PAGE;
		return true;
	}
	if (strcmp(touch, "folio") != 0)
		return err_set(err, ERR_USAGE, "touch \"%s\" should be page or folio", touch);
	if (!str_to_bytes(bench_text(run, "folio"), &bytes))
		return err_set(err, ERR_USAGE, "touch folio needs a size in folio, such as 16K");
	*step = (size_t)bytes;
	return true;
}

static bool check(const struct bench_run *run, struct err *err)
{
	if (bench_int(run, "threads") < 1 || bench_int(run, "threads") > 4096)
		return err_set(err, ERR_USAGE, "threads should be 1 to 4096");
	if (bench_int(run, "rounds") < 1 || bench_int(run, "iterations") < 1)
		return err_set(err, ERR_USAGE, "rounds and iterations should be at least 1");
	if (bench_int(run, "size") < (long long)PAGE || bench_int(run, "size") % (long long)PAGE)
		return err_set(err, ERR_USAGE, "size should be a multiple of 4K");
	return true;
}

static bool fault(struct bench_run *run, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	AUTO_COUNTERS before = COUNTERS_INIT;
	AUTO_COUNTERS after = COUNTERS_INIT;
	AUTO_FREE struct worker *workers = NULL;
	struct job job = {.rounds = bench_int(run, "rounds"),
			  .iterations = bench_int(run, "iterations") + 1,
			  .pin = bench_int(run, "pin") != 0,
			  .guard = bench_int(run, "guard") != 0};
	unsigned n;

	if (!check(run, err) || !step_of(run, &job.step, err) ||
	    !bind_node(bench_int(run, "node"), err) ||
	    !thp_max_ptes_none(&knobs, bench_text(run, "max_ptes_none"), err) ||
	    !thp_allow_only(&knobs, bench_text(run, "folio"), err))
		return false;
	job.size = (size_t)bench_int(run, "size");
	if (job.size < job.step)
		return err_set(err, ERR_USAGE, "size should be at least one folio");
	n = (unsigned)bench_int(run, "threads");
	workers = xcalloc(n, sizeof(*workers));
	if (!place_slots(workers, n, &job, err) || !counters_read(&before, err) ||
	    !run_threads(run, &job, workers, n, err) || !counters_read(&after, err))
		return false;
	report_fallback(run, bench_text(run, "folio"), &before, &after);
	return true;
}

const struct bench bench_fault = {
	.name = "fault",
	.version = 1,
	.about = "threads map, touch and unmap anonymous memory of their own at the same time",
	.params = params,
	.metrics = metrics,
	.presets = presets,
	.run = fault,
};

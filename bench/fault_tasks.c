// SPDX-License-Identifier: GPL-2.0-or-later
/* Threads or processes that fault. */
#include "bench/fault_tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "bench/thp.h"

#define PAGE	 ((size_t)4096)
#define MAPS_MAX ((size_t)64 << 20)

/* One task's part, in shared memory. Counters of different tasks are at least a page apart. */
struct tally {
	volatile uint64_t live;	   /* the owner reads it while it is being counted */
	struct fault_sums sums;	   /* the task's own */
	struct fault_sums told[2]; /* what the owner reads: of one moment between two rounds */
	unsigned last_told;
	uint64_t left_ns; /* when a process of FAULT_EXIT had touched all */
	uint64_t maps, latency_faults;
	struct histogram latency;
	bool failed;
	struct err err;
} __attribute__((aligned(4096)));

struct shared {
	pthread_barrier_t start, among; /* owner and tasks; tasks alone */
	sem_t done;
	unsigned running;
	enum fault_order order;
	volatile bool stop;
	struct tally tallies[];
};

struct task {
	struct fault_crew *crew;
	unsigned index;
	char *slot; /* NULL = anywhere */
	char *kept; /* the mapping of FAULT_DONTNEED */
	int file;
	struct tally *tally;
	pthread_t thread;
	pid_t pid;
};

struct fault_crew {
	const struct fault_work *work;
	unsigned n, started;
	struct task *tasks;
	struct shared *shared;
	size_t shared_size;
	bool lost; /* a task died: nobody comes to the barrier any more */
};

size_t fault_touches(const struct fault_work *work)
{
	return work->size / (work->step ? work->step : PAGE);
}

/* One round -------------------------------------------------------------------------------------- */

static char *map_region(struct task *task)
{
	static const int flags[] = {[FAULT_ANON] = MAP_PRIVATE | MAP_ANONYMOUS,
				    [FAULT_PRIVATE] = MAP_PRIVATE,
				    [FAULT_SHARED] = MAP_SHARED};
	const struct fault_work *work = task->crew->work;
	char *p =
		mmap(task->slot, work->size, PROT_READ | PROT_WRITE,
		     flags[work->mapping] | (task->slot ? MAP_FIXED_NOREPLACE : 0), task->file, 0);

	if (p != MAP_FAILED && (!task->slot || p == task->slot) &&
	    (work->advice < 0 || !madvise(p, work->size, work->advice)))
		return p;
	task->tally->failed = true;
	err_sys(&task->tally->err, "cannot map %zu bytes", work->size);
	return NULL;
}

static void touch(const struct fault_work *work, char *p)
{
	if (!work->step) {
		memset(p, 1, work->size);
		return;
	}
	for (size_t at = 0; at < work->size; at += work->step)
		*(volatile char *)(p + at) = 1;
}

static void touch_counted(const struct fault_work *work, char *p, volatile uint64_t *live)
{
	size_t size = work->size, step = work->step;

	if (!step) {
		memset(p, 1, size);
		*live += size / PAGE;
		return;
	}
	for (size_t at = 0; at < size; at += step) {
		*(volatile char *)(p + at) = 1;
		(*live)++;
	}
}

/* The second half of every folio. */
static bool give_halves(const struct fault_work *work, char *p)
{
	size_t half = work->fault_step / 2;

	for (size_t at = half; at + half <= work->size; at += work->fault_step) {
		if (madvise(p + at, half, MADV_DONTNEED))
			return false;
	}
	return true;
}

static bool let_go(struct task *task, char *p)
{
	const struct fault_work *work = task->crew->work;
	bool keep = work->release == FAULT_DONTNEED;

	if ((work->release != FAULT_HALVES || give_halves(work, p)) &&
	    (keep ? !madvise(p, work->size, MADV_DONTNEED) : !munmap(p, work->size))) {
		task->kept = keep ? p : NULL;
		return true;
	}
	task->tally->failed = true;
	return err_sys(&task->tally->err, "cannot let go of %zu bytes", work->size);
}

static bool one_round(struct task *task, bool counted)
{
	const struct fault_work *work = task->crew->work;
	struct tally *tally = task->tally;
	char *p = task->kept ? task->kept : map_region(task);
	uint64_t t0, t1;

	if (!p)
		return false;
	t0 = clock_mono_ns();
	if (counted)
		touch_counted(work, p, &tally->live);
	else
		touch(work, p);
	t1 = clock_mono_ns();
	if (!let_go(task, p))
		return false;
	tally->sums.touch_ns += t1 - t0;
	tally->sums.release_ns += clock_mono_ns() - t1;
	tally->sums.touches += fault_touches(work);
	return true;
}

static _Noreturn void be_short_lived(struct task *task, bool counted)
{
	struct tally *tally = task->tally;
	char *p = map_region(task);
	uint64_t t0 = clock_mono_ns();

	if (!p)
		_exit(1);
	if (counted)
		touch_counted(task->crew->work, p, &tally->live);
	else
		touch(task->crew->work, p);
	tally->left_ns = clock_mono_ns();
	tally->sums.touch_ns += tally->left_ns - t0;
	_exit(0);
}

/* The release is all from the last touch until the exit has been seen. */
static bool round_of_exit(struct task *task, bool counted)
{
	struct tally *tally = task->tally;
	int status = -1;
	pid_t pid = fork();

	if (!pid)
		be_short_lived(task, counted);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid > 0 && !status) {
		tally->sums.release_ns += clock_mono_ns() - tally->left_ns;
		tally->sums.touches += fault_touches(task->crew->work);
		return true;
	}
	if (!tally->failed)
		err_set(&tally->err, ERR_FAILED, "a process of one round failed (status %#x)",
			(unsigned)status);
	tally->failed = true;
	return false;
}

static bool any_round(struct task *task, bool counted)
{
	return task->crew->work->release == FAULT_EXIT ? round_of_exit(task, counted)
						       : one_round(task, counted);
}

/* Orders ----------------------------------------------------------------------------------------- */

static uint64_t timeval_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_usec * 1000u;
}

static void count_usage(struct fault_sums *sums, int who)
{
	struct rusage usage;

	getrusage(who, &usage);
	sums->user_ns += timeval_ns(usage.ru_utime);
	sums->system_ns += timeval_ns(usage.ru_stime);
	sums->faults += (uint64_t)usage.ru_minflt;
}

/* Only processes: the usage of threads is that of the owner's process. */
static void note_usage(struct task *task)
{
	struct fault_sums *sums = &task->tally->sums;

	if (!task->crew->work->processes)
		return;
	sums->user_ns = sums->system_ns = sums->faults = 0;
	count_usage(sums, RUSAGE_SELF);
	if (task->crew->work->release == FAULT_EXIT)
		count_usage(sums, RUSAGE_CHILDREN);
}

static void tell(struct task *task)
{
	struct tally *tally = task->tally;
	unsigned next = !tally->last_told;

	note_usage(task);
	tally->told[next] = tally->sums;
	__atomic_store_n(&tally->last_told, next, __ATOMIC_RELEASE);
}

static void do_rounds(struct task *task)
{
	struct tally *tally = task->tally;
	uint64_t t0;

	tell(task);
	t0 = clock_mono_ns();
	for (long long i = 0; i < task->crew->work->rounds && !tally->failed; i++)
		any_round(task, false);
	tally->sums.total_ns += clock_mono_ns() - t0;
	tell(task);
}

/* Processes do not look at their usage after every round: to read it settles the scheduler's accounts,
 * so that a slice ends there and not at the next tick, which cost up to a tenth of the throughput
 * where others wanted the CPU. */
static void do_timed(struct task *task)
{
	struct tally *tally = task->tally;
	uint64_t told_ns = clock_mono_ns();

	/* What starting cost is not part of the first round. */
	tell(task);
	while (!task->crew->shared->stop && !tally->failed) {
		uint64_t t0 = clock_mono_ns(), t1;

		any_round(task, true);
		t1 = clock_mono_ns();
		tally->sums.total_ns += t1 - t0;
		if (task->crew->work->processes && t1 - told_ns < task->crew->work->tell_ns)
			continue;
		tell(task);
		told_ns = t1;
	}
	tell(task);
}

static void do_latency(struct task *task)
{
	const struct fault_work *work = task->crew->work;
	struct tally *tally = task->tally;

	memset(&tally->latency, 0, sizeof(tally->latency));
	tally->latency_faults = 0;
	for (long long i = 0; i < work->rounds && !tally->failed; i++) {
		char *p = task->kept ? task->kept : map_region(task);
		int64_t faults = pages_minor_faults();

		for (size_t at = 0; p && at < work->size; at += work->fault_step) {
			uint64_t t0 = clock_mono_ns();

			*(volatile char *)(p + at) = 1;
			histogram_add(&tally->latency, clock_mono_ns() - t0);
		}
		tally->latency_faults += (uint64_t)(pages_minor_faults() - faults);
		if (p)
			let_go(task, p);
	}
}

static uint64_t count_maps(void)
{
	AUTO_STR text = str_new();
	struct err ignored;
	uint64_t n = 0;

	if (!fs_read("/proc/self/maps", MAPS_MAX, &text, &ignored))
		return 0;
	for (const char *c = text.s; *c; c++)
		n += *c == '\n';
	return n;
}

/* Touched, since only mappings that have an anon_vma are kept apart by it. */
static void do_maps(struct task *task)
{
	char *p = task->kept ? task->kept : map_region(task);

	if (p)
		*(volatile char *)p = 1;
	pthread_barrier_wait(&task->crew->shared->among);
	if (!task->index)
		task->tally->maps = count_maps();
	pthread_barrier_wait(&task->crew->shared->among);
	if (p)
		let_go(task, p);
}

static void (*const orders[])(struct task *task) = {
	[FAULT_ROUNDS] = do_rounds,
	[FAULT_TIMED] = do_timed,
	[FAULT_LATENCY] = do_latency,
	[FAULT_MAPS] = do_maps,
};

/* Tasks ------------------------------------------------------------------------------------------ */

static void pin_to(unsigned index)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(index % (unsigned)sysconf(_SC_NPROCESSORS_ONLN), &set);
	/* A smaller cpuset than the online CPUs leaves the task where the scheduler puts it. */
	if (sched_setaffinity(0, sizeof(set), &set))
		sched_yield();
}

/* Unlinked at once; its content is a hole. */
static void open_file(struct task *task)
{
	const struct fault_work *work = task->crew->work;
	AUTO_FREE char *path = xasprintf("%s/mmperf-fault.XXXXXX", work->dir);

	task->file = mkostemp(path, O_CLOEXEC);
	if (task->file >= 0)
		unlink(path);
	if (task->file >= 0 && !ftruncate(task->file, (off_t)work->size))
		return;
	task->tally->failed = true;
	err_sys(&task->tally->err, "cannot make a file of %zu bytes in %s", work->size, work->dir);
}

static void *work_on(void *arg)
{
	struct task *task = arg;
	struct shared *shared = task->crew->shared;

	if (task->crew->work->pin)
		pin_to(task->index);
	if (task->crew->work->mapping != FAULT_ANON)
		open_file(task);
	for (;;) {
		pthread_barrier_wait(&shared->start);
		if (shared->order == FAULT_QUIT)
			break;
		if (!task->tally->failed || shared->order == FAULT_MAPS)
			orders[shared->order](task);
		if (!__atomic_sub_fetch(&shared->running, 1, __ATOMIC_ACQ_REL))
			sem_post(&shared->done);
	}
	if (task->kept)
		munmap(task->kept, task->crew->work->size);
	mem_close_ptr(&task->file);
	return NULL;
}

static size_t round_up(size_t n, size_t to)
{
	return (n + to - 1) / to * to;
}

static size_t slot_size(const struct fault_work *work)
{
	return round_up(work->size + work->offset, work->align);
}

static size_t stride_of(const struct fault_work *work)
{
	return slot_size(work) + (work->guard ? work->align : 0);
}

/* Slots of one reservation; what is between them stays PROT_NONE. */
static bool place_slots(struct fault_crew *crew, struct err *err)
{
	const struct fault_work *work = crew->work;
	size_t stride = stride_of(work), whole = stride * crew->n + work->align, before;
	void *p;

	if (!work->slots)
		return true;
	if (!pages_reserve(whole, &p, err))
		return false;
	before = round_up((uintptr_t)p, work->align) - (uintptr_t)p;
	if (before)
		munmap(p, before);
	munmap((char *)p + before + stride * crew->n, work->align - before);
	for (unsigned i = 0; i < crew->n; i++)
		crew->tasks[i].slot = (char *)p + before + stride * i + work->offset;
	return true;
}

/* What the reservation has left: in the slots may be mappings of others by now. */
static void remove_guards(const struct fault_crew *crew)
{
	const struct fault_work *work = crew->work;

	for (unsigned i = 0; i < crew->n && work->guard; i++) {
		if (crew->tasks[i].slot)
			munmap(crew->tasks[i].slot - work->offset + slot_size(work), work->align);
	}
}

static void empty_slot(const struct task *task)
{
	const struct fault_work *work = task->crew->work;

	if (task->slot)
		munmap(task->slot - work->offset, slot_size(work));
}

static bool make_shared(struct fault_crew *crew, struct err *err)
{
	size_t size = sizeof(struct shared) + crew->n * sizeof(struct tally);
	pthread_barrierattr_t attr;
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return err_sys(err, "cannot map %zu bytes", size);
	crew->shared = p;
	crew->shared_size = size;
	pthread_barrierattr_init(&attr);
	pthread_barrierattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&crew->shared->start, &attr, crew->n + 1);
	pthread_barrier_init(&crew->shared->among, &attr, crew->n);
	sem_init(&crew->shared->done, 1, 0);
	return true;
}

static bool start_process(struct task *task, struct err *err)
{
	task->pid = fork();
	if (task->pid < 0)
		return err_sys(err, "cannot start process %u of %u", task->index + 1,
			       task->crew->n);
	if (task->pid)
		return true;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	empty_slot(task);
	work_on(task);
	_exit(0);
}

static bool start_thread(struct task *task, struct err *err)
{
	errno = pthread_create(&task->thread, NULL, work_on, task);
	if (errno)
		return err_sys(err, "cannot start thread %u of %u", task->index + 1, task->crew->n);
	return true;
}

bool fault_crew_start(const struct fault_work *work, unsigned n, struct fault_crew **out,
		      struct err *err)
{
	CLEANUP(fault_crew_free_ptr) struct fault_crew *crew = xcalloc(1, sizeof(*crew));

	crew->work = work;
	crew->n = n;
	crew->tasks = xcalloc(n, sizeof(*crew->tasks));
	if (!make_shared(crew, err) || !place_slots(crew, err))
		return false;
	for (unsigned i = 0; i < n; i++) {
		struct task *task = &crew->tasks[i];

		task->crew = crew;
		task->index = i;
		task->file = -1;
		task->tally = &crew->shared->tallies[i];
		if (work->processes ? !start_process(task, err) : !start_thread(task, err)) {
			crew->lost = true;
			return false;
		}
		crew->started++;
	}
	/* Not before all threads run: their stacks would move in. */
	for (unsigned i = 0; i < n && !work->processes; i++)
		empty_slot(&crew->tasks[i]);
	*out = TAKE(crew);
	return true;
}

/* The owner's side ------------------------------------------------------------------------------- */

void fault_crew_begin(struct fault_crew *crew, enum fault_order order)
{
	crew->shared->order = order;
	crew->shared->stop = false;
	crew->shared->running = crew->n;
	pthread_barrier_wait(&crew->shared->start);
}

void fault_crew_stop(struct fault_crew *crew)
{
	crew->shared->stop = true;
}

static bool all_live(struct fault_crew *crew, struct err *err)
{
	for (unsigned i = 0; i < crew->n && crew->work->processes; i++) {
		int status;

		if (waitpid(crew->tasks[i].pid, &status, WNOHANG) != crew->tasks[i].pid)
			continue;
		crew->tasks[i].pid = 0;
		crew->lost = true;
		return err_set(err, ERR_FAILED, "process %u died (%s)", i,
			       WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit");
	}
	return true;
}

bool fault_crew_wait(struct fault_crew *crew, struct err *err)
{
	for (;;) {
		struct timespec until;

		clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_sec++;
		if (!sem_clockwait(&crew->shared->done, CLOCK_MONOTONIC, &until))
			break;
		if (!all_live(crew, err))
			return false;
	}
	for (unsigned i = 0; i < crew->n; i++) {
		const struct tally *tally = &crew->shared->tallies[i];

		if (tally->failed)
			return err_set(err, ERR_FAILED, "%s %u: %.900s",
				       crew->work->processes ? "process" : "thread", i,
				       tally->err.msg);
	}
	return true;
}

static void add(struct fault_sums *sum, const struct fault_sums *one)
{
	sum->touches += one->touches;
	sum->total_ns += one->total_ns;
	sum->touch_ns += one->touch_ns;
	sum->release_ns += one->release_ns;
	sum->user_ns += one->user_ns;
	sum->system_ns += one->system_ns;
	sum->faults += one->faults;
}

void fault_crew_sums(const struct fault_crew *crew, struct fault_sums *out)
{
	*out = (struct fault_sums){0};
	for (unsigned i = 0; i < crew->n; i++) {
		const struct tally *tally = &crew->shared->tallies[i];

		out->live += tally->live;
		add(out, &tally->told[__atomic_load_n(&tally->last_told, __ATOMIC_ACQUIRE)]);
	}
	if (!crew->work->processes)
		count_usage(out, RUSAGE_SELF);
}

void fault_crew_latency(const struct fault_crew *crew, struct histogram *out, uint64_t *faults)
{
	*out = (struct histogram){0};
	*faults = 0;
	for (unsigned i = 0; i < crew->n; i++) {
		histogram_merge(out, &crew->shared->tallies[i].latency);
		*faults += crew->shared->tallies[i].latency_faults;
	}
}

uint64_t fault_crew_maps(const struct fault_crew *crew)
{
	return crew->shared->tallies[0].maps;
}

static void end_tasks(struct fault_crew *crew)
{
	for (unsigned i = 0; i < crew->started; i++) {
		struct task *task = &crew->tasks[i];

		if (!crew->work->processes) {
			pthread_join(task->thread, NULL);
		} else if (task->pid > 0) {
			if (crew->lost)
				kill(task->pid, SIGKILL);
			while (waitpid(task->pid, NULL, 0) < 0 && errno == EINTR)
				;
		}
	}
}

void fault_crew_free(struct fault_crew *crew)
{
	if (!crew)
		return;
	/* Threads that wait at a barrier which is never full hold on to all of this. */
	if (crew->lost && !crew->work->processes)
		return;
	if (!crew->lost && crew->started == crew->n && crew->n)
		fault_crew_begin(crew, FAULT_QUIT);
	end_tasks(crew);
	remove_guards(crew);
	if (crew->shared)
		munmap(crew->shared, crew->shared_size);
	free(crew->tasks);
	free(crew);
}

void fault_crew_free_ptr(struct fault_crew **crew)
{
	fault_crew_free(*crew);
}

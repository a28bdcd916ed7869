// SPDX-License-Identifier: GPL-2.0-or-later
/* Known waits. */
#include "bench/lock_selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "bench/knobs.h"
#include "bench/lockdelay.h"
#include "bench/lockwatch.h"
#include "bench/spinlock.h"

#define MIB	     ((size_t)1 << 20)
#define PIECE	     (2 * MIB)
#define PIECES_FIRST 128
#define PIECES_MAX   8192
#define HOLD_MIN_NS  6e7 /* far above the time of a system call and of waking up, also emulated */
#define HEAD_START   0.005
#define ROUNDS	     15
#define TOLERANCE    0.05

enum verdict {
	GOOD,
	BAD,
	NOT_HERE
};

static enum verdict tell(enum verdict verdict, const char *what, const char *fmt, ...)
	_printf_(3, 4);
static enum verdict tell(enum verdict verdict, const char *what, const char *fmt, ...)
{
	static const char *const words[] = {"ok", "NOT OK", "not here"};
	AUTO_STR text = str_new();
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&text, fmt, ap);
	va_end(ap);
	printf("%-8s %-12s %s\n", words[verdict], what, text.s);
	fflush(stdout);
	return verdict;
}

/* Accounting ------------------------------------------------------------------------------------ */

/*
 * mprotect() holds mmap_lock for writing over all of its range; the same few pages mapped many times
 * make it long without taking memory. A reader of /proc/PID/mem waits for reading (a writer would spin,
 * untold), and is not delayed by what mprotect() did to the page tables. This struct is shared
 * between the two.
 */
struct game {
	char *area;
	size_t size;
	pid_t holder;
	atomic_int holding; /* the round that began; minus it: the waiter has done it */
	int rounds;
	double waited_ns; /* by the waiter's own clock */
	double last_begin_ns;
	int prot;
};

static bool map_pieces(struct game *game, int fd, size_t pieces, struct err *err)
{
	game->size = pieces * PIECE;
	game->area = mmap(NULL, game->size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
			  -1, 0);
	if (game->area == MAP_FAILED)
		return err_sys(err, "cannot reserve %zu MiB of address space", game->size / MIB);
	for (size_t i = 0; i < pieces; i++) {
		char *at = game->area + i * PIECE;

		if (mmap(at, PIECE, PROT_READ, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
			return err_sys(err, "cannot map a piece");
		(void)madvise(at, PIECE, MADV_NOHUGEPAGE);
		for (size_t page = 0; page < PIECE; page += 4096)
			(void)*(volatile char *)(at + page);
	}
	game->prot = PROT_READ;
	return true;
}

/* Once: to no access and back, so that all page table entries are there again. */
static double hold(struct game *game)
{
	double begin = (double)clock_mono_ns();

	game->prot = game->prot == PROT_READ ? PROT_NONE : PROT_READ;
	(void)mprotect(game->area, game->size, game->prot);
	return (double)clock_mono_ns() - begin;
}

/* A wait is known by a clock outside of it: nobody may take the CPU between the two. Where this is
 * refused the machine must be quiet. */
static void be_undisturbed(int priority)
{
	const struct sched_param param = {.sched_priority = priority};

	(void)sched_setscheduler(0, SCHED_FIFO, &param);
}

static void be_as_others(void)
{
	const struct sched_param param = {0};

	(void)sched_setscheduler(0, SCHED_OTHER, &param);
}

static bool size_game(struct game *game, struct err *err)
{
	AUTO_CLOSE int fd = memfd_create("lockwatch", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)PIECE))
		return err_sys(err, "memfd");
	be_undisturbed(2);
	for (size_t pieces = PIECES_FIRST; pieces <= PIECES_MAX; pieces *= 2) {
		if (!map_pieces(game, fd, pieces, err))
			return false;
		if (fmin(hold(game), hold(game)) >= HOLD_MIN_NS) {
			be_as_others();
			return true;
		}
		munmap(game->area, game->size);
	}
	be_as_others();
	return err_set(err, ERR_FAILED, "mprotect() is too fast here to hold mmap_lock for %g ms",
		       HOLD_MIN_NS / 1e6);
}

static void look_at_holder(int mem, const struct game *game)
{
	char byte;

	(void)!pread(mem, &byte, 1, (off_t)(uintptr_t)game);
}

static void wait_for_lock(struct game *game)
{
	AUTO_FREE char *path = xasprintf("/proc/%d/mem", (int)game->holder);
	AUTO_CLOSE int mem = open(path, O_RDONLY | O_CLOEXEC);

	/* All that follows has its pages before. */
	look_at_holder(mem, game);
	game->last_begin_ns = (double)clock_mono_ns();
	be_undisturbed(3);
	atomic_store(&game->holding, 0);
	for (int round = 1; round <= game->rounds; round++) {
		while (atomic_load(&game->holding) < round)
			clock_sleep_s(0.0001);
		clock_sleep_s(HEAD_START);
		game->last_begin_ns = (double)clock_mono_ns();
		look_at_holder(mem, game);
		game->waited_ns += (double)clock_mono_ns() - game->last_begin_ns;
		atomic_store(&game->holding, -round);
	}
}

static bool play(struct game *game, int rounds, struct err *err)
{
	pid_t waiter;

	game->rounds = rounds;
	game->waited_ns = 0;
	atomic_store(&game->holding, -1);
	waiter = fork();
	if (waiter < 0)
		return err_sys(err, "cannot fork");
	if (!waiter) {
		wait_for_lock(game);
		_exit(0);
	}
	while (atomic_load(&game->holding))
		clock_sleep_s(0.0001);
	be_undisturbed(2);
	for (int round = 1; round <= rounds; round++) {
		atomic_store(&game->holding, round);
		hold(game);
		while (atomic_load(&game->holding) != -round)
			clock_sleep_s(0.0001);
	}
	be_as_others();
	waitpid(waiter, NULL, 0);
	return true;
}

/* Whether this is our waiter: ps and others look at the holder's memory, too, by other ways. */
static bool is_ours(const struct lock_row *row, const struct kallsyms *syms)
{
	for (size_t i = 0; row->key.stack >= 0 && i < LOCK_STACK_DEPTH && row->frames[i]; i++) {
		const char *name = kallsyms_find(syms, row->frames[i]);

		if (name && (!strcmp(name, "mem_rw") || !strcmp(name, "mem_read")))
			return true;
	}
	return false;
}

/* What was told of our own waits, under the name mmap_lock. */
static struct lock_stat told_of(struct lockwatch *watch, const struct kallsyms *syms, bool *ok,
				struct err *err)
{
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};
	struct lock_health health;
	struct lock_stat sum = {0};
	size_t kept = 0;

	*ok = lockwatch_read(watch, &rows, &health, err);
	if (!*ok)
		return sum;
	for (size_t i = 0; i < rows.n; i++) {
		if (is_ours(&rows.v[i], syms))
			rows.v[kept++] = rows.v[i];
	}
	rows.n = kept;
	lock_waits_name(&rows, syms, &waits);
	lock_waits_class(&waits, "mmap_lock", &sum);
	return sum;
}

static enum verdict judge(const char *what, const struct lock_stat *told, double known_ns)
{
	double off = known_ns > 0 ? (double)told->sum_ns / known_ns - 1 : INFINITY;

	return tell(fabs(off) <= TOLERANCE ? GOOD : BAD, "accounting",
		    "%s: %llu waits, known %.3f ms, told %.3f ms (%+.2f %%)", what,
		    (unsigned long long)told->count, known_ns / 1e6, (double)told->sum_ns / 1e6,
		    100 * off);
}

static bool check_holds(struct game *game, const struct kallsyms *syms, enum verdict *verdict,
			struct err *err)
{
	CLEANUP(lockwatch_free_ptr) struct lockwatch *watch = NULL;
	struct lock_stat told;
	bool ok;

	if (!lockwatch_open(&watch, err))
		return false;
	lockwatch_switch(watch, true);
	ok = play(game, ROUNDS, err);
	lockwatch_switch(watch, false);
	if (!ok)
		return false;
	told = told_of(watch, syms, &ok, err);
	if (ok)
		*verdict = judge("mmap_lock held by mprotect()", &told, game->waited_ns);
	return ok;
}

struct switch_off {
	struct game *game;
	struct lockwatch *watch;
	double at_ns;
	atomic_bool ready;
};

static void *switch_off_soon(void *arg)
{
	struct switch_off *off = arg;

	be_undisturbed(4);
	atomic_store(&off->ready, true);
	while (atomic_load(&off->game->holding) != 1)
		clock_sleep_s(0.0001);
	/* The wait begins after the head start, and ends with the hold: half way between. */
	clock_sleep_s(HEAD_START + HOLD_MIN_NS / 2e9);
	off->at_ns = (double)clock_mono_ns();
	lockwatch_switch(off->watch, false);
	return NULL;
}

/* Counting stops while the wait goes on: the part until then counts. */
static bool check_open(struct game *game, const struct kallsyms *syms, enum verdict *verdict,
		       struct err *err)
{
	CLEANUP(lockwatch_free_ptr) struct lockwatch *watch = NULL;
	struct switch_off off = {.game = game};
	struct lock_stat told;
	pthread_t thread;
	bool ok;

	if (!lockwatch_open(&watch, err))
		return false;
	off.watch = watch;
	lockwatch_switch(watch, true);
	atomic_store(&game->holding, -1);
	if (pthread_create(&thread, NULL, switch_off_soon, &off))
		return err_set(err, ERR_FAILED, "cannot start a thread");
	while (!atomic_load(&off.ready))
		clock_sleep_s(0.0001);
	ok = play(game, 1, err);
	pthread_join(thread, NULL);
	if (!ok)
		return false;
	told = told_of(watch, syms, &ok, err);
	if (ok)
		*verdict = judge("a wait in progress at the end", &told,
				 off.at_ns - game->last_begin_ns);
	return ok;
}

static bool accounting(const struct kallsyms *syms, enum verdict *verdict, struct err *err)
{
	enum verdict open_verdict = GOOD;
	struct game *game = mmap(NULL, sizeof(*game), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (game == MAP_FAILED)
		return err_sys(err, "shared memory");
	game->holder = getpid();
	if (!size_game(game, err) || !check_holds(game, syms, verdict, err) ||
	    !check_open(game, syms, &open_verdict, err))
		return false;
	if (open_verdict != GOOD)
		*verdict = open_verdict;
	munmap(game->area, game->size);
	munmap(game, sizeof(*game));
	return true;
}

/* Naming ---------------------------------------------------------------------------------------- */

#define CLASSES	 3
#define DELAYS	 3
#define NAMING_S 3.0
#define SMALL	 0.1 /* of what the delayed lock rose by, an innocent one may rise */
#define AREA	 (4 * MIB)

static const char *const classes[CLASSES] = {"lruvec", "zone", "mmap_lock"};
static const char *const delay_texts[DELAYS] = {"0", "500us/32", "5ms/32"};

/* Faults and frees, until killed: a process of its own, so that mmap_lock is not shared. */
static pid_t start_worker(atomic_ullong *faults)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	for (;;) {
		char *p = mmap(NULL, AREA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		if (p == MAP_FAILED)
			_exit(1);
		(void)madvise(p, AREA, MADV_NOHUGEPAGE);
		for (size_t at = 0; at < AREA; at += 4096) {
			((volatile char *)p)[at] = 1;
			atomic_fetch_add(faults, 1);
		}
		munmap(p, AREA);
	}
}

/* Runs the workers for a while; how many faults they made. */
static unsigned long long work(struct lockwatch *watch, unsigned n, atomic_ullong *faults)
{
	AUTO_FREE pid_t *workers = xcalloc(n, sizeof(*workers));

	atomic_store(faults, 0);
	for (unsigned i = 0; i < n; i++)
		workers[i] = start_worker(faults);
	lockwatch_switch(watch, true);
	clock_sleep_s(NAMING_S);
	lockwatch_switch(watch, false);
	for (unsigned i = 0; i < n; i++) {
		if (workers[i] > 0) {
			kill(workers[i], SIGKILL);
			waitpid(workers[i], NULL, 0);
		}
	}
	return atomic_load(faults);
}

/* ns of wait per fault for each class. */
static bool measure(const struct kallsyms *syms, unsigned cpus, atomic_ullong *faults,
		    double *wait_ns, struct err *err)
{
	CLEANUP(lockwatch_free_ptr) struct lockwatch *watch = NULL;
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	AUTO_LOCK_WAITS waits = {NULL, 0, 0};
	struct lock_health health;
	unsigned long long n;

	if (!lockwatch_open(&watch, err))
		return false;
	n = work(watch, cpus, faults);
	if (!lockwatch_read(watch, &rows, &health, err))
		return false;
	lock_waits_name(&rows, syms, &waits);
	for (size_t i = 0; i < CLASSES; i++) {
		struct lock_stat sum;

		lock_waits_class(&waits, classes[i], &sum);
		wait_ns[i] = (double)sum.sum_ns / (double)(n ? n : 1);
	}
	return true;
}

static enum verdict judge_names(size_t target, double wait_ns[DELAYS][CLASSES])
{
	double rise = wait_ns[DELAYS - 1][target] - wait_ns[0][target];
	AUTO_STR text = str_new();
	bool good = rise > 0;

	for (size_t d = 0; d < DELAYS; d++) {
		str_addf(&text, "%s %s: %.0f ns", d ? "," : "", delay_texts[d], wait_ns[d][target]);
		good = good && (!d || wait_ns[d][target] > wait_ns[d - 1][target]);
	}
	str_add(&text, "; without and with the longest:");
	for (size_t i = 0; i < CLASSES; i++) {
		if (i == target)
			continue;
		str_addf(&text, " %s %.0f, %.0f ns", classes[i], wait_ns[0][i],
			 wait_ns[DELAYS - 1][i]);
		good = good && wait_ns[DELAYS - 1][i] - wait_ns[0][i] <= SMALL * rise;
	}
	return tell(good ? GOOD : BAD, "naming", "wait per fault for %s with its holders delayed%s",
		    classes[target], text.s);
}

static bool check_name(struct lockdelay *delay, const struct kallsyms *syms, unsigned cpus,
		       size_t target, enum verdict *verdict, struct err *err)
{
	AUTO_FREE char *off = xasprintf("%s=0", classes[target]);
	double wait_ns[DELAYS][CLASSES];
	atomic_ullong *faults = mmap(NULL, sizeof(*faults), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (faults == MAP_FAILED)
		return err_sys(err, "shared memory");
	for (size_t d = 0; d < DELAYS; d++) {
		AUTO_FREE char *text = xasprintf("%s=%s", classes[target], delay_texts[d]);

		if (!lockdelay_set(delay, text, err) ||
		    !measure(syms, cpus, faults, wait_ns[d], err))
			return false;
	}
	munmap(faults, sizeof(*faults));
	*verdict = judge_names(target, wait_ns);
	return lockdelay_set(delay, off, err);
}

/* Lists of free pages of each CPU, which on an idle machine of 1 GB keep 14 MB, would serve the workers without the zone's lock. The kernel
 * does not let them have less than four batches. */
static bool keep_few_pages(struct knobs *knobs, struct err *err)
{
	static const char knob[] = "/proc/sys/vm/percpu_pagelist_high_fraction";

	return knob_set(knobs, knob, "1000000", err) || err->kind == ERR_NOTFOUND;
}

static bool naming(const struct kallsyms *syms, enum verdict *verdict, struct err *err)
{
	AUTO_KNOBS knobs = KNOBS_INIT;
	CLEANUP(lockdelay_free_ptr) struct lockdelay *delay = NULL;
	struct spinlock_facts spin;
	const char *reason;

	spinlock_facts_read(&spin, syms);
	if (!spinlock_measurable(&spin, &reason)) {
		*verdict = tell(NOT_HERE, "naming", "%s", reason);
		return true;
	}
	if (!lockdelay_open(&delay, err) || !keep_few_pages(&knobs, err))
		return false;
	for (size_t target = 0; target < 2; target++) {
		enum verdict one = BAD;

		if (!check_name(delay, syms, spin.cpus, target, &one, err))
			return false;
		if (one != GOOD)
			*verdict = one;
	}
	return true;
}

static const struct {
	const char *name;
	bool (*check)(const struct kallsyms *syms, enum verdict *verdict, struct err *err);
} checks[] = {
	{"accounting", accounting},
	{"naming", naming},
};

/* Waits of the whole machine are seen: two of us would count each other's. */
static int alone(void)
{
	int fd = open("/run/lockwatch.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0)
		(void)flock(fd, LOCK_EX);
	return fd;
}

int lock_selftest(const char *what)
{
	CLEANUP(kallsyms_free_ptr) struct kallsyms *syms = NULL;
	AUTO_CLOSE int lock _unused = alone();
	bool any = false, good = true;
	struct err err;

	if (!kallsyms_load(&syms, &err)) {
		fprintf(stderr, "lockwatch: %s\n", err.msg);
		return err_exit_status(&err);
	}
	for (size_t i = 0; i < ARRAY_SIZE(checks); i++) {
		enum verdict verdict = GOOD;

		if (strcmp(what, "all") != 0 && strcmp(what, checks[i].name) != 0)
			continue;
		any = true;
		if (!checks[i].check(syms, &verdict, &err)) {
			fprintf(stderr, "lockwatch: self-test of %s: %s\n", checks[i].name,
				err.msg);
			good = false;
		}
		good = good && verdict != BAD;
	}
	if (!any)
		fprintf(stderr, "lockwatch: --self-test wants accounting, naming or all\n");
	return !any ? 2 : good ? 0 : 1;
}

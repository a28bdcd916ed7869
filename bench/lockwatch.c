// SPDX-License-Identifier: GPL-2.0-or-later
/* Lock waits, user side. */
#include "bench/lockwatch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "lockwatch.skel.h"

#include "base/clock.h"
#include "bench/bpf_log.h"

struct lockwatch {
	struct lockwatch_bpf *skel;
	struct lock_control control;
	int cpus; /* possible ones: per-CPU maps hold that many values */
};

/* A guest of 1 GB must not spend its memory on maps; a large machine must not lose events. */
static void size_maps(struct lockwatch_bpf *skel)
{
	long long mb = (long long)sysconf(_SC_PHYS_PAGES) / 256;
	unsigned scale = mb < 2048 ? 4 : 1;

	(void)bpf_map__set_max_entries(skel->maps.stacks, 65536 / scale);
	(void)bpf_map__set_max_entries(skel->maps.stats, 16384 / scale);
}

static bool attach(struct lockwatch *watch, struct err *err)
{
	struct bpf_link *release;

	/* Kernels before 2026 lack this one. */
	release = bpf_program__attach(watch->skel->progs.contended_release);
	watch->control.holds = release != NULL;
	watch->skel->links.contended_release = release;
	errno = 0;
	watch->skel->links.contention_end = bpf_program__attach(watch->skel->progs.contention_end);
	if (watch->skel->links.contention_end)
		watch->skel->links.contention_begin =
			bpf_program__attach(watch->skel->progs.contention_begin);
	if (!watch->skel->links.contention_begin)
		return err_sys(err, "no lock contention tracepoints (kernel 5.19, "
				    "CONFIG_BPF_EVENTS)");
	return true;
}

bool lockwatch_holds(const struct lockwatch *watch)
{
	return watch->control.holds;
}

bool lockwatch_open(struct lockwatch **out, struct err *err)
{
	CLEANUP(lockwatch_free_ptr) struct lockwatch *watch = xcalloc(1, sizeof(*watch));

	bpf_log_start();
	watch->cpus = libbpf_num_possible_cpus();
	if (watch->cpus < 1)
		return err_set(err, ERR_FAILED, "cannot tell the number of possible CPUs");
	watch->skel = lockwatch_bpf__open();
	if (!watch->skel)
		return err_sys(err, "BPF program");
	size_maps(watch->skel);
	errno = 0;
	if (lockwatch_bpf__load(watch->skel))
		return bpf_log_err(err, "cannot load the BPF program (root? CONFIG_BPF_SYSCALL?)");
	if (!attach(watch, err))
		return false;
	*out = TAKE(watch);
	return true;
}

void lockwatch_free(struct lockwatch *watch)
{
	if (!watch)
		return;
	lockwatch_bpf__destroy(watch->skel);
	free(watch);
}

void lockwatch_free_ptr(struct lockwatch **watch)
{
	lockwatch_free(*watch);
}

void lockwatch_switch(struct lockwatch *watch, bool on)
{
	uint32_t zero = 0;

	if (!on)
		watch->control.stopped_ns = clock_mono_ns();
	watch->control.enabled = on;
	/* An element of an array map that exists: cannot fail. */
	(void)bpf_map_update_elem(bpf_map__fd(watch->skel->maps.control), &zero, &watch->control,
				  BPF_ANY);
}

static void read_frames(const struct lockwatch *watch, struct lock_row *row)
{
	if (row->key.stack >= 0 && bpf_map_lookup_elem(bpf_map__fd(watch->skel->maps.stacks),
						       &row->key.stack, row->frames))
		row->key.stack = -errno;
}

static struct lock_row *row_of(struct lockwatch *watch, struct lock_rows *rows,
			       const struct lock_key *key)
{
	struct lock_row *row;

	for (size_t i = 0; i < rows->n; i++) {
		if (!memcmp(&rows->v[i].key, key, sizeof(*key)))
			return &rows->v[i];
	}
	row = array_push(rows->v, rows->n, rows->cap);
	row->key = *key;
	read_frames(watch, row);
	return row;
}

static bool read_stats(struct lockwatch *watch, struct lock_rows *rows, struct err *err)
{
	AUTO_FREE struct lock_stat *cpus = xcalloc((size_t)watch->cpus, sizeof(*cpus));
	int fd = bpf_map__fd(watch->skel->maps.stats);
	struct lock_key key, *previous = NULL;

	while (!bpf_map_get_next_key(fd, previous, &key)) {
		struct lock_row *row = array_push(rows->v, rows->n, rows->cap);

		previous = &key;
		row->key = key;
		read_frames(watch, row);
		if (bpf_map_lookup_elem(fd, &key, cpus))
			return err_sys(err, "cannot read the lock statistics");
		for (int cpu = 0; cpu < watch->cpus; cpu++)
			lock_stat_merge(&row->stat, &cpus[cpu]);
	}
	return true;
}

static void add_open(struct lockwatch *watch, struct lock_rows *rows, const struct lock_slot *slot,
		     struct lock_health *health)
{
	struct lock_key key = {.lock = slot->lock, .flags = slot->flags, .stack = slot->stack};
	uint64_t stopped = watch->control.stopped_ns;

	health->open++;
	if (stopped >= slot->begin_ns)
		lock_stat_add(&row_of(watch, rows, &key)->stat, stopped - slot->begin_ns);
}

static bool read_open(struct lockwatch *watch, struct lock_rows *rows, struct lock_health *health,
		      struct err *err)
{
	AUTO_FREE struct lock_cpu *cpus = xcalloc((size_t)watch->cpus, sizeof(*cpus));
	int fd = bpf_map__fd(watch->skel->maps.tasks);
	uint32_t zero = 0, tid, *previous = NULL;
	struct lock_slot slot;

	if (bpf_map_lookup_elem(bpf_map__fd(watch->skel->maps.cpus), &zero, cpus))
		return err_sys(err, "cannot read the lock slots");
	for (int cpu = 0; cpu < watch->cpus; cpu++) {
		for (uint32_t i = 0; i < cpus[cpu].depth && i < LOCK_NEST; i++)
			add_open(watch, rows, &cpus[cpu].slots[i], health);
	}
	while (!bpf_map_get_next_key(fd, previous, &tid)) {
		previous = &tid;
		if (!bpf_map_lookup_elem(fd, &tid, &slot))
			add_open(watch, rows, &slot, health);
	}
	return true;
}

static void add_program(struct lock_health *health, const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(program), &info, &size))
		return;
	health->recursion_misses += info.recursion_misses;
	health->bpf_ns += info.run_time_ns;
	health->bpf_runs += info.run_cnt;
}

static bool read_health(struct lockwatch *watch, struct lock_health *health, struct err *err)
{
	AUTO_FREE uint64_t *cpus = xcalloc((size_t)watch->cpus, sizeof(*cpus));
	uint64_t sums[LOCK_FAILS] = {0};

	for (uint32_t what = 0; what < LOCK_FAILS; what++) {
		if (bpf_map_lookup_elem(bpf_map__fd(watch->skel->maps.fails), &what, cpus))
			return err_sys(err, "cannot read the health counters");
		for (int cpu = 0; cpu < watch->cpus; cpu++)
			sums[what] += cpus[cpu];
	}
	health->begins = sums[LOCK_BEGINS];
	health->ends = sums[LOCK_ENDS];
	health->stack_failures = sums[LOCK_STACK_FAIL];
	health->map_full = sums[LOCK_STAT_FULL] + sums[LOCK_TASK_FULL];
	add_program(health, watch->skel->progs.contention_begin);
	add_program(health, watch->skel->progs.contention_end);
	health->lost = sums[LOCK_NESTED_DROPPED] + sums[LOCK_BACKWARD] + health->map_full +
		       health->recursion_misses;
	return true;
}

bool lockwatch_read(struct lockwatch *watch, struct lock_rows *rows, struct lock_health *health,
		    struct err *err)
{
	*health = (struct lock_health){0};
	return read_health(watch, health, err) && read_stats(watch, rows, err) &&
	       read_open(watch, rows, health, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Sampling, user side. */
#include "bench/profile.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/bpf_log.h"
#include "bench/profile_maps.h"

#include "profile.skel.h"

/* A prime near 1000: in step with no tick. */
#define FREQUENCY 997

struct profile {
	struct profile_bpf *skel;
	struct bpf_link **links; /* one for each online CPU */
	size_t n, cap;
	const char *source;
	int cpus; /* possible ones */
};

static int open_event(uint32_t type, uint64_t config, int cpu)
{
	struct perf_event_attr attr = {.type = type,
				       .config = config,
				       .size = sizeof(attr),
				       .freq = 1,
				       .sample_freq = FREQUENCY};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

struct source {
	const char *name;
	uint32_t type;
	uint64_t config;
};

/* One for all CPUs: samples of a timer and of cycles must not be added up. */
static const struct source sources[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
};

static void detach(struct profile *profile)
{
	/* Closes the event, too. */
	for (size_t i = 0; i < profile->n; i++)
		bpf_link__destroy(profile->links[i]);
	profile->n = 0;
}

static bool attach_source(struct profile *profile, const struct source *source, struct err *err)
{
	for (int cpu = 0; cpu < profile->cpus; cpu++) {
		int fd = open_event(source->type, source->config, cpu);
		struct bpf_link *link;

		/* A CPU that is possible, but not online. */
		if (fd < 0 && errno == ENODEV)
			continue;
		if (fd < 0)
			return err_sys(err, "cannot sample CPU %d (root? CONFIG_PERF_EVENTS?)",
				       cpu);
		errno = 0;
		link = bpf_program__attach_perf_event(profile->skel->progs.sample, fd);
		if (!link) {
			close(fd);
			return err_sys(err, "cannot attach to the samples of CPU %d", cpu);
		}
		*array_push(profile->links, profile->n, profile->cap) = link;
	}
	profile->source = source->name;
	return profile->n || err_set(err, ERR_FAILED, "no CPU can be sampled");
}

static bool attach(struct profile *profile, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(sources); i++) {
		if (attach_source(profile, &sources[i], err))
			return true;
		detach(profile);
	}
	return false;
}

bool profile_open(struct profile **out, struct err *err)
{
	CLEANUP(profile_free_ptr) struct profile *profile = xcalloc(1, sizeof(*profile));

	profile->cpus = libbpf_num_possible_cpus();
	if (profile->cpus < 1)
		return err_set(err, ERR_FAILED, "cannot tell the number of possible CPUs");
	bpf_log_start();
	errno = 0;
	profile->skel = profile_bpf__open_and_load();
	if (!profile->skel)
		return bpf_log_err(err, "cannot load the BPF program (root? CONFIG_BPF_SYSCALL?)");
	if (!attach(profile, err))
		return false;
	*out = TAKE(profile);
	return true;
}

void profile_free(struct profile *profile)
{
	if (!profile)
		return;
	detach(profile);
	free(profile->links);
	profile_bpf__destroy(profile->skel);
	free(profile);
}

void profile_free_ptr(struct profile **profile)
{
	profile_free(*profile);
}

const char *profile_source(const struct profile *profile)
{
	return profile->source;
}

void profile_switch(struct profile *profile, bool on)
{
	uint32_t which = PROFILE_ENABLED;
	uint64_t value = on;

	/* An element of an array map that exists: cannot fail. */
	(void)bpf_map_update_elem(bpf_map__fd(profile->skel->maps.control), &which, &value,
				  BPF_ANY);
}

static uint64_t sum_cpus(const uint64_t *v, int n)
{
	uint64_t sum = 0;

	for (int i = 0; i < n; i++)
		sum += v[i];
	return sum;
}

bool profile_read(struct profile *profile, const struct kallsyms *syms, struct folded *out,
		  uint64_t *lost, struct err *err)
{
	AUTO_FREE uint64_t *cpus = xcalloc((size_t)profile->cpus, sizeof(*cpus));
	int counts = bpf_map__fd(profile->skel->maps.counts);
	int stacks = bpf_map__fd(profile->skel->maps.stacks);
	int32_t key, *previous = NULL;
	uint32_t which = PROFILE_LOST;

	while (!bpf_map_get_next_key(counts, previous, &key)) {
		uint64_t frames[PROFILE_DEPTH] = {0};

		previous = &key;
		if (bpf_map_lookup_elem(counts, &key, cpus) ||
		    (key >= 0 && bpf_map_lookup_elem(stacks, &key, frames)))
			return err_sys(err, "cannot read the profile");
		folded_add(out, syms, frames, PROFILE_DEPTH, sum_cpus(cpus, profile->cpus));
	}
	if (bpf_map_lookup_elem(bpf_map__fd(profile->skel->maps.control), &which, lost))
		return err_sys(err, "cannot read the profile");
	folded_sort(out);
	return true;
}

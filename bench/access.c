// SPDX-License-Identifier: GPL-2.0-or-later
/* Random loads. */
#include "bench/access.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/clock.h"
#include "base/mem.h"

#define BATCH 32768u
#define PAGE  4096u
#define LINE  64u

static uint64_t now_cycles(void)
{
#if defined(__x86_64__)
	return __rdtsc();
#else
	return 0;
#endif
}

/* Marsaglia's xorshift64. */
static uint64_t next(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

static int open_counter(const char **why_not)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HW_CACHE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_CACHE_DTLB | PERF_COUNT_HW_CACHE_OP_READ << 8 |
			  PERF_COUNT_HW_CACHE_RESULT_MISS << 16,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
	};
	int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd >= 0)
		return fd;
	*why_not = errno == EACCES || errno == EPERM ? "not permitted (perf_event_paranoid)"
						     : "no PMU event for dTLB load misses";
	return -1;
}

static void read_counter(int fd, struct access_result *out)
{
	struct {
		uint64_t value, enabled, running;
	} r = {0};

	bool told;

	if (fd < 0)
		return;
	told = read(fd, &r, sizeof(r)) == (ssize_t)sizeof(r);
	out->enabled_ns = r.enabled;
	out->running_ns = r.running;
	if (!told || !r.running)
		out->why_not = "the PMU did not count";
	else if ((double)r.running < 0.9 * (double)r.enabled)
		out->why_not = "the PMU event was multiplexed";
	else {
		out->counted = true;
		out->dtlb_misses =
			(uint64_t)((double)r.value * (double)r.enabled / (double)r.running);
	}
}

void access_random(const char *range, size_t size, uint64_t accesses, uint64_t seed,
		   struct access_result *out)
{
	AUTO_FREE uint32_t *offsets = xcalloc(BATCH, sizeof(*offsets));
	uint64_t state = seed ? seed : 1, pages = size / PAGE;
	AUTO_CLOSE int counter = -1;

	*out = (struct access_result){0};
	counter = open_counter(&out->why_not);
	while (out->accesses < accesses && pages) {
		uint64_t cycles, ns;

		for (uint32_t i = 0; i < BATCH; i++)
			offsets[i] = (uint32_t)(next(&state) % pages);
		if (counter >= 0)
			ioctl(counter, PERF_EVENT_IOC_ENABLE, 0);
		ns = clock_mono_ns();
		cycles = now_cycles();
		for (uint32_t i = 0; i < BATCH; i++)
			(void)*(const volatile char *)(range + (size_t)offsets[i] * PAGE +
						       offsets[i] * LINE % PAGE);
		out->cycles += now_cycles() - cycles;
		out->ns += clock_mono_ns() - ns;
		if (counter >= 0)
			ioctl(counter, PERF_EVENT_IOC_DISABLE, 0);
		out->accesses += BATCH;
	}
	read_counter(counter, out);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * plain_fault WARMUP_S SECONDS MBYTES: the loop of page_fault1 and nothing else, in one process on CPU 0. Its parent looks at
 * the counter after the warm-up and once more; prints touches per second, and per second of the process's CPU time.
 */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE ((size_t)4096)

static double now_s(clockid_t clock)
{
	struct timespec t = {0, 0};

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_s(double s)
{
	struct timespec t = {(time_t)s, (long)((s - (double)(time_t)s) * 1e9)};

	nanosleep(&t, NULL);
}

static _Noreturn void fault(size_t size, volatile unsigned long long *count)
{
	for (;;) {
		char *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);

		if (p == MAP_FAILED)
			_exit(1);
		for (size_t at = 0; at < size; at += PAGE) {
			*(volatile char *)(p + at) = 0;
			(*count)++;
		}
		munmap(p, size);
	}
}

int main(int argc, char **argv)
{
	volatile unsigned long long *count =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	unsigned long long before, after;
	double start, length, cpu;
	clockid_t cpu_clock;
	cpu_set_t set;
	pid_t pid;

	if (argc != 4 || count == MAP_FAILED)
		return 2;
	pid = fork();
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		CPU_ZERO(&set);
		CPU_SET(0, &set);
		sched_setaffinity(0, sizeof(set), &set);
		fault((size_t)atol(argv[3]) << 20, count);
	}
	sleep_s(strtod(argv[1], NULL));
	if (clock_getcpuclockid(pid, &cpu_clock))
		return 1;
	before = *count;
	start = now_s(CLOCK_MONOTONIC);
	cpu = now_s(cpu_clock);
	sleep_s(strtod(argv[2], NULL));
	after = *count;
	length = now_s(CLOCK_MONOTONIC) - start;
	cpu = now_s(cpu_clock) - cpu;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("%.1f %.1f\n", (double)(after - before) / length, (double)(after - before) / cpu);
	return after > before && cpu > 0 ? 0 : 1;
}

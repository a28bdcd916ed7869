// SPDX-License-Identifier: GPL-2.0-or-later
/* One program, several names. */
#include <stdio.h>
#include <string.h>

#include "bench/agent.h"
#include "bench/bench_main.h"
#include "bench/benchmarks.h"
#include "bench/lockwatch_main.h"
#include "bench/profile_main.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* -1 when name is none of ours. */
static int dispatch(const char *name, int argc, char **argv)
{
	const struct bench *bench = benchmark_find(name);

	if (bench)
		return bench_main(bench, argc, argv);
	if (!strcmp(name, "lockwatch"))
		return lockwatch_main(argc, argv);
	if (!strcmp(name, "profile"))
		return profile_main(argc, argv);
	return -1;
}

int main(int argc, char **argv)
{
	int status = -1;

	if (argc > 0)
		status = dispatch(base_name(argv[0]), argc, argv);
	if (status < 0 && argc > 1)
		status = dispatch(argv[1], argc - 1, argv + 1);
	return status >= 0 ? status : agent_main(argc, argv);
}

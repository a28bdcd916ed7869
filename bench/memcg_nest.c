// SPDX-License-Identifier: GPL-2.0-or-later
/* Nested memory cgroups. */
#include "bench/memcg_nest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "bench/agent_child.h"

#define ROOT "/sys/fs/cgroup"

static bool move_to(const char *dir, struct err *err)
{
	AUTO_FREE char *procs = xasprintf("%s/cgroup.procs", dir);

	return fs_poke(procs, "0", err);
}

/* Children of dir get the memory controller. */
static bool delegate(const char *dir, struct err *err)
{
	AUTO_FREE char *control = xasprintf("%s/cgroup.subtree_control", dir);

	return fs_poke(control, "+memory", err);
}

static bool find_ours(char **out, struct err *err)
{
	AUTO_STR text = str_new();
	const char *line;

	if (!fs_read("/proc/self/cgroup", 65536, &text, err))
		return false;
	line = strstr(text.s, "0::/");
	if (!line)
		return err_set(err, ERR_FAILED, "/proc/self/cgroup names no group of cgroup v2");
	line += strlen("0::");
	*out = xasprintf(ROOT "%.*s", (int)strcspn(line, "\n"), line);
	return true;
}

bool memcg_nest_enter(struct memcg_nest *nest, long long depth, struct err *err)
{
	AUTO_FREE char *dir = xstrdup(ROOT);

	if (!depth)
		return true;
	if (!memcg_available())
		return err_set(err, ERR_FAILED,
			       "memcg_depth needs the memory controller of cgroup v2 at " ROOT);
	if (!find_ours(&nest->before, err))
		return false;
	for (long long i = 0; i < depth; i++) {
		char *inner = xasprintf("%s/mmperf-%d-%lld", dir, (int)getpid(), i + 1);
		bool ok = delegate(dir, err);

		free(dir);
		dir = inner;
		if (!ok)
			return false;
		if (mkdir(dir, 0755))
			return err_sys(err, "cannot make %s", dir);
		strs_push(&nest->dirs, dir);
	}
	return move_to(dir, err);
}

const char *memcg_nest_dir(const struct memcg_nest *nest)
{
	return nest->dirs.n ? nest->dirs.v[nest->dirs.n - 1] : NULL;
}

void memcg_nest_leave(struct memcg_nest *nest)
{
	struct err err;

	if (nest->dirs.n && !move_to(nest->before, &err))
		fprintf(stderr, "still in %s: %s\n", memcg_nest_dir(nest), err.msg);
	for (size_t i = nest->dirs.n; i-- > 0;) {
		/* The kernel may need a moment to let the last process go. */
		for (int k = 0; k < 50 && rmdir(nest->dirs.v[i]) && errno == EBUSY; k++)
			clock_sleep_s(0.01);
	}
	strs_release(&nest->dirs);
	free(nest->before);
	nest->before = NULL;
}

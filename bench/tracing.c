// SPDX-License-Identifier: GPL-2.0-or-later
/* A trace instance. */
#include "bench/tracing.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

#define TRACE_MAX ((size_t)256 << 20)
#define BUFFER_KB "4096" /* per CPU: some 50,000 events of khugepaged */

static const char *const places[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

/* In a mount namespace of our own: nobody else sees it, and it ends with the process. */
static bool mount_for_us(void)
{
	return !unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) &&
	       !mount("tracefs", places[0], "tracefs", 0, NULL);
}

static const char *find_tracefs(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		AUTO_FREE char *inside = xasprintf("%s/instances", places[i]);

		if (fs_exists(inside))
			return places[i];
	}
	return mount_for_us() ? places[0] : NULL;
}

static bool poke(const struct tracing *tracing, const char *file, const char *value,
		 struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/%s", tracing->dir, file);

	return fs_poke(path, value, err);
}

static bool enable(struct tracing *tracing, const char *const *events, size_t n, struct err *err)
{
	size_t enabled = 0;

	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *file = xasprintf("events/%s/enable", events[i]);
		AUTO_FREE char *path = xasprintf("%s/%s", tracing->dir, file);

		if (!fs_exists(path))
			continue;
		if (!poke(tracing, file, "1", err))
			return false;
		enabled++;
	}
	return enabled || err_set(err, ERR_NOTFOUND, "this kernel has no event %s", events[0]);
}

bool tracing_open(struct tracing *tracing, const char *const *events, size_t n, struct err *err)
{
	const char *tracefs = find_tracefs();
	AUTO_FREE char *dir =
		xasprintf("%s/instances/mmperf-%d", tracefs ? tracefs : "", (int)getpid());

	if (!tracefs)
		return err_set(err, ERR_NOTFOUND,
			       "no tracefs at /sys/kernel/tracing, and none can be mounted");
	if (mkdir(dir, 0700) && errno != EEXIST)
		return err_sys(err, "cannot make %s", dir);
	tracing->dir = TAKE(dir);
	return poke(tracing, "tracing_on", "0", err) &&
	       poke(tracing, "buffer_size_kb", BUFFER_KB, err) && enable(tracing, events, n, err);
}

bool tracing_switch(struct tracing *tracing, bool on, struct err *err)
{
	return poke(tracing, "tracing_on", on ? "1" : "0", err);
}

/* "# entries-in-buffer/entries-written: 12/12   #P:2" */
static bool lost_some(const char *text)
{
	const char *counts = strstr(text, "entries-written:");
	long long kept = 0, written = 0;

	return counts && sscanf(counts, "entries-written: %lld/%lld", &kept, &written) == 2 &&
	       kept < written;
}

bool tracing_parse(const char *text, struct strs *lines, struct err *err)
{
	AUTO_STRS all = STRS_INIT;

	if (lost_some(text))
		return err_set(err, ERR_FAILED, "more events than the trace buffer holds");
	strs_split(&all, text, "\n");
	for (size_t i = 0; i < all.n; i++) {
		if (all.v[i][0] != '#')
			strs_push(lines, all.v[i]);
	}
	return true;
}

bool tracing_read(struct tracing *tracing, struct strs *lines, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/trace", tracing->dir);
	AUTO_STR text = str_new();

	return fs_read(path, TRACE_MAX, &text, err) && tracing_parse(text.s, lines, err);
}

char *tracing_field(const char *line, const char *field)
{
	AUTO_FREE char *key = xasprintf("%s=", field);
	const char *at = line;

	while ((at = strstr(at, key))) {
		if (at != line && (at[-1] == ' ' || at[-1] == ','))
			return xstrndup(at + strlen(key), strcspn(at + strlen(key), ", "));
		at++;
	}
	return NULL;
}

void tracing_close(struct tracing *tracing)
{
	if (tracing->dir && rmdir(tracing->dir))
		perror(tracing->dir);
	free(tracing->dir);
	tracing->dir = NULL;
}

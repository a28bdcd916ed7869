// SPDX-License-Identifier: GPL-2.0-or-later
/* Knobs survive kill -9. */
#include "bench/knob_journal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "bench/swap_knob.h"

#define JOURNAL_MAX ((size_t)1 << 20)

struct layer {
	long long pid, born; /* born: field 22 of /proc/PID/stat, so that a reused pid is another */
	char *path, *before;
};

struct journal {
	char *file;
	int lock; /* of the directory; held while this struct lives */
	struct layer *v;
	size_t n, cap;
};

#define AUTO_JOURNAL CLEANUP(journal_release) struct journal

static void layer_release(struct layer *layer)
{
	free(layer->path);
	free(layer->before);
}

static void journal_release(struct journal *journal)
{
	for (size_t i = 0; i < journal->n; i++)
		layer_release(&journal->v[i]);
	free(journal->v);
	free(journal->file);
	mem_close_ptr(&journal->lock);
}

/* Start time of a process that runs; -1 when it is gone or only waits to be reaped. */
static long long born(long long pid)
{
	AUTO_FREE char *path = xasprintf("/proc/%lld/stat", pid);
	AUTO_STR text = str_new();
	AUTO_STRS fields = STRS_INIT;
	const char *rest;
	long long ticks;
	struct err err;

	if (!fs_read(path, 4096, &text, &err))
		return -1;
	/* The name, in brackets, may hold anything. */
	rest = strrchr(text.s, ')');
	if (!rest)
		return -1;
	strs_split(&fields, rest + 1, " \n");
	if (fields.n < 20 || strchr("ZX", fields.v[0][0]) || !str_to_i64(fields.v[19], &ticks))
		return -1;
	return ticks;
}

static bool gone(const struct layer *layer)
{
	return born(layer->pid) != layer->born;
}

static char *boot_id(void)
{
	AUTO_STR text = str_new();
	struct err err;

	if (!fs_read("/proc/sys/kernel/random/boot_id", 4096, &text, &err))
		return xstrdup("unknown");
	return xstrdup(str_trim(text.s));
}

/* "PID BORN PATH BEFORE", blanks being tabs; a damaged line is left out. */
static void parse_layer(struct journal *journal, const char *line)
{
	AUTO_STRS fields = STRS_INIT;
	long long pid, at;
	struct layer *layer;

	strs_split(&fields, line, "\t");
	if (fields.n < 3 || !str_to_i64(fields.v[0], &pid) || !str_to_i64(fields.v[1], &at))
		return;
	layer = array_push(journal->v, journal->n, journal->cap);
	*layer = (struct layer){pid, at, xstrdup(fields.v[2]),
				xstrdup(fields.n > 3 ? fields.v[3] : "")};
}

static bool load(struct journal *journal, struct err *err)
{
	AUTO_STR text = str_new();
	AUTO_STRS lines = STRS_INIT;
	AUTO_FREE char *boot = boot_id();
	struct err why;

	if (!fs_read(journal->file, JOURNAL_MAX, &text, &why)) {
		if (why.kind == ERR_NOTFOUND)
			return true;
		*err = why;
		return false;
	}
	strs_split(&lines, text.s, "\n");
	if (!lines.n || strcmp(lines.v[0], boot) != 0)
		return true;
	for (size_t i = 1; i < lines.n; i++)
		parse_layer(journal, lines.v[i]);
	return true;
}

static bool save(const struct journal *journal, struct err *err)
{
	AUTO_STR text = str_new();
	AUTO_FREE char *boot = boot_id();

	if (!journal->n) {
		if (unlink(journal->file) && errno != ENOENT)
			return err_sys(err, "cannot remove %s", journal->file);
		return true;
	}
	str_addf(&text, "%s\n", boot);
	for (size_t i = 0; i < journal->n; i++) {
		const struct layer *layer = &journal->v[i];

		str_addf(&text, "%lld\t%lld\t%s\t%s\n", layer->pid, layer->born, layer->path,
			 layer->before);
	}
	return fs_write_atomic(journal->file, text.s, text.len, 0644, err);
}

static bool open_locked(struct journal *journal, struct err *err)
{
	const char *dir = getenv("MMPERF_KNOBS");
	AUTO_FREE char *lock = NULL;

	dir = dir && *dir ? dir : "/run/mmperf";
	lock = xasprintf("%s/knobs.lock", dir);
	*journal = (struct journal){.lock = -1, .file = xasprintf("%s/knobs", dir)};
	if (!fs_mkdirs(dir, 0755, err))
		return err_wrap(err, "journal of knobs");
	journal->lock = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (journal->lock < 0 || flock(journal->lock, LOCK_EX))
		return err_sys(err, "journal of knobs: %s", lock);
	return load(journal, err) || err_wrap(err, "journal of knobs");
}

static bool write_back(const struct layer *layer, struct err *err)
{
	if (str_starts(layer->path, SWAP_KNOB))
		return swap_area_on(layer->path + strlen(SWAP_KNOB), layer->before, err);
	return fs_poke(layer->path, layer->before, err);
}

/* What cannot be put back is said; keeping it would not help. True when a knob was written. */
static bool take_off(struct journal *journal, size_t i, bool put_back)
{
	struct layer *layer = &journal->v[i];
	bool top = true, done = false;
	struct err err;

	for (size_t k = i + 1; k < journal->n && top; k++) {
		struct layer *above = &journal->v[k];

		if (strcmp(above->path, layer->path) != 0)
			continue;
		top = false;
		if (put_back) {
			char *given = TAKE(layer->before);

			free(above->before);
			above->before = given;
		}
	}
	if (top && put_back) {
		done = write_back(layer, &err);
		if (!done)
			fprintf(stderr, "knob not restored to \"%s\": %s\n", layer->before,
				err.msg);
	}
	layer_release(layer);
	memmove(layer, layer + 1, (journal->n - i - 1) * sizeof(*layer));
	journal->n--;
	return done;
}

static size_t take_off_gone(struct journal *journal)
{
	long long pid = 0, at = 0; /* who was seen alive last: most layers are one process's */
	size_t n = 0;

	for (size_t i = journal->n; i-- > 0;) {
		const struct layer *layer = &journal->v[i];

		if (layer->pid == pid && layer->born == at)
			continue;
		if (gone(layer)) {
			n += take_off(journal, i, true);
		} else {
			pid = layer->pid;
			at = layer->born;
		}
	}
	return n;
}

bool knob_journal_add(const char *path, const char *before, struct err *err)
{
	AUTO_JOURNAL journal;
	struct layer *layer;

	if (!open_locked(&journal, err))
		return false;
	(void)take_off_gone(&journal);
	layer = array_push(journal.v, journal.n, journal.cap);
	*layer = (struct layer){getpid(), born(getpid()), xstrdup(path), xstrdup(before)};
	return save(&journal, err);
}

static void take_off_ours(struct journal *journal, const char *path, bool put_back)
{
	for (size_t i = journal->n; i-- > 0;) {
		if (journal->v[i].pid == getpid() && !strcmp(journal->v[i].path, path)) {
			take_off(journal, i, put_back);
			return;
		}
	}
}

bool knob_journal_drop(const char *path, struct err *err)
{
	AUTO_JOURNAL journal;

	if (!open_locked(&journal, err))
		return false;
	take_off_ours(&journal, path, false);
	return save(&journal, err);
}

bool knob_journal_put_back(char *const *paths, size_t n, struct err *err)
{
	AUTO_JOURNAL journal;

	if (!open_locked(&journal, err))
		return false;
	/* Should we be killed before it is saved, all are put back once more. */
	while (n)
		take_off_ours(&journal, paths[--n], true);
	return save(&journal, err);
}

bool knob_journal_recover(size_t *n, struct err *err)
{
	AUTO_JOURNAL journal;

	*n = 0;
	if (!open_locked(&journal, err))
		return false;
	*n = take_off_gone(&journal);
	return save(&journal, err);
}

static void close_all_but(int fd)
{
	if (fd > 0)
		(void)syscall(SYS_close_range, 0, fd - 1, 0);
	(void)syscall(SYS_close_range, fd + 1, ~0U, 0);
}

static void guard(int watched)
{
	struct pollfd end = {.fd = watched, .events = POLLIN};
	struct err err;
	size_t n;

	setsid();
	prctl(PR_SET_NAME, "mmperf-knobs");
	for (int sig = 1; sig < SIGRTMIN; sig++)
		signal(sig, SIG_IGN);
	if (chdir("/"))
		_exit(1);
	close_all_but(watched);
	while (poll(&end, 1, -1) < 0 && errno == EINTR)
		;
	_exit(!knob_journal_recover(&n, &err));
}

void knob_journal_guard(void)
{
	int watched = (int)syscall(SYS_pidfd_open, getpid(), 0);
	pid_t between;

	if (watched < 0)
		return;
	/* Twice: nobody of ours has to wait for it. */
	between = fork();
	if (!between) {
		if (!fork())
			guard(watched);
		_exit(0);
	}
	close(watched);
	while (between > 0 && waitpid(between, NULL, 0) < 0 && errno == EINTR)
		;
}

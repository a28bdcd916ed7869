// SPDX-License-Identifier: GPL-2.0-or-later
/* Pads between objects. */
#include "runner/layout.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "stats/rng.h"

#define PADS	    16
#define LINE_BYTES  64 /* of a cache */
#define PAD_DIR	    ".mmperf-layout"
#define SPREAD	    ".vmlinux.a" /* becomes vmlinux.a */
#define MAX_MEMBERS ((size_t)4 << 20)

/* A trap instruction on x86; nothing jumps there anyway. */
static const char pad_source[] = ".text\n.p2align 6\n.skip pad, 0xcc\n";

/* Stands from before the archive is spread until it is gone: a kill between leaves it. */
static char *marker(const struct worktree *wt)
{
	return xasprintf("%s/layout", wt->dir);
}

bool layout_forget(const struct worktree *wt, struct err *err)
{
	AUTO_FREE char *mark = marker(wt), *archive = xasprintf("%s/vmlinux.a", wt->tree);

	if (!fs_exists(mark))
		return true;
	if (unlink(archive) && errno != ENOENT)
		return err_sys(err, "cannot remove %s", archive);
	return !unlink(mark) || err_sys(err, "cannot remove %s", mark);
}

static bool make_pads(const struct worktree *wt, const char *log, struct err *err)
{
	AUTO_FREE char *source = xasprintf("%s/pad.s", wt->dir);
	AUTO_STRS argv = STRS_INIT;

	strs_pushl(&argv, "mkdir", "-p", PAD_DIR, NULL);
	if (!fs_write_atomic(source, pad_source, strlen(pad_source), 0644, err) ||
	    !worktree_run(wt, &argv, log, err))
		return false;
	for (int i = 1; i < PADS; i++) {
		strs_pushl(&argv, "as", "--defsym", NULL);
		strs_pushf(&argv, "pad=%d", i * LINE_BYTES);
		strs_push(&argv, "-o");
		strs_pushf(&argv, PAD_DIR "/%d.o", i);
		strs_push(&argv, source);
		if (!worktree_run(wt, &argv, log, err))
			return false;
	}
	return true;
}

static bool list_members(const struct worktree *wt, struct str *out, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/members", wt->dir);
	AUTO_STRS argv = STRS_INIT;

	unlink(path);
	strs_pushl(&argv, "ar", "t", "vmlinux.a", NULL);
	return worktree_run(wt, &argv, path, err) && fs_read(path, MAX_MEMBERS, out, err);
}

static void push_spread(struct strs *argv, char *members, int64_t seed)
{
	struct rng rng;
	char *rest;

	rng_seed(&rng, (uint64_t)seed);
	for (char *name = strtok_r(members, "\n", &rest); name;
	     name = strtok_r(NULL, "\n", &rest)) {
		int pad = (int)rng_below(&rng, PADS);

		strs_push(argv, name);
		if (pad)
			strs_pushf(argv, PAD_DIR "/%d.o", pad);
	}
}

/* A thin archive names its members from where it stands: it is made beside the old one. */
static bool replace_archive(const struct worktree *wt, char *members, int64_t seed, const char *log,
			    struct err *err)
{
	AUTO_STRS argv = STRS_INIT;

	strs_pushl(&argv, "rm", "-f", SPREAD, NULL);
	if (!worktree_run(wt, &argv, log, err))
		return false;
	strs_pushl(&argv, "ar", "cDPqST", SPREAD, NULL);
	push_spread(&argv, members, seed);
	if (!worktree_run(wt, &argv, log, err))
		return false;
	strs_pushl(&argv, "mv", "-f", SPREAD, "vmlinux.a", NULL);
	return worktree_run(wt, &argv, log, err);
}

bool layout_spread(const struct worktree *wt, int64_t seed, const char *log, struct err *err)
{
	AUTO_FREE char *mark = marker(wt), *text = xasprintf("%lld\n", (long long)seed);
	AUTO_STR members = str_new();

	return fs_write_atomic(mark, text, strlen(text), 0644, err) && make_pads(wt, log, err) &&
	       list_members(wt, &members, err) && replace_archive(wt, members.s, seed, log, err);
}

bool layout_kept(const struct worktree *wt, struct err *err)
{
	AUTO_STR members = str_new();

	if (!list_members(wt, &members, err))
		return false;
	return strstr(members.s, PAD_DIR "/") ||
	       err_set(err, ERR_FAILED,
		       "layout: make put together %s/vmlinux.a anew, without the pads between its "
		       "objects",
		       wt->tree);
}

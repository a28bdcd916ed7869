/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_BUILDER_H
#define RUNNER_BUILDER_H

/* From a git tree and a recipe to a kernel, by make. */

#include "runner/image.h"
#include "runner/worktree.h"

/* How a build ended. Paths are of files that stay until the worktree is switched. */
struct made {
	bool built;
	char *error; /* when not built: the first line that the compiler called an error */
	struct image_identity identity;
	bool incremental;
	double seconds;
	char *kernel;
	char *system_map;
	char *modules;	 /* an archive; NULL: the configuration has none */
	char *functions; /* their digests (runner/functions.h); NULL: not known */
	char *config;
	char *log; /* NULL when there is none */
};

void made_release(struct made *made);

/*
 * Builds in wt; clean: after `make clean`, so that nothing made before is used. A tree that does not
 * compile is no failure here. False: we could not (disk full, killed, lease lost).
 */
bool builder_make(struct worktree *wt, const struct build *build, bool clean, struct made *out,
		  struct err *err) _must_check;

/* First line of a build log that tells an error, as plain text; for tests. */
void builder_first_error(const char *log, size_t n, struct str *line);

#endif

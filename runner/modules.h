/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_MODULES_H
#define RUNNER_MODULES_H

/* Modules of a kernel that was built: one archive, the same bytes whenever the modules are the same. */

#include "runner/image.h"
#include "runner/worktree.h"

/* Where `make modules_install` is to put them, below the tree. */
#define MODULES_DIR ".mmperf-modules"

/* Whether the configuration in the file has modules. */
bool modules_configured(const char *path);
/* Removes what an earlier build installed. */
bool modules_forget(const struct worktree *wt, const char *log, struct err *err) _must_check;
/*
 * Packs what is installed, without what depmod makes of it, into `name` below the tree: members begin with
 * lib/modules/RELEASE. log gets what tar said.
 */
bool modules_pack(const struct worktree *wt, const char *name, const char *log,
		  struct err *err) _must_check;
/* A kernel is another one when its modules are. */
bool modules_identify(const char *archive, struct image_identity *identity,
		      struct err *err) _must_check;

#endif

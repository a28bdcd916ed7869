/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_AS_USER_H
#define RUNNER_AS_USER_H

/* Work of ours that another user's files are touched by. */

#include "runner/worker.h"

#include <sys/types.h>

/* Who builds: ids of the settings' build.user when proc_may_switch(), else our own. *name is NULL then,
 * else borrowed from the settings. A user that does not exist is an error that says what to run. */
bool as_user_ids(const struct settings *settings, const char **name, uid_t *uid, gid_t *gid,
		 struct err *err) _must_check;

/*
 * Calls fn(arg) in a forked child that is the build user, may read everything that we may read, and
 * writes only what that user may write: a stranger's Makefile may have left anything in a tree.
 * Ticks w (may be NULL) meanwhile. fn's results stay in the child.
 */
bool as_user_call(struct worker *w, const struct settings *settings,
		  bool (*fn)(void *arg, struct err *err), void *arg, struct err *err) _must_check;

/* Lets the build user write in a directory of ours: by owner when we may (root), else by group, of which
 * we must be a member. Nothing when user is NULL. */
bool as_user_give(const char *path, const char *user, uid_t uid, gid_t gid,
		  struct err *err) _must_check;

#endif

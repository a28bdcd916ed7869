/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_WORKTREE_H
#define RUNNER_WORKTREE_H

/*
 * One source tree per recipe that is switched from commit to commit, so that make rebuilds only what
 * changed. What it holds stands in a state file that only the runner can write:
 *
 *	TREE_OID CONFIG_HASH	the tree is checked out and no build of it was cut off
 *	anything else, or none	not known: everything is checked out anew
 *
 * The file is removed before anything is touched and written when all is consistent again, so a kill
 * at any moment leaves "not known". The listing beside it says which files the tree has, for when the
 * repository that it came from is gone.
 */

#include "base/repo.h"
#include "db/build.h"
#include "runner/worker.h"

#include <sys/types.h>

struct worktree {
	struct worker *worker;
	const char *user; /* that owns the tree; NULL = ours */
	uid_t uid;
	gid_t gid;
	char *dir;	  /* ours: state, log, configuration fragment */
	char *tree;	  /* the user's: the source tree */
	int lock_fd;	  /* held by every process that works in the tree */
	bool incremental; /* of the last switch */
	bool configure;	  /* the configuration has to be made anew */
	char config_hash[HASH_HEX_SIZE];
};

/* Waits for processes of an earlier runner that still work there. */
bool worktree_open(struct worktree *wt, struct worker *w, const struct build *build,
		   struct err *err) _must_check;
void worktree_release(struct worktree *wt);
/* Makes the tree hold tree_oid, and marks it as not known until worktree_settle(). */
bool worktree_switch(struct worktree *wt, const char *tree_oid, struct err *err) _must_check;
/* A build has come to its end, well or not: the tree can be built on. */
bool worktree_settle(struct worktree *wt, const char *tree_oid, struct err *err) _must_check;
/* A tool in the tree, as make would run it: the build user's, without network. Its output is added to the file
 * out; another exit status than 0 is an error. argv is empty afterwards. */
bool worktree_run(const struct worktree *wt, struct strs *argv, const char *out,
		  struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_PROC_CHILD_H
#define BASE_PROC_CHILD_H

/* Private to base/proc*.c: from a specification to a running child. */

#include "base/proc.h"

/*
 * Starts the child with out_fd as stdout (-1 = ours) and err_fd as stderr (-1 = with stdout), and returns when exec has
 * succeeded; a failure before or in exec comes back as err. The child leads its own group.
 */
bool child_launch(const struct proc_spec *spec, int out_fd, int err_fd, pid_t *pid,
		  struct err *err) _must_check;

/*
 * Starts a watcher inside pid's group: when our process dies, however it dies, the watcher ends
 * the group by SIGTERM and then SIGKILL. PR_SET_PDEATHSIG alone reaches only the child itself, and
 * would leave a dead job's compilers writing into a tree that the next job uses.
 */
bool child_watch(pid_t pid, pid_t *watcher, struct err *err) _must_check;

#endif

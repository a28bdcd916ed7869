/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_LAYOUT_H
#define RUNNER_LAYOUT_H

/*
 * Where code lies moves numbers by more than a boot's noise, and no boot averages that out. A layout
 * seed gives the same source another layout: the objects of vmlinux.a keep their order (initcalls
 * depend on it), and a pad of 0 to 960 bytes of text, in steps of a cache line, goes behind each.
 * After a few dozen objects the offset modulo a page is as good as uniform.
 */

#include "runner/worktree.h"

/* The archive of an earlier layout goes, if there is one, so that make makes a plain one. */
bool layout_forget(const struct worktree *wt, struct err *err) _must_check;

/*
 * Spreads the members of the tree's vmlinux.a (Linux 6.1 and later), which make has just made; the
 * same seed gives the same bytes. What as and ar say goes to log.
 */
bool layout_spread(const struct worktree *wt, int64_t seed, const char *log,
		   struct err *err) _must_check;

/* After make has linked: fails when it put the archive together anew, which lost the layout. */
bool layout_kept(const struct worktree *wt, struct err *err) _must_check;

#endif

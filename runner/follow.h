/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_FOLLOW_H
#define RUNNER_FOLLOW_H

/* Following the branches of a tree: fetch, pin, store what is new. */

#include "db/settings.h"

/*
 * Each branch is followed for itself: one that cannot be is logged, and makes this fail in the end
 * with its error. A head that did not move stores nothing.
 */
bool follow_tree(const struct settings *settings, struct db *db, const char *tree,
		 struct err *err) _must_check;

#endif

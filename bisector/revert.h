/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_REVERT_H
#define BISECTOR_REVERT_H

/* The bad end of a bisection with the culprit taken out again. */

#include "base/repo.h"
#include "bisector/bisector.h"
#include "db/bisection.h"
#include "db/history.h"
#include "db/work.h"

struct revert {
	bool wait;  /* its build is not ready */
	bool ready; /* build can be booted */
	struct build_look build;
	char tree[REPO_OID_SIZE]; /* when there is one */
	char reason[400];	  /* why there is none; empty when ready or waiting */
};

/*
 * Makes the reverted tree in the state repository and asks for its build. Done again at each call:
 * the tree is the same each time. Whatever stands in the way is a reason, not an error; only the
 * database can fail it.
 */
bool revert_advance(struct bisector *bisector, const struct bisection *bisection,
		    const struct history_commit *culprit, struct revert *out,
		    struct err *err) _must_check;

#endif

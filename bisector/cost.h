/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_COST_H
#define BISECTOR_COST_H

/*
 * What a number from each node costs, in boots: the boot, the build by its distance from what lies in
 * the worktree, and both over the chance that they give one, which what was seen to break says.
 */

#include "bisector/evidence.h"

/* Fills cost and build_s of the evidence, once it knows what is built and what is lost. */
bool cost_find(struct db *db, struct evidence *evidence, struct err *err) _must_check;

#endif

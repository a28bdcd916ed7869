/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_SERIES_H
#define RUNNER_SERIES_H

/* Which commits of a branch belong to one patch series. */

#include "db/tree.h"

/*
 * Fills group_first[i] with the index of the first commit of i's series, i itself for a patch of its
 * own. The form is that of the mm tree: the first patch's text begins with `Patch series "TITLE"`
 * and says "This patch (of N):"; fixes of its patches (subject ending in "-fix" or "-fix-N") that
 * stand in between belong to it and are not counted. texts[0] is the base.
 */
void series_groups(const struct tree_text *texts, size_t n, int *group_first);

#endif

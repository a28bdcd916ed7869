/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_PATHS_H
#define BISECTOR_PATHS_H

/*
 * What a commit touches, as a reason to suspect it less. Pure. A commit is suspected in full unless
 * every path that it touches is unlikely to matter; then it keeps a share, never nothing: what is
 * built from a path cannot be known without building.
 */

#include "base/str.h"

struct path_rule {
	struct strs unlikely; /* "DIRECTORY/", "*ENDING" or a whole path */
	char *arch;	      /* the machines' directory below arch/; NULL: not known, all matter */
	double share;	      /* of a full suspicion; 0 < share <= 1 */
};

/* unlikely: what path_rule.unlikely holds, with blanks between; machine: as uname -m says, or NULL. */
void path_rule_init(struct path_rule *rule, const char *unlikely, const char *machine,
		    double share);
void path_rule_release(struct path_rule *rule);

/* How much a commit is suspected that touches these paths, one a line: 1, or the rule's share.
 * NULL (not known) and no path at all give 1. */
double path_rule_weight(const struct path_rule *rule, const char *paths);

/* Whether the path is of another architecture than the machines'. */
bool path_rule_foreign(const struct path_rule *rule, const char *path);

#endif

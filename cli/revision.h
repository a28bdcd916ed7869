/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_REVISION_H
#define CLI_REVISION_H

/*
 * A person's words for commits. BRANCH, TREE/BRANCH, or TREE (when it has one branch) name the head
 * as last fetched; ~3, ^ and the like may follow; anything else is what git knows, such as the
 * first digits of an object id. The commit must be in a followed branch.
 */

#include "cli/session.h"

struct revision {
	char oid[REPO_OID_SIZE];
	int64_t id; /* of the row in commits */
	char *tree; /* name of the tree that holds it */
	char *subject;
};

void revision_release(struct revision *revision);
/* ERR_NOTFOUND when nothing is called so. */
bool revision_find(struct session *session, const char *word, struct revision *out,
		   struct err *err) _must_check;
/*
 * REV, or FROM..TO: the commits of TO that are not in FROM, oldest first, appended to oids; *tree is
 * the caller's to free. An empty or too long range is ERR_USAGE.
 */
bool revision_range(struct session *session, const char *word, struct strs *oids, char **tree,
		    struct err *err) _must_check;

#endif

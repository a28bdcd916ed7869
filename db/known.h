/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_KNOWN_H
#define DB_KNOWN_H

/*
 * What can be asked for: checks of a person's words before a request is written. A word that is not
 * known is ERR_NOTFOUND with the words that are; nothing is written on the way.
 */

#include "db/conn.h"

/* Row of a commit, and the tree whose newest snapshot with it holds it (the caller frees it). */
bool known_commit(struct db *db, const char *oid, int64_t *id, char **tree,
		  struct err *err) _must_check;
/* All of oids must be in a followed snapshot; the tree is that of the last. */
bool known_commits(struct db *db, const struct strs *oids, char **tree,
		   struct err *err) _must_check;
bool known_suite(struct db *db, const char *name, struct err *err) _must_check;
/* suite NULL: of any suite. A metric of a benchmark that was never measured cannot be checked, and
 * passes. */
bool known_metric(struct db *db, const char *suite, const char *metric,
		  struct err *err) _must_check;
/* name NULL: the only class there is that measures the running kernel, or boots images, as
 * `running` says; a class of the other kind is ERR_USAGE. Unless may_wait, a machine of it must be up. The caller frees
 * *found. */
bool known_class(struct db *db, const char *name, bool running, bool may_wait, int64_t *id,
		 char **found, struct err *err) _must_check;
/* A machine that is in the settings of a runner, and the name of its class (the caller frees it). */
bool known_machine(struct db *db, const char *name, int64_t *id, char **class_name,
		   struct err *err) _must_check;
/* Tree and branch as `mmperf` shows them: resolves "BRANCH" or "TREE/BRANCH" to a tree; false in
 * *found when no followed branch is called so. The caller frees *tree. */
bool known_branch(struct db *db, const char *name, char **tree, char **branch, bool *found,
		  struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_TREE_H
#define DB_TREE_H

/*
 * What following a tree stores: trees, branches, commits with parents and patches, snapshots.
 * Reading them for planning is db/history.h.
 */

#include "base/repo.h"
#include "db/conn.h"

bool tree_upsert(struct db *db, const char *name, const char *url, int64_t *id,
		 struct err *err) _must_check;
/* base_ref NULL: stacked on the root commit. */
bool branch_upsert(struct db *db, int64_t tree, const char *name, const char *base_ref, int64_t *id,
		   struct err *err) _must_check;
/* Branches of the tree that are not in names any more become inactive. */
bool branch_retire(struct db *db, int64_t tree, const struct strs *names,
		   struct err *err) _must_check;
/* Number and head of the newest snapshot; 0 and empty text when there is none. */
bool branch_newest(struct db *db, int64_t branch, int *seq, char head[REPO_OID_SIZE],
		   struct err *err) _must_check;

struct tree_commit {
	struct repo_commit commit;
	char patch_id[REPO_OID_SIZE]; /* empty: merge, root or empty change */
};

struct tree_commits {
	struct tree_commit *v;
	size_t n;
	size_t cap;
};

void tree_commits_release(struct tree_commits *commits);

/* Appends those of oids that have no row to missing, in order. */
bool commits_missing(struct db *db, const struct strs *oids, struct strs *missing,
		     struct err *err) _must_check;
/*
 * Inserts commits, their patches and lineages, and the parents that are stored, too. A patch's
 * lineage is that of the earliest one with its Message-ID, else with its author and subject.
 */
bool commits_add(struct db *db, const struct tree_commits *commits, struct err *err) _must_check;

/* For grouping into series: texts of the commits at oids, in that order. */
struct tree_text {
	char *subject;
	char *body;
};
void tree_texts_free(struct tree_text *texts, size_t n);
/* n = oids->n; all must be stored. Free with tree_texts_free(). */
bool commits_texts(struct db *db, const struct strs *oids, struct tree_text **out,
		   struct err *err) _must_check;

/*
 * oids: the base, then parents before children up to the head; group_first[i]: position of the
 * first commit of i's series. ERR_CONFLICT when that number is taken.
 */
bool snapshot_add(struct db *db, int64_t branch, int seq, const struct strs *oids,
		  const int *group_first, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_HISTORY_H
#define DB_HISTORY_H

/* Snapshots, commits, their order, parents and patches, as planning and bisecting read them. */

#include "db/conn.h"

struct history_commit {
	int64_t id;
	char *oid;
	char *tree_oid;
	char *subject;	 /* hostile text */
	char *paths;	 /* touched, one a line, hostile text; NULL: not known, or too many */
	int64_t patch;	 /* 0: merge, root or empty change */
	int64_t lineage; /* the patch's lineage; 0 when patch is 0 */
	int64_t *parents;
	size_t n_parents;
};

struct history {
	struct history_commit *v;
	size_t n;
	size_t cap;
};

void history_release(struct history *history);

struct snapshot {
	int64_t id;
	int64_t branch;
	int64_t tree;
	char *tree_name;
	char *branch_name;
	int seq;
	int64_t head;
	int64_t base;
};

struct snapshots {
	struct snapshot *v;
	size_t n;
	size_t cap;
};

void snapshots_release(struct snapshots *snapshots);

struct snapshot_point {
	int64_t commit;
	int pos;
	bool boundary; /* the last patch of its series */
};

struct snapshot_points {
	struct snapshot_point *v;
	size_t n;
	size_t cap;
};

/* The last `per_branch` snapshots of each active branch: by branch, newest first. */
bool snapshots_read(struct db *db, int per_branch, struct snapshots *out,
		    struct err *err) _must_check;
/* By position, the base (0) first. The caller frees out->v. */
bool snapshot_points_read(struct db *db, int64_t snapshot, struct snapshot_points *out,
			  struct err *err) _must_check;

/* One commit; ERR_NOTFOUND. Free with history_commit_release(). */
bool commit_read(struct db *db, int64_t id, struct history_commit *out,
		 struct err *err) _must_check;
/* Id of an oid; ERR_NOTFOUND says that no followed branch holds it. */
bool commit_find(struct db *db, const char *oid, int64_t *id, struct err *err) _must_check;
void history_commit_release(struct history_commit *commit);
/* 0 when there is none (a root, or a base whose parents are not kept). */
bool commit_first_parent(struct db *db, int64_t id, int64_t *parent, struct err *err) _must_check;

/* Best common ancestor among the stored commits; 0 when the stored histories do not meet. */
bool history_merge_base(struct db *db, int64_t a, int64_t b, int64_t *base,
			struct err *err) _must_check;
/* `stop` and the commits reachable from a or b that are not reachable from it. */
bool history_read(struct db *db, int64_t a, int64_t b, int64_t stop, struct history *out,
		  struct err *err) _must_check;

/* The tree, by id and name, whose newest snapshot holds the commit, and the snapshot's branch and
 * base; ERR_NOTFOUND when none does. The caller frees *name. */
bool commit_tree(struct db *db, int64_t commit, int64_t *tree, char **name, int64_t *base,
		 struct err *err) _must_check;

#endif

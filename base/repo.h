/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_REPO_H
#define BASE_REPO_H

/*
 * Git, over libgit2 (only base/repo*.c call it). Object ids are 40 lower-case hex digits.
 * Commit texts are hostile: they come out as valid UTF-8 (anything else replaced) without NUL.
 */

#include "base/str.h"

#include <stdint.h>

#define REPO_OID_SIZE 41

#define REPO_PATHS_MAX 256 /* what touches more than so many paths touches everything */

struct repo;

struct repo_commit {
	char oid[REPO_OID_SIZE];
	char tree[REPO_OID_SIZE];
	struct strs parents; /* oids */
	char *author_name;
	char *author_email;
	int64_t author_time_s;
	int64_t commit_time_s;
	char *subject;
	char *body;	  /* message without the subject line */
	char *message_id; /* from a Message-ID: or Link: .../<id> trailer, without <>; or NULL */
	char *link;	  /* first Link: trailer with http(s); or NULL */
	struct strs
		paths; /* touched, against the parent; empty: merge, root, or over REPO_PATHS_MAX */
};

void repo_init(void); /* once per process, before anything else here */

/* Opens or creates a bare repository. reference (may be NULL): a local clone whose objects are
 * borrowed through objects/info/alternates; its branches become refs/mmperf/borrowed/ here. */
bool repo_open_bare(const char *dir, const char *reference, struct repo **out,
		    struct err *err) _must_check;
bool repo_open(const char *dir, struct repo **out, struct err *err) _must_check;
void repo_free(struct repo *repo);
void repo_free_ptr(struct repo **repo);

/* Fetches refs/heads/BRANCH of url into local_ref, by force. done/total objects are told to
 * progress when not NULL; it may return false to stop. ERR_NOTFOUND: no such branch or repository. */
bool repo_fetch(struct repo *repo, const char *url, const char *branch, const char *local_ref,
		bool (*progress)(void *arg, unsigned done, unsigned total), void *arg,
		struct err *err) _must_check;
/* Any revision git knows (SHA prefix, ref, HEAD~3) to the oid of its commit. ERR_NOTFOUND. */
bool repo_resolve(struct repo *repo, const char *rev, char oid[REPO_OID_SIZE],
		  struct err *err) _must_check;
bool repo_ref_set(struct repo *repo, const char *ref, const char *oid, struct err *err) _must_check;
/* Deletes; an absent ref is fine. */
bool repo_ref_delete(struct repo *repo, const char *ref, struct err *err) _must_check;

bool repo_commit_read(struct repo *repo, const char *oid, struct repo_commit *out,
		      struct err *err) _must_check;
void repo_commit_release(struct repo_commit *commit);
/* Best common ancestor; ERR_NOTFOUND when the histories are unrelated. */
bool repo_merge_base(struct repo *repo, const char *a, const char *b, char oid[REPO_OID_SIZE],
		     struct err *err) _must_check;
bool repo_is_ancestor(struct repo *repo, const char *ancestor, const char *of, bool *yes,
		      struct err *err) _must_check;
/* Commits reachable from `to` and not from `from` (may be NULL = all), parents before children. */
bool repo_walk(struct repo *repo, const char *from, const char *to, struct strs *oids,
	       struct err *err) _must_check;

/* Equal to `git patch-id --stable` (2.39 and later) of `git diff-tree -p --full-index`; without
 * --full-index the ids of binary files would change as the repository grows. (Known exception: a
 * line that begins with a form feed may pull libgit2's hunks another way.) Empty text for merges,
 * roots and commits that change nothing. */
bool repo_patch_id(struct repo *repo, const char *oid, char hex[REPO_OID_SIZE],
		   struct err *err) _must_check;
/* Paths that differ between two trees (tree or commit oids). */
bool repo_changed_paths(struct repo *repo, const char *from, const char *to, struct strs *paths,
			struct err *err) _must_check;
/* The diff of a commit to its first parent as text, at most max bytes. */
bool repo_diff_text(struct repo *repo, const char *oid, size_t max, struct str *out,
		    struct err *err) _must_check;

/*
 * Makes dir hold exactly the tree `to`. With `from` (a tree oid, what dir holds now) only paths
 * that differ are written, so that make rebuilds only what changed, and files that git does not
 * know (objects) stay; with NULL everything is written over an emptied directory. Writes by temp +
 * rename; the contents are on the disk when it returns, the names when a later fsync on the same
 * file system returns. Never follows a symbolic link below dir. Counts written and removed paths
 * (written may be NULL).
 */
bool repo_checkout_tree(struct repo *repo, const char *from, const char *to, const char *dir,
			size_t *written, struct err *err) _must_check;

/* Writes the names and oids of all of a tree's files to path, for repo_revive_tree(). */
bool repo_list_tree(struct repo *repo, const char *tree, const char *path,
		    struct err *err) _must_check;
/* Makes sure that the repository has the tree's own objects (not the files'), so that it can be compared with others: when
 * it is absent, from the listing in path. ERR_NOTFOUND: path lists another tree, or is not there. */
bool repo_revive_tree(struct repo *repo, const char *tree, const char *path,
		      struct err *err) _must_check;

/* Reverts culprit on top of tip in memory; the resulting tree's oid (written to the object store).
 * *clean is false, and tree untouched, when it conflicts. */
bool repo_revert_tree(struct repo *repo, const char *culprit, const char *tip, bool *clean,
		      char tree[REPO_OID_SIZE], struct err *err) _must_check;

/* Settings file in git-config syntax: calls entry("section", "name" or NULL, "key", value, arg) in
 * order. value is NULL for a bare key. Line numbers are found by conf.c. */
bool repo_config_each(const char *path,
		      bool (*entry)(void *arg, const char *section, const char *name,
				    const char *key, const char *value, struct err *err),
		      void *arg, struct err *err) _must_check;

#endif

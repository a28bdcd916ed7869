/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_REPO_INTERNAL_H
#define BASE_REPO_INTERNAL_H

/* Private to base/repo*.c, the one home of libgit2. */

#include "base/repo.h"

#include <git2.h>

struct repo {
	git_repository *git;
	char *dir; /* for messages */
};

/* Fills err with the context and libgit2's own words; GIT_ENOTFOUND becomes ERR_NOTFOUND. */
bool repo_fail(struct err *err, int code, const char *fmt, ...) _printf_(3, 4);
/* Parses 40 hex digits. */
bool repo_oid(const char *hex, git_oid *oid, struct err *err) _must_check;
void repo_hex(const git_oid *oid, char hex[REPO_OID_SIZE]);
/* Appends the paths that commit changes against its only parent; none for merges and roots. */
bool repo_commit_paths(struct repo *repo, git_commit *commit, struct strs *paths,
		       struct err *err) _must_check;
/* The caller frees these with the CLEANUP functions below. */
/* Against its first parent, or nothing. */
bool repo_diff_commit(struct repo *repo, git_commit *commit, git_diff **out,
		      struct err *err) _must_check;
bool repo_lookup_commit(struct repo *repo, const char *hex, git_commit **out,
			struct err *err) _must_check;
/* Of a tree's or a commit's oid; NULL hex gives a NULL tree. */
bool repo_lookup_tree(struct repo *repo, const char *hex, git_tree **out,
		      struct err *err) _must_check;

#define REPO_DEFINE_FREE(what)                         \
	static inline void free_##what(git_##what **p) \
	{                                              \
		git_##what##_free(*p);                 \
	}

REPO_DEFINE_FREE(blob)
REPO_DEFINE_FREE(commit)
REPO_DEFINE_FREE(config)
REPO_DEFINE_FREE(config_iterator)
REPO_DEFINE_FREE(diff)
REPO_DEFINE_FREE(index)
REPO_DEFINE_FREE(object)
REPO_DEFINE_FREE(odb)
REPO_DEFINE_FREE(reference)
REPO_DEFINE_FREE(reference_iterator)
REPO_DEFINE_FREE(remote)
REPO_DEFINE_FREE(repository)
REPO_DEFINE_FREE(revwalk)
REPO_DEFINE_FREE(tree)
REPO_DEFINE_FREE(tree_entry)

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees that are known longer than their repository: listings of them, in the form of a git index. */
#include "base/repo.h"

#include <string.h>
#include <unistd.h>

#include "base/repo_internal.h"

/* What a killed process left of libgit2's way to write goes too. */
static void forget(const char *path)
{
	AUTO_FREE char *lock = xasprintf("%s.lock", path);

	unlink(lock);
	unlink(path);
}

bool repo_list_tree(struct repo *repo, const char *tree, const char *path, struct err *err)
{
	CLEANUP(free_tree) git_tree *listed = NULL;
	CLEANUP(free_index) git_index *index = NULL;
	int code;

	forget(path);
	if (!repo_lookup_tree(repo, tree, &listed, err))
		return false;
	code = git_index_open(&index, path);
	if (!code)
		code = git_index_read_tree(index, listed);
	if (!code)
		code = git_index_write(index);
	return !code || repo_fail(err, code, "cannot list tree %s in %s", tree, path);
}

/* The index on disk also holds oids of its trees, and libgit2 writes no tree of which it has one: a copy has none. */
static int copy_entries(git_index *to, git_index *from)
{
	int code = 0;

	for (size_t i = 0; !code && i < git_index_entrycount(from); i++)
		code = git_index_add(to, git_index_get_byindex(from, i));
	return code;
}

/* The tree objects only: nothing says that the files are in this repository. */
static int write_trees(git_oid *oid, git_index *listed, git_repository *git)
{
	CLEANUP(free_index) git_index *index = NULL;
	int code = git_index_new(&index);

	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, 0);
	if (!code)
		code = copy_entries(index, listed);
	if (!code)
		code = git_index_write_tree_to(oid, index, git);
	git_libgit2_opts(GIT_OPT_ENABLE_STRICT_OBJECT_CREATION, 1);
	return code;
}

bool repo_revive_tree(struct repo *repo, const char *tree, const char *path, struct err *err)
{
	CLEANUP(free_tree) git_tree *known = NULL;
	CLEANUP(free_index) git_index *index = NULL;
	char found[REPO_OID_SIZE];
	git_oid oid;
	int code;

	if (repo_lookup_tree(repo, tree, &known, err))
		return true;
	code = git_index_open(&index, path);
	if (!code)
		code = write_trees(&oid, index, repo->git);
	if (code)
		return repo_fail(err, code, "cannot read the list of a tree in %s", path);
	repo_hex(&oid, found);
	return !strcmp(found, tree) ||
	       err_set(err, ERR_NOTFOUND, "%s lists tree %s, not %s", path, found, tree);
}

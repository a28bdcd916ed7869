// SPDX-License-Identifier: GPL-2.0-or-later
/* Trees onto disk. */
#include "base/repo.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/repo_internal.h"

#define TEMP_NAME ".mmperf-new"

/* Up to so many files each is synced by itself, else the whole file system once. */
#define SYNC_EACH_MAX 500

/* Paths come sorted, so the directory of the last one is kept open for the next. */
struct checkout {
	struct repo *repo;
	const char *dir;
	int root;
	int parent; /* of the last path; -1 = none */
	char *parent_path;
	bool sync_each;
	size_t count;
};

static void checkout_release(struct checkout *c)
{
	mem_close_ptr(&c->root);
	mem_close_ptr(&c->parent);
	free(c->parent_path);
}

static bool is_safe_component(const char *s, size_t n)
{
	if (!n || (n == 1 && s[0] == '.') || (n == 2 && s[0] == '.' && s[1] == '.'))
		return false;
	if (n == strlen(TEMP_NAME) && !memcmp(s, TEMP_NAME, n))
		return false;
	return n != 4 || strncasecmp(s, ".git", 4) != 0;
}

static bool check_path(const char *path, struct err *err)
{
	const char *p = path;

	for (;;) {
		size_t n = strcspn(p, "/");

		if (!is_safe_component(p, n))
			return err_set(err, ERR_FAILED, "the tree holds a hostile path: \"%s\"",
				       path);
		if (!p[n])
			return true;
		p += n + 1;
	}
}

static int open_dir_at(int fd, const char *name)
{
	return openat(fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* The directory name in fd, made when absent; what stands in its way is not git's and goes. */
static int enter(int fd, const char *name, bool make, struct err *err)
{
	int sub = open_dir_at(fd, name);

	if (sub >= 0 || !make)
		return sub;
	if ((errno == ENOTDIR || errno == ELOOP) && unlinkat(fd, name, 0))
		err_sys(err, "cannot remove %s", name);
	else if (mkdirat(fd, name, 0755))
		err_sys(err, "cannot make directory %s", name);
	else if ((sub = open_dir_at(fd, name)) < 0)
		err_sys(err, "cannot open directory %s", name);
	return sub;
}

/* Opens the directory that holds path. False with errno ENOENT or ENOTDIR when !make. */
static bool go_to_parent(struct checkout *c, const char *path, bool make, struct err *err)
{
	const char *slash = strrchr(path, '/');
	AUTO_FREE char *dir = xstrndup(path, slash ? (size_t)(slash - path) : 0);
	AUTO_CLOSE int fd = -1;
	char *rest = dir, *name;

	if (c->parent >= 0 && !strcmp(c->parent_path, dir))
		return true;
	fd = dup(c->root);
	while (fd >= 0 && (name = strsep(&rest, "/")) && *name) {
		int sub = enter(fd, name, make, err);

		close(fd);
		fd = sub;
	}
	if (fd < 0)
		return false;
	mem_close_ptr(&c->parent);
	free(c->parent_path);
	c->parent = TAKE_FD(fd);
	c->parent_path = xstrndup(path, slash ? (size_t)(slash - path) : 0);
	return true;
}

static void leave_parent(struct checkout *c)
{
	mem_close_ptr(&c->parent);
	c->parent = -1;
	free(TAKE(c->parent_path));
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Directories that path's removal emptied; those that hold objects stay. */
static void prune_parents(struct checkout *c, const char *path)
{
	AUTO_FREE char *dir = xstrdup(path);
	struct err ignored;
	char *slash;

	while ((slash = strrchr(dir, '/'))) {
		*slash = '\0';
		leave_parent(c);
		if (!go_to_parent(c, dir, false, &ignored) ||
		    unlinkat(c->parent, base_name(dir), AT_REMOVEDIR))
			return;
	}
}

static bool remove_path(struct checkout *c, const git_diff_delta *delta, struct err *err)
{
	const char *path = delta->old_file.path;
	int flags = delta->old_file.mode == GIT_FILEMODE_COMMIT ? AT_REMOVEDIR : 0;

	if (!check_path(path, err))
		return false;
	c->count++;
	if (!go_to_parent(c, path, false, err))
		return errno == ENOENT || errno == ENOTDIR || errno == ELOOP
			       ? true
			       : err_sys(err, "cannot reach %s/%s", c->dir, path);
	if (unlinkat(c->parent, base_name(path), flags) && errno != ENOENT)
		return err_sys(err, "cannot remove %s/%s", c->dir, path);
	prune_parents(c, path);
	return true;
}

static bool make_file(const struct checkout *c, const char *data, size_t n, mode_t mode)
{
	AUTO_CLOSE int fd = openat(c->parent, TEMP_NAME,
				   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);

	return fd >= 0 && fs_write_fd(fd, data, n) && !fchmod(fd, mode) &&
	       (!c->sync_each || !fsync(fd));
}

static bool make_temp(struct checkout *c, const git_diff_file *file, struct err *err)
{
	CLEANUP(free_blob) git_blob *blob = NULL;
	int code = git_blob_lookup(&blob, c->repo->git, &file->id);
	const char *data;
	size_t n;
	bool ok;

	if (code)
		return repo_fail(err, code, "%s in %s", file->path, c->repo->dir);
	data = git_blob_rawcontent(blob);
	n = (size_t)git_blob_rawsize(blob);
	unlinkat(c->parent, TEMP_NAME, 0);
	if (file->mode == GIT_FILEMODE_LINK) {
		AUTO_FREE char *target = xstrndup(data, n);

		ok = !symlinkat(target, c->parent, TEMP_NAME);
	} else {
		ok = make_file(c, data, n,
			       file->mode == GIT_FILEMODE_BLOB_EXECUTABLE ? 0755 : 0644);
	}
	return ok ? true : err_sys(err, "cannot write %s/%s", c->dir, file->path);
}

static bool write_path(struct checkout *c, const git_diff_delta *delta, struct err *err)
{
	const git_diff_file *file = &delta->new_file;
	const char *name = base_name(file->path);

	if (!check_path(file->path, err))
		return false;
	c->count++;
	if (!go_to_parent(c, file->path, true, err))
		return err_wrap(err, "%s/%s", c->dir, file->path);
	if (file->mode == GIT_FILEMODE_COMMIT)
		return !mkdirat(c->parent, name, 0755) || errno == EEXIST ||
		       err_sys(err, "cannot make directory %s/%s", c->dir, file->path);
	if (!make_temp(c, file, err))
		return false;
	if (!renameat(c->parent, TEMP_NAME, c->parent, name))
		return true;
	/* A directory that still holds objects stands where a file must be. */
	if (errno == EISDIR && !fs_remove_tree_at(c->parent, name, err))
		return false;
	if (renameat(c->parent, TEMP_NAME, c->parent, name))
		return err_sys(err, "cannot rename a finished file to %s/%s", c->dir, file->path);
	return true;
}

/* Removals first: a file may have become a directory, or the other way round. */
static bool apply(struct checkout *c, git_diff *diff, struct err *err)
{
	for (size_t i = git_diff_num_deltas(diff); i; i--) {
		const git_diff_delta *delta = git_diff_get_delta(diff, i - 1);

		if (delta->status == GIT_DELTA_DELETED && !remove_path(c, delta, err))
			return false;
	}
	leave_parent(c);
	for (size_t i = 0; i < git_diff_num_deltas(diff); i++) {
		const git_diff_delta *delta = git_diff_get_delta(diff, i);

		if (delta->status != GIT_DELTA_DELETED && !write_path(c, delta, err))
			return false;
	}
	return true;
}

static bool open_root(struct checkout *c, bool empty, struct err *err)
{
	if (!fs_mkdirs(c->dir, 0755, err) || (empty && !fs_empty_dir(c->dir, err)))
		return false;
	c->root = open(c->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return c->root >= 0 || err_sys(err, "cannot open directory %s", c->dir);
}

bool repo_checkout_tree(struct repo *repo, const char *from, const char *to, const char *dir,
			size_t *written, struct err *err)
{
	CLEANUP(checkout_release)
	struct checkout c = {.repo = repo, .dir = dir, .root = -1, .parent = -1};
	CLEANUP(free_tree) git_tree *before = NULL;
	CLEANUP(free_tree) git_tree *after = NULL;
	CLEANUP(free_diff) git_diff *diff = NULL;
	int code;

	if (!repo_lookup_tree(repo, from, &before, err) || !repo_lookup_tree(repo, to, &after, err))
		return false;
	code = git_diff_tree_to_tree(&diff, repo->git, before, after, NULL);
	if (code)
		return repo_fail(err, code, "cannot compare trees in %s", repo->dir);
	/* The caller writes down that dir holds this tree: that must not outlive the files. */
	c.sync_each = git_diff_num_deltas(diff) <= SYNC_EACH_MAX;
	if (!open_root(&c, !from, err) || !apply(&c, diff, err))
		return false;
	if (!c.sync_each && syncfs(c.root))
		return err_sys(err, "cannot sync %s", dir);
	if (written)
		*written = c.count;
	return true;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Files and directories. */
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static bool fail_open(struct err *err, const char *path)
{
	int saved = errno;

	err_sys(err, "cannot open %s", path);
	if (saved == ENOENT)
		err->kind = ERR_NOTFOUND;
	return false;
}

bool fs_read(const char *path, size_t max, struct str *out, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	size_t start = out->len;
	char buf[16384];
	ssize_t n;

	if (fd < 0)
		return fail_open(err, path);
	while ((n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			err_sys(err, "cannot read %s", path);
		else if ((size_t)n > max - (out->len - start))
			err_set(err, ERR_FAILED, "%s is larger than %zu bytes", path, max);
		else {
			str_addn(out, buf, (size_t)n);
			continue;
		}
		out->len = start;
		out->s[start] = '\0';
		return false;
	}
	return true;
}

bool fs_write_fd(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n) {
		ssize_t done = write(fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return false;
		p += done;
		n -= (size_t)done;
	}
	return true;
}

static char *parent_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	if (!slash)
		return xstrdup(".");
	return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

bool fs_sync_dir(const char *path, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return fail_open(err, path);
	/* Some file systems cannot sync a directory and say EINVAL: nothing more can be done. */
	if (fsync(fd) && errno != EINVAL)
		return err_sys(err, "cannot sync directory %s", path);
	return true;
}

/* A file being written that appears under its name only when it is whole. */
struct temp {
	const char *path; /* the final name */
	char *dir;
	char *name; /* NULL once renamed */
	int fd;
};

static void temp_release(struct temp *temp)
{
	mem_close_ptr(&temp->fd);
	if (temp->name)
		unlink(temp->name);
	free(temp->name);
	free(temp->dir);
}

static bool temp_open(struct temp *temp, const char *path, struct err *err)
{
	temp->path = path;
	temp->dir = parent_of(path);
	temp->name = xasprintf("%s/.tmp.XXXXXX", temp->dir);
	temp->fd = mkostemp(temp->name, O_CLOEXEC);
	if (temp->fd >= 0)
		return true;
	mem_free_ptr(&temp->name);
	temp->name = NULL;
	return err_sys(err, "cannot create a file in %s", temp->dir);
}

static bool temp_commit(struct temp *temp, mode_t mode, struct err *err)
{
	if (fchmod(temp->fd, mode) || fsync(temp->fd))
		return err_sys(err, "cannot write %s", temp->path);
	if (close(TAKE_FD(temp->fd)))
		return err_sys(err, "cannot write %s", temp->path);
	if (rename(temp->name, temp->path))
		return err_sys(err, "cannot rename a finished file to %s", temp->path);
	free(TAKE(temp->name));
	return fs_sync_dir(temp->dir, err);
}

bool fs_write_atomic(const char *path, const void *data, size_t n, mode_t mode, struct err *err)
{
	CLEANUP(temp_release) struct temp temp = {.fd = -1};

	if (!temp_open(&temp, path, err))
		return false;
	if (!fs_write_fd(temp.fd, data, n))
		return err_sys(err, "cannot write %s", path);
	return temp_commit(&temp, mode, err);
}

bool fs_copy(const char *from, const char *to, mode_t mode, struct err *err)
{
	AUTO_CLOSE int in = open(from, O_RDONLY | O_CLOEXEC);
	CLEANUP(temp_release) struct temp temp = {.fd = -1};
	AUTO_FREE char *buf = xmalloc(1 << 17);
	ssize_t n;

	if (in < 0)
		return fail_open(err, from);
	if (!temp_open(&temp, to, err))
		return false;
	while ((n = read(in, buf, 1 << 17)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "cannot read %s", from);
		if (!fs_write_fd(temp.fd, buf, (size_t)n))
			return err_sys(err, "cannot write %s", to);
	}
	return temp_commit(&temp, mode, err);
}

bool fs_poke(const char *path, const char *value, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_WRONLY | O_CLOEXEC);
	size_t n = strlen(value);
	ssize_t done;

	if (fd < 0)
		return fail_open(err, path);
	/* One write: a kernel file parses each write by itself. */
	do
		done = write(fd, value, n);
	while (done < 0 && errno == EINTR);
	if (done < 0)
		return err_sys(err, "cannot write \"%s\" to %s", value, path);
	if ((size_t)done != n)
		return err_set(err, ERR_FAILED, "%s took only part of \"%s\"", path, value);
	return true;
}

static bool make_dir(const char *path, mode_t mode, struct err *err)
{
	struct stat st;

	if (!mkdir(path, mode))
		return true;
	if (errno != EEXIST)
		return err_sys(err, "cannot make directory %s", path);
	if (stat(path, &st))
		return err_sys(err, "cannot look at %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_FAILED, "%s exists and is not a directory", path);
	return true;
}

bool fs_mkdirs(const char *path, mode_t mode, struct err *err)
{
	AUTO_FREE char *copy = xstrdup(path);

	for (char *p = copy; *p; p++) {
		if (*p != '/' || p == copy || p[-1] == '/')
			continue;
		*p = '\0';
		if (!make_dir(copy, mode, err))
			return false;
		*p = '/';
	}
	return make_dir(copy, mode, err);
}

static void closedir_ptr(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

static bool remove_at(int parent, const char *name, const char *top, struct err *err);

/* Owns fd. */
static bool remove_children(int fd, const char *name, const char *top, struct err *err)
{
	CLEANUP(closedir_ptr) DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	if (!dir) {
		err_sys(err, "cannot open directory %s below %s", name, top);
		mem_close_ptr(&fd);
		return false;
	}
	while ((errno = 0, entry = readdir(dir))) {
		if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
			continue;
		if (!remove_at(dirfd(dir), entry->d_name, top, err))
			return false;
	}
	return errno ? err_sys(err, "cannot list %s below %s", name, top) : true;
}

static bool remove_at(int parent, const char *name, const char *top, struct err *err)
{
	int fd;

	if (!unlinkat(parent, name, 0) || errno == ENOENT)
		return true;
	/* Linux says EISDIR for a directory, POSIX allows EPERM. */
	if (errno != EISDIR && errno != EPERM)
		return err_sys(err, "cannot remove %s below %s", name, top);
	fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (!remove_children(fd, name, top, err))
		return false;
	if (unlinkat(parent, name, AT_REMOVEDIR) && errno != ENOENT)
		return err_sys(err, "cannot remove directory %s below %s", name, top);
	return true;
}

bool fs_remove_tree(const char *path, struct err *err)
{
	return remove_at(AT_FDCWD, path, path, err);
}

bool fs_empty_dir(const char *path, struct err *err)
{
	return remove_children(open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), path, path, err);
}

bool fs_remove_tree_at(int parent, const char *name, struct err *err)
{
	return remove_at(parent, name, name, err);
}

static bool is_old_file(int dir_fd, const char *name, double age_s)
{
	struct timespec now;
	struct stat st;

	clock_gettime(CLOCK_REALTIME, &now);
	return !fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) && S_ISREG(st.st_mode) &&
	       difftime(now.tv_sec, st.st_mtime) >= age_s;
}

void fs_sweep(const char *path, const char *prefix, double age_s)
{
	DIR *dir = opendir(path);
	const struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (!strncmp(entry->d_name, prefix, strlen(prefix)) &&
		    is_old_file(dirfd(dir), entry->d_name, age_s))
			unlinkat(dirfd(dir), entry->d_name, 0);
	closedir(dir);
}

bool fs_exists(const char *path)
{
	return !access(path, F_OK);
}

int64_t fs_free_bytes(const char *path)
{
	struct statvfs st;

	if (statvfs(path, &st))
		return -1;
	return (int64_t)st.f_bavail * (int64_t)st.f_frsize;
}

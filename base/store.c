// SPDX-License-Identifier: GPL-2.0-or-later
/* Artifacts by content. */
#include "base/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"

#define ABANDONED_S 86400.0 /* no artifact takes a day to arrive */

struct store {
	char *dir;
};

bool store_open(const char *dir, struct store **out, struct err *err)
{
	AUTO_FREE char *incoming = xasprintf("%s/incoming", dir);

	if (!fs_mkdirs(incoming, 0755, err))
		return err_wrap(err, "artifact store");
	fs_sweep(incoming, "", ABANDONED_S);
	*out = xcalloc(1, sizeof(**out));
	(*out)->dir = xstrdup(dir);
	return true;
}

void store_free(struct store *store)
{
	if (store)
		free(store->dir);
	free(store);
}

void store_free_ptr(struct store **store)
{
	store_free(*store);
}

/* An object on its way in. */
struct incoming {
	struct store *store;
	char *path; /* NULL once it has its place or is gone */
	int fd;
	struct hash *hash;
	int64_t size;
};

static void incoming_release(struct incoming *in)
{
	mem_close_ptr(&in->fd);
	if (in->path)
		unlink(in->path);
	free(in->path);
	free(in->hash);
}

static bool write_failed(const struct store *store, struct err *err)
{
	if (errno == ENOSPC || errno == EDQUOT)
		return err_set(err, ERR_FAILED,
			       "artifact store %s: no space left on device (%lld MiB free): free "
			       "some space or move it",
			       store->dir, (long long)(fs_free_bytes(store->dir) >> 20));
	return err_sys(err, "cannot write to the artifact store %s", store->dir);
}

static bool incoming_open(struct incoming *in, struct store *store, struct err *err)
{
	char *path = xasprintf("%s/incoming/XXXXXX", store->dir);

	*in = (struct incoming){.store = store, .hash = hash_new()};
	in->fd = mkostemp(path, O_CLOEXEC);
	if (in->fd < 0) {
		write_failed(store, err);
		free(path);
		return false;
	}
	in->path = path;
	return true;
}

static bool incoming_add(struct incoming *in, const char *data, size_t n, struct err *err)
{
	hash_add(in->hash, data, n);
	in->size += (int64_t)n;
	return fs_write_fd(in->fd, data, n) ? true : write_failed(in->store, err);
}

static char *object_path(const struct store *store, const char *sha256)
{
	return xasprintf("%s/%.2s/%s", store->dir, sha256, sha256 + 2);
}

/* An object that was damaged on disk is not worth keeping over a good one. */
static bool is_stored(const char *path, const char *sha256)
{
	char hex[HASH_HEX_SIZE];
	struct err ignored;

	return fs_exists(path) && hash_file(path, hex, &ignored) && !strcmp(hex, sha256);
}

static bool incoming_place(struct incoming *in, char sha256[HASH_HEX_SIZE], struct err *err)
{
	char hex[HASH_HEX_SIZE], written[HASH_HEX_SIZE];
	AUTO_FREE char *path = NULL, *dir = NULL;

	hash_finish(TAKE(in->hash), hex);
	path = object_path(in->store, hex);
	if (is_stored(path, hex)) {
		memcpy(sha256, hex, sizeof(hex));
		return true;
	}
	dir = xasprintf("%s/%.2s", in->store->dir, hex);
	if (fchmod(in->fd, 0444) || fsync(in->fd) || close(TAKE_FD(in->fd)))
		return write_failed(in->store, err);
	if (!hash_file(in->path, written, err))
		return false;
	if (strcmp(hex, written))
		return err_set(err, ERR_FAILED, "%s does not hold what was written: check the disk",
			       in->path);
	if (!fs_mkdirs(dir, 0755, err))
		return false;
	if (rename(in->path, path))
		return err_sys(err, "cannot place an artifact at %s", path);
	free(TAKE(in->path));
	if (!fs_sync_dir(dir, err))
		return false;
	memcpy(sha256, hex, sizeof(hex));
	return true;
}

static bool incoming_drain(struct incoming *in, int fd, const char *path, struct err *err)
{
	AUTO_FREE char *buf = xmalloc(1 << 17);
	ssize_t n;

	while ((n = read(fd, buf, 1 << 17)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "cannot read %s", path);
		if (!incoming_add(in, buf, (size_t)n, err))
			return false;
	}
	return true;
}

bool store_put_file(struct store *store, const char *path, char sha256[HASH_HEX_SIZE],
		    int64_t *size, struct err *err)
{
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	CLEANUP(incoming_release) struct incoming in = {.fd = -1};

	if (fd < 0)
		return err_sys(err, "cannot open %s", path);
	if (!incoming_open(&in, store, err) || !incoming_drain(&in, fd, path, err) ||
	    !incoming_place(&in, sha256, err))
		return false;
	if (size)
		*size = in.size;
	return true;
}

bool store_put(struct store *store, const void *data, size_t n, char sha256[HASH_HEX_SIZE],
	       struct err *err)
{
	CLEANUP(incoming_release) struct incoming in = {.fd = -1};

	return incoming_open(&in, store, err) && incoming_add(&in, data, n, err) &&
	       incoming_place(&in, sha256, err);
}

bool store_get(struct store *store, const char *sha256, char **path, struct err *err)
{
	AUTO_FREE char *found = NULL;

	/* It becomes part of a path. */
	if (strlen(sha256) != HASH_HEX_SIZE - 1 || strspn(sha256, "0123456789abcdef") != 64)
		return err_set(err, ERR_FAILED, "\"%s\" is not a sha256", sha256);
	found = object_path(store, sha256);
	if (!fs_exists(found))
		return err_set(err, ERR_NOTFOUND, "artifact %s is not in %s", sha256, store->dir);
	*path = TAKE(found);
	return true;
}

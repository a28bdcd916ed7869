/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BASE_FS_H
#define BASE_FS_H

/* Files: whole reads, atomic writes, directories. */

#include "base/str.h"

#include <stdint.h>
#include <sys/types.h>

/* Reads at most max bytes; a larger file is an error. Appends to out. ERR_NOTFOUND when absent. */
bool fs_read(const char *path, size_t max, struct str *out, struct err *err) _must_check;
/* Temp file beside path, fsync, rename, fsync of the directory: the old file or the new one. */
bool fs_write_atomic(const char *path, const void *data, size_t n, mode_t mode,
		     struct err *err) _must_check;
/* All n bytes; false leaves the reason in errno. */
bool fs_write_fd(int fd, const void *data, size_t n) _must_check;
/* Makes names in the directory lasting. */
bool fs_sync_dir(const char *path, struct err *err) _must_check;
/* Plain write to an existing special file (sysfs, procfs); the errno text tells why it refused. */
bool fs_poke(const char *path, const char *value, struct err *err) _must_check;
bool fs_copy(const char *from, const char *to, mode_t mode, struct err *err) _must_check;
/* mkdir -p; an existing directory is fine. */
bool fs_mkdirs(const char *path, mode_t mode, struct err *err) _must_check;
/* rm -rf below and including path; an absent path is fine; never follows symbolic links. */
bool fs_remove_tree(const char *path, struct err *err) _must_check;
/* Removes what is in the directory, not the directory itself. */
bool fs_empty_dir(const char *path, struct err *err) _must_check;
/* fs_remove_tree() for name in the directory parent (a descriptor, or AT_FDCWD). */
bool fs_remove_tree_at(int parent, const char *name, struct err *err) _must_check;
/* Removes plain files of the directory whose names begin with prefix and that nobody has touched for
 * age_s: what a process that was killed left half-written. What cannot be removed stays. */
void fs_sweep(const char *path, const char *prefix, double age_s);
bool fs_exists(const char *path);
/* Free bytes for unprivileged users on the file system of path; -1 when it cannot be told. */
int64_t fs_free_bytes(const char *path);

#endif

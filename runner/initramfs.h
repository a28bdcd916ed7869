/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_INITRAMFS_H
#define RUNNER_INITRAMFS_H

/*
 * Archives in cpio's "newc" form (Documentation/driver-api/early-userspace/buffer-format.rst): the
 * guest's root, made without tools and without privileges. Archives may stand behind each other.
 */

#include "base/str.h"

#include <sys/types.h>

struct initramfs {
	struct str bytes;
	unsigned next_inode;
};

void initramfs_init(struct initramfs *fs);
void initramfs_release(struct initramfs *fs);
/* An archive of somebody else's, packed in whatever way the kernel unpacks, in front of ours, whose files win. To be called first. */
bool initramfs_behind(struct initramfs *fs, const char *path, struct err *err) _must_check;
void initramfs_dir(struct initramfs *fs, const char *name);
void initramfs_file(struct initramfs *fs, const char *name, mode_t mode, const void *data,
		    size_t n);
bool initramfs_file_from(struct initramfs *fs, const char *name, mode_t mode, const char *path,
			 struct err *err) _must_check;
void initramfs_chardev(struct initramfs *fs, const char *name, unsigned major, unsigned minor);
/* Writes the trailer; nothing may be added afterwards but a new archive. */
void initramfs_end(struct initramfs *fs);

/* Everything that is the same for all boots: directories, device nodes, agent as /init. */
bool initramfs_base(struct initramfs *fs, const char *agent, struct err *err) _must_check;

#endif

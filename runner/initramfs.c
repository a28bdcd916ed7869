// SPDX-License-Identifier: GPL-2.0-or-later
/* Writing cpio archives. */
#include "runner/initramfs.h"

#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"

#define MAX_FILE ((size_t)512 << 20)

void initramfs_init(struct initramfs *fs)
{
	*fs = (struct initramfs){.bytes = str_new(), .next_inode = 1};
}

void initramfs_release(struct initramfs *fs)
{
	str_release(&fs->bytes);
}

static void pad(struct initramfs *fs)
{
	static const char zeros[4];

	str_addn(&fs->bytes, zeros, -fs->bytes.len & 3);
}

static void header(struct initramfs *fs, const char *name, mode_t mode, size_t size, unsigned major,
		   unsigned minor)
{
	/* ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize
	 * check. The times are fixed: equal content is equal bytes. */
	str_addf(&fs->bytes, "070701%08X%08X%08X%08X%08X%08X%08zX%08X%08X%08X%08X%08zX%08X",
		 fs->next_inode++, (unsigned)mode, 0U, 0U, S_ISDIR(mode) ? 2U : 1U, 0U, size, 0U,
		 0U, major, minor, strlen(name) + 1, 0U);
	str_addn(&fs->bytes, name, strlen(name) + 1);
	pad(fs);
}

bool initramfs_behind(struct initramfs *fs, const char *path, struct err *err)
{
	if (!fs_read(path, MAX_FILE, &fs->bytes, err))
		return false;
	pad(fs); /* init/initramfs.c: a header is looked for at multiples of four only */
	return true;
}

void initramfs_dir(struct initramfs *fs, const char *name)
{
	header(fs, name, S_IFDIR | 0755, 0, 0, 0);
}

void initramfs_file(struct initramfs *fs, const char *name, mode_t mode, const void *data, size_t n)
{
	header(fs, name, S_IFREG | mode, n, 0, 0);
	str_addn(&fs->bytes, data, n);
	pad(fs);
}

bool initramfs_file_from(struct initramfs *fs, const char *name, mode_t mode, const char *path,
			 struct err *err)
{
	AUTO_STR data = str_new();

	if (!fs_read(path, MAX_FILE, &data, err))
		return false;
	initramfs_file(fs, name, mode, data.s, data.len);
	return true;
}

void initramfs_chardev(struct initramfs *fs, const char *name, unsigned major, unsigned minor)
{
	header(fs, name, S_IFCHR | 0600, 0, major, minor);
}

void initramfs_end(struct initramfs *fs)
{
	static const char zeros[512];

	header(fs, "TRAILER!!!", 0, 0, 0, 0);
	str_addn(&fs->bytes, zeros, -fs->bytes.len & 511);
}

bool initramfs_base(struct initramfs *fs, const char *agent, struct err *err)
{
	static const char *const dirs[] = {"dev", "proc", "sys", "tmp", "run", "mnt"};

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		initramfs_dir(fs, dirs[i]);
	/* The kernel opens the console before anything of ours runs. */
	initramfs_chardev(fs, "dev/console", 5, 1);
	initramfs_chardev(fs, "dev/null", 1, 3);
	return initramfs_file_from(fs, "init", 0755, agent, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* A swap file. */
#include "bench/swapfile.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/swap.h>
#include <unistd.h>

#include "base/fs.h"

#define PAGE ((size_t)4096)

/* The first page: union swap_header of linux/swap.h. */
static void fill_header(char *page, size_t pages)
{
	uint32_t version = 1, last_page = (uint32_t)(pages - 1);

	memcpy(page + 1024, &version, sizeof(version));
	memcpy(page + 1028, &last_page, sizeof(last_page));
	memcpy(page + PAGE - 10, "SWAPSPACE2", 10);
}

/* Without holes, which swapon(2) refuses. */
static bool write_file(int fd, size_t size)
{
	AUTO_FREE char *page = xcalloc(1, PAGE);
	AUTO_FREE char *block = xcalloc(256, PAGE);

	fill_header(page, size / PAGE);
	for (size_t at = 0; at < size; at += 256 * PAGE) {
		if (!fs_write_fd(fd, block, size - at < 256 * PAGE ? size - at : 256 * PAGE))
			return false;
	}
	return pwrite(fd, page, PAGE, 0) == (ssize_t)PAGE && !fsync(fd);
}

bool swapfile_on(struct swapfile *swap, const char *dir, size_t size, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/mmperf-swap.XXXXXX", dir);
	AUTO_CLOSE int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, "cannot make a swap file in %s", dir);
	swap->path = xstrdup(path);
	if (!write_file(fd, size))
		return err_sys(err, "cannot write %zu bytes to %s", size, path);
	if (swapon(path, SWAP_FLAG_PREFER | SWAP_FLAG_PRIO_MASK))
		return err_sys(err, "cannot swap to %s (are you root? --dir on ext4 or xfs)", path);
	swap->on = true;
	return true;
}

void swapfile_off(struct swapfile *swap)
{
	if (swap->on && swapoff(swap->path))
		perror(swap->path);
	if (swap->path)
		unlink(swap->path);
	free(swap->path);
	*swap = (struct swapfile)SWAPFILE_INIT;
}

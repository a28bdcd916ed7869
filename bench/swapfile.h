/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BENCH_SWAPFILE_H
#define BENCH_SWAPFILE_H

/* Swap space for the time of a run. */

#include "base/str.h"

struct swapfile {
	char *path;
	bool on;
};

#define SWAPFILE_INIT       \
	{                   \
		NULL, false \
	}
#define AUTO_SWAPFILE CLEANUP(swapfile_off) struct swapfile

/* Makes a file of size bytes in dir and swaps to it before all other swap space. The file system
 * has to allow that (ext4 and xfs do, tmpfs and overlays do not). */
bool swapfile_on(struct swapfile *swap, const char *dir, size_t size, struct err *err) _must_check;
/* Brings back what is in it and removes it. */
void swapfile_off(struct swapfile *swap);

#endif

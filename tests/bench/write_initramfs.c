// SPDX-License-Identifier: GPL-2.0-or-later
/* write_initramfs AGENT: the archive that every guest boots with, on stdout. */
#include <stdio.h>

#include "runner/initramfs.h"

int main(int argc, char **argv)
{
	CLEANUP(initramfs_release) struct initramfs fs;
	struct err err;

	initramfs_init(&fs);
	if (argc != 2 || !initramfs_base(&fs, argv[1], &err)) {
		fprintf(stderr, "write_initramfs: %s\n", argc == 2 ? err.msg : "which agent?");
		return 1;
	}
	initramfs_end(&fs);
	return fwrite(fs.bytes.s, 1, fs.bytes.len, stdout) != fs.bytes.len;
}

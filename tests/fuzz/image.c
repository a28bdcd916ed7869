// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzer of the reader of a vmlinux, which strangers' Makefiles have made (libFuzzer). */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/fs.h"
#include "base/mem.h"
#include "runner/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_CLOSE int fd = memfd_create("vmlinux", MFD_CLOEXEC);
	struct image_identity identity = {0};
	char path[32];
	struct err err;

	if (fd < 0 || !fs_write_fd(fd, data, size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (image_identify(path, &identity, &err) && !identity.content_hash[0])
		abort();
	return 0;
}

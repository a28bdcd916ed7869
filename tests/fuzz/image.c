// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzer of the readers of vmlinux and vmlinux.o, which strangers' Makefiles have made (libFuzzer). */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "runner/functions.h"
#include "runner/image.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A file with a name: the readers follow no link, and so none to a descriptor. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/mmperf-fuzz-XXXXXX";
	AUTO_CLOSE int fd = mkstemp(path);
	struct image_identity identity = {0};
	AUTO_STR functions = str_new();
	struct err err;

	if (fd < 0 || !fs_write_fd(fd, data, size))
		abort();
	if (image_identify(path, &identity, &err) && !identity.content_hash[0])
		abort();
	if (!functions_list(path, &functions, &err) && !err.msg[0])
		abort();
	unlink(path);
	return 0;
}

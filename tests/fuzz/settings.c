// SPDX-License-Identifier: GPL-2.0-or-later
/* Fuzzer of a settings file that a person wrote (libFuzzer): refused with a reason, or read. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "base/fs.h"
#include "db/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_CLOSE int fd = memfd_create("settings", MFD_CLOEXEC);
	CLEANUP(conf_free_ptr) struct conf *conf = NULL;
	struct err err;
	char path[32];

	if (fd < 0 || !fs_write_fd(fd, data, size))
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!conf_load(path, settings_keys, &conf, &err) && !err.msg[0])
		abort();
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_IMAGE_H
#define RUNNER_IMAGE_H

/*
 * What a built kernel is: the content of what is loaded of it, apart from notes and the version
 * banner. Equal content = one image, however many commits it was built from.
 */

#include "base/hash.h"

#define IMAGE_BUILD_ID_SIZE 129

struct image_identity {
	char content_hash[HASH_HEX_SIZE];
	char build_id[IMAGE_BUILD_ID_SIZE]; /* GNU build-id, hex */
};

/*
 * Reads a linked vmlinux: ELF64, little endian (ELF specification and gABI). Hashes name, type,
 * flags, address, size and bytes of each SHF_ALLOC section that is no SHT_NOTE; the text from "Linux
 * version " to the end of its line counts as zeros. The file is hostile: a build made it.
 */
bool image_identify(const char *vmlinux, struct image_identity *out, struct err *err) _must_check;

#endif

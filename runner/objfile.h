/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_OBJFILE_H
#define RUNNER_OBJFILE_H

/* ELF files that a build made (ELF specification and gABI: 64 bit, little endian), and so hostile. */

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct objfile {
	const unsigned char *data;
	size_t size;
	uint16_t machine; /* EM_* */
	const Elf64_Shdr *sections;
	size_t n_sections;
	const char *names; /* NUL-ended somewhere inside */
	size_t names_size;
};

/* Maps the file. What the sections say of themselves lies inside it then, but may not be aligned. */
bool objfile_open(const char *path, struct objfile *out, struct err *err) _must_check;
void objfile_release(struct objfile *file);

/* The section has bytes in the file. */
bool objfile_has_content(const Elf64_Shdr *section);
/* "" when it has no name. */
const char *objfile_section_name(const struct objfile *file, const Elf64_Shdr *section);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_FUNCTIONS_H
#define RUNNER_FUNCTIONS_H

/*
 * Which functions of a kernel are the same code as those of another, wherever both lie: a digest for each, beside the
 * build. They tell whether a change of speed can come from what a commit changed, or only from where code came to lie.
 */

#include "base/str.h"

/*
 * Reads the kernel before its last link (vmlinux.o: ELF64, relocatable, with RELA tables) and appends one line for each
 * function of it, "NAME DIGEST", sorted. NAME is without what the compiler puts behind a dot, so that foo.cold and
 * foo.isra.0 are lines of foo. Equal digests: size and bytes are equal, and each place that the linker fills leads to
 * the same thing by name: a symbol and an offset, the text of a string, a constant. So moved code, data and strings
 * change no digest. What a table of jumps leads to is not looked into. The file is hostile: a build made it.
 */
bool functions_list(const char *object, struct str *out, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_TOOLCHAIN_H
#define RUNNER_TOOLCHAIN_H

/* Which compiler, assembler and linker this host has. */

#include "base/hash.h"
#include "db/settings.h"

struct toolchain {
	char hash[HASH_HEX_SIZE]; /* of all that they say about themselves */
	char *description;	  /* "gcc (Debian 12.2.0-14) 12.2.0, GNU ld ... 2.40" */
};

bool toolchain_find(const struct settings *settings, struct toolchain *out,
		    struct err *err) _must_check;
void toolchain_release(struct toolchain *toolchain);

#endif

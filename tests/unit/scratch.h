/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_SCRATCH_H
#define TESTS_UNIT_SCRATCH_H

/* A directory of a test program's own, dir: make_dir() and drop_dir() are the set-up and the tear-down of its group. After cmocka.h. */

#include <stdlib.h>

#include "base/fs.h"

static char dir[] = "/tmp/mmperf-test-XXXXXX";

static int make_dir(void **state _unused)
{
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state _unused)
{
	struct err err;

	return fs_remove_tree(dir, &err) ? 0 : -1;
}

#endif

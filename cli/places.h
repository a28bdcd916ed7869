/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_PLACES_H
#define CLI_PLACES_H

/* Where our other programs and files are: installed, or in the tree that we were built in. */

#include "base/str.h"

/* A daemon or script ("mmperf-runner", "demo"); the caller frees the path. */
bool place_program(const char *name, char **path, struct err *err) _must_check;
/* A file below share/mmperf or deploy ("recipes/qemu-x86.config"); the caller frees the path. */
bool place_data(const char *name, char **path, struct err *err) _must_check;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_NEEDS_H
#define RUNNER_NEEDS_H

/* Which drivers a machine's network and root file system want of a tested kernel, and whether a configuration has them. */

#include "base/str.h"

struct needs {
	struct strs network,
		root; /* names of drivers, and of the file system, as the kernel calls them */
};

/* Prints what needs_parse() reads: a line "network NAME" or "root NAME" for each. For sh. */
extern const char needs_script[];

/* Other lines are none of ours. */
void needs_parse(const char *text, struct needs *out);
void needs_release(struct needs *needs);

/* A resolved .config, as opposed to a fragment: only of these does silence mean no. */
bool needs_is_config(const char *config);
/*
 * Appends the options that config lacks for these drivers to out, as "CONFIG_X=y (driver x), ...". modules: =m will do. Drivers whose
 * option is not known here are passed over.
 */
void needs_lacks(const struct strs *drivers, const char *config, bool modules, struct str *out);

#endif

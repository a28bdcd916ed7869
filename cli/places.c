// SPDX-License-Identifier: GPL-2.0-or-later
/* Finding our own files. */
#include "cli/places.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/proc.h"

static bool find(const char *const *dirs, size_t n, const char *name, int mode, char **path,
		 struct err *err)
{
	AUTO_FREE char *self = proc_self_dir();

	for (size_t i = 0; i < n; i++) {
		AUTO_FREE char *tried = xasprintf("%s/%s/%s", self, dirs[i], name);

		if (access(tried, mode))
			continue;
		*path = realpath(tried, NULL);
		if (*path)
			return true;
	}
	return err_set(
		err, ERR_FAILED,
		"%s is missing: neither beside %s nor installed; run `make install`, or start "
		"mmperf from the directory that it was built in",
		name, self);
}

bool place_program(const char *name, char **path, struct err *err)
{
	static const char *const dirs[] = {".", "../libexec/mmperf", "../deploy", "../../deploy"};

	return find(dirs, ARRAY_SIZE(dirs), name, X_OK, path, err);
}

bool place_data(const char *name, char **path, struct err *err)
{
	static const char *const dirs[] = {"../share/mmperf", "../deploy", "../../deploy"};

	return find(dirs, ARRAY_SIZE(dirs), name, R_OK, path, err);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Packing modules. */
#include "runner/modules.h"

#include <string.h>

#include "base/fs.h"

#define MAX_CONFIG ((size_t)4 << 20)

bool modules_configured(const char *path)
{
	static const char line[] = "CONFIG_MODULES=y\n";
	AUTO_STR config = str_new();
	const char *found;
	struct err ignored;

	if (!fs_read(path, MAX_CONFIG, &config, &ignored))
		return false;
	found = strstr(config.s, line);
	return found && (found == config.s || found[-1] == '\n');
}

bool modules_forget(const struct worktree *wt, const char *log, struct err *err)
{
	AUTO_STRS argv = STRS_INIT;

	strs_pushl(&argv, "rm", "-rf", MODULES_DIR, NULL);
	return worktree_run(wt, &argv, log, err);
}

bool modules_pack(const struct worktree *wt, const char *name, const char *log, struct err *err)
{
	AUTO_STRS argv = STRS_INIT;

	/* The links lead to the source tree, which the machine does not have. */
	strs_pushl(&argv, "tar", "--sort=name", "--mtime=@0", "--owner=0", "--group=0",
		   "--numeric-owner", "--mode=u=rwX,go=rX", "--anchored",
		   "--no-wildcards-match-slash", "--exclude=lib/modules/*/build",
		   "--exclude=lib/modules/*/source", "--use-compress-program=gzip -n", "-C",
		   MODULES_DIR, "-cf", NULL);
	strs_pushf(&argv, "%s/%s", wt->tree, name);
	strs_push(&argv, "lib");
	return worktree_run(wt, &argv, log, err);
}

bool modules_identify(const char *archive, struct image_identity *identity, struct err *err)
{
	char sum[HASH_HEX_SIZE];
	AUTO_FREE char *both = NULL;

	if (!hash_file(archive, sum, err))
		return false;
	both = xasprintf("%s modules %s", identity->content_hash, sum);
	hash_of(both, strlen(both), identity->content_hash);
	return true;
}

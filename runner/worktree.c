// SPDX-License-Identifier: GPL-2.0-or-later
/* Switching source trees. */
#include "runner/worktree.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "runner/as_user.h"

#define LOCK_LOOK_S 0.1
#define TOOL_S	    300.0

static char *below(const struct worktree *wt, const char *name)
{
	return xasprintf("%s/%s", wt->dir, name);
}

static bool lock(struct worktree *wt, struct err *err)
{
	AUTO_FREE char *path = below(wt, "lock");

	wt->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (wt->lock_fd < 0)
		return err_sys(err, "cannot open %s", path);
	while (flock(wt->lock_fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, "cannot lock %s", path);
		if (!worker_tick(wt->worker, err))
			return false;
		clock_sleep_s(LOCK_LOOK_S);
	}
	return true;
}

static bool make_dirs(struct worktree *wt, struct err *err)
{
	return fs_mkdirs(wt->dir, 0755, err) && fs_mkdirs(wt->tree, 0755, err) &&
	       as_user_give(wt->tree, wt->user, wt->uid, wt->gid, err);
}

/* What the resolved configuration depends on besides the tree. */
static void hash_config(struct worktree *wt, const struct build *build)
{
	AUTO_FREE char *text = xasprintf("%s\n%s", build->toolchain_hash, build->recipe_content);

	hash_of(text, strlen(text), wt->config_hash);
}

bool worktree_open(struct worktree *wt, struct worker *w, const struct build *build,
		   struct err *err)
{
	*wt = (struct worktree){.worker = w, .lock_fd = -1};
	wt->dir = xasprintf("%s/worktrees/%s", w->settings->cache_dir, build->recipe_name);
	wt->tree = below(wt, "tree");
	hash_config(wt, build);
	return as_user_ids(w->settings, &wt->user, &wt->uid, &wt->gid, err) && make_dirs(wt, err) &&
	       lock(wt, err);
}

void worktree_release(struct worktree *wt)
{
	mem_close_ptr(&wt->lock_fd);
	free(wt->dir);
	free(wt->tree);
	*wt = (struct worktree){.lock_fd = -1};
}

/* Fills tree and config_hash from the state file; false when it is not known. */
static bool read_state(const struct worktree *wt, char tree[REPO_OID_SIZE],
		       char config_hash[HASH_HEX_SIZE])
{
	AUTO_FREE char *path = below(wt, "state");
	AUTO_STR text = str_new();
	struct err ignored;

	return fs_read(path, 4096, &text, &ignored) && text.len == REPO_OID_SIZE + HASH_HEX_SIZE &&
	       sscanf(text.s, "%40[0-9a-f] %64[0-9a-f]", tree, config_hash) == 2 &&
	       strlen(tree) == REPO_OID_SIZE - 1 && strlen(config_hash) == HASH_HEX_SIZE - 1;
}

static bool forget_state(const struct worktree *wt, struct err *err)
{
	AUTO_FREE char *path = below(wt, "state");

	return fs_write_atomic(path, "unknown\n", 8, 0644, err);
}

/* Of use when the next build comes from another repository; without it that one starts from nothing. */
static void list_files(const struct worktree *wt, const char *tree_oid)
{
	AUTO_FREE char *repo_dir = settings_path(wt->worker->settings, "repo.git");
	AUTO_FREE char *path = below(wt, "listing");
	CLEANUP(repo_free_ptr) struct repo *repo = NULL;
	struct err ignored;

	if (repo_open(repo_dir, &repo, &ignored))
		(void)!repo_list_tree(repo, tree_oid, path, &ignored);
}

bool worktree_settle(struct worktree *wt, const char *tree_oid, struct err *err)
{
	AUTO_FREE char *path = below(wt, "state");
	AUTO_FREE char *text = xasprintf("%s %s\n", tree_oid, wt->config_hash);

	list_files(wt, tree_oid);
	return fs_write_atomic(path, text, strlen(text), 0644, err);
}

struct checkout {
	const char *repo_dir;
	const char *from;
	const char *to;
	const char *dir;
};

static bool checkout(void *arg, struct err *err)
{
	const struct checkout *c = arg;
	CLEANUP(repo_free_ptr) struct repo *repo = NULL;

	return repo_open(c->repo_dir, &repo, err) &&
	       repo_checkout_tree(repo, c->from, c->to, c->dir, NULL, err);
}

/* Kconfig files, and what they ask about the compiler. */
static bool touches_config(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return str_starts(name, "Kconfig") || str_starts(path, "scripts/") ||
	       !strcmp(path, "Makefile") || strstr(path, "/configs/") != NULL;
}

static bool config_changes(const struct worktree *wt, const char *repo_dir, const char *from,
			   const char *to, bool *changes, struct err *err)
{
	CLEANUP(repo_free_ptr) struct repo *repo = NULL;
	AUTO_FREE char *listing = below(wt, "listing");
	AUTO_STRS paths = STRS_INIT;
	struct err ignored;

	if (!repo_open(repo_dir, &repo, err))
		return false;
	/* The same cache may serve another repository now. */
	(void)!repo_revive_tree(repo, from, listing, &ignored);
	if (!repo_changed_paths(repo, from, to, &paths, err))
		return false;
	*changes = false;
	for (size_t i = 0; i < paths.n && !*changes; i++)
		*changes = touches_config(paths.v[i]);
	return true;
}

bool worktree_switch(struct worktree *wt, const char *tree_oid, struct err *err)
{
	AUTO_FREE char *repo_dir = settings_path(wt->worker->settings, "repo.git");
	AUTO_FREE char *dot_config = xasprintf("%s/.config", wt->tree);
	char from[REPO_OID_SIZE], config_hash[HASH_HEX_SIZE];
	struct checkout c = {.repo_dir = repo_dir, .to = tree_oid, .dir = wt->tree};

	wt->configure = true;
	wt->incremental = read_state(wt, from, config_hash);
	if (wt->incremental) {
		/* The old tree may be gone, and no listing have it: then nothing is known of it. */
		wt->incremental = config_changes(wt, repo_dir, from, tree_oid, &wt->configure, err);
		if (!wt->incremental && err->kind != ERR_NOTFOUND)
			return false;
		wt->configure = wt->configure || !wt->incremental || !fs_exists(dot_config) ||
				strcmp(config_hash, wt->config_hash) != 0;
	}
	if (wt->incremental)
		c.from = from;
	if (!forget_state(wt, err))
		return false;
	return as_user_call(wt->worker, wt->worker->settings, checkout, &c, err) ||
	       err_wrap(err, "source tree %s", wt->tree);
}

bool worktree_run(const struct worktree *wt, struct strs *argv, const char *out, struct err *err)
{
	CLEANUP(proc_spec_release)
	struct proc_spec spec = {
		.argv = *argv,
		.env_clear = true,
		.cwd = wt->tree,
		.out_path = out,
		.user = wt->user,
		.no_network = true,
		.cpus = wt->worker->cpus,
		.nice = 10,
		.pass_fd = wt->lock_fd,
	};
	int status;

	*argv = (struct strs)STRS_INIT;
	strs_pushl(&spec.env, "PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", NULL);
	if (!worker_run(wt->worker, &spec, TOOL_S, &status, err))
		return false;
	return !status || err_set(err, ERR_FAILED, "%s exited with status %d in %s", spec.argv.v[0],
				  status, wt->tree);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Fetching one branch. */
#include "base/repo.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/repo_internal.h"

#define VIEW_PREFIX "fetch-"
#define YOUNG_S	    60

struct fetch {
	struct repo *repo;
	char *shown; /* the URL without a password */
	const char *branch;
	bool (*progress)(void *arg, unsigned done, unsigned total);
	void *arg;
	bool stopped;
	char *view_dir;
	int lock; /* on view_dir, held while it is in use */
	git_repository *view;
	git_remote *remote;
	struct str refs; /* the view's, as a packed-refs file */
	size_t nrefs;
};

static void fetch_release(struct fetch *f)
{
	struct err ignored;

	git_remote_free(f->remote);
	git_repository_free(f->view);
	if (f->view_dir && !fs_remove_tree(f->view_dir, &ignored))
		errno = 0;
	free(f->view_dir);
	mem_close_ptr(&f->lock);
	str_release(&f->refs);
	free(f->shown);
}

static bool fetch_failed(const struct fetch *f, int code, struct err *err)
{
	const git_error *why = git_error_last();
	const char *text = why && why->message ? why->message : "libgit2 gave no reason";

	if (f->stopped)
		return err_set(err, ERR_FAILED, "fetch of %s from %s was stopped", f->branch,
			       f->shown);
	if (strstr(text, "status code: 404") || strstr(text, "could not find repository"))
		return err_set(err, ERR_NOTFOUND, "there is no git repository at %s", f->shown);
	if (strstr(text, "authentication") || code == GIT_EAUTH)
		return err_set(err, ERR_FAILED, "%s does not exist or wants a password", f->shown);
	return err_set(err, ERR_FAILED, "cannot fetch %s from %s: %s", f->branch, f->shown, text);
}

static int on_progress(const git_indexer_progress *stats, void *arg)
{
	struct fetch *f = arg;

	if (!f->progress || f->progress(f->arg, stats->received_objects, stats->total_objects))
		return 0;
	f->stopped = true;
	return GIT_EUSER;
}

/* For a path libgit2's own message speaks of URL protocols. */
static bool check_path(const char *url, struct err *err)
{
	const char *path = str_starts(url, "file://") ? url + strlen("file://") : url;
	bool local = path != url || (!strstr(url, "://") && !strchr(url, '@'));

	if (local && !fs_exists(path))
		return err_set(err, ERR_NOTFOUND, "there is no git repository at %s", url);
	return true;
}

static int lock_dir(int parent, const char *name)
{
	AUTO_CLOSE int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB) ? TAKE_FD(fd) : -1;
}

static void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* A fetch that was killed leaves its view, but not its lock. A young one may not be locked yet. */
static void sweep_views(struct repo *repo)
{
	CLEANUP(close_dir) DIR *dir = opendir(git_repository_commondir(repo->git));
	struct dirent *entry;
	struct err ignored;

	while (dir && (entry = readdir(dir))) {
		AUTO_CLOSE int lock = -1;
		struct stat st;

		if (!str_starts(entry->d_name, VIEW_PREFIX))
			continue;
		lock = lock_dir(dirfd(dir), entry->d_name);
		if (lock >= 0 && !fstat(lock, &st) && st.st_mtime < clock_wall_s() - YOUNG_S &&
		    !fs_remove_tree_at(dirfd(dir), entry->d_name, &ignored))
			break;
	}
}

static bool view_file(const struct fetch *f, const char *name, const char *text, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/%s", f->view_dir, name);

	return fs_write_atomic(path, text, strlen(text), 0600, err);
}

/*
 * libgit2 tells a server what we have by walking all our refs, newest commit first, and gives up
 * after 256 commits without a hit: then it downloads the whole history. mm branches are rebuilt
 * daily, so the newest commits of every pinned snapshot are unknown to the server. A fetch
 * therefore works in a view: our objects with refs of its own, which are what the server
 * advertises and we hold already, so that every one of them is a hit.
 */
static bool make_view(struct fetch *f, struct err *err)
{
	AUTO_FREE char *link = NULL, *refs = NULL;
	int code;

	sweep_views(f->repo);
	f->view_dir = xasprintf("%s" VIEW_PREFIX "XXXXXX", git_repository_commondir(f->repo->git));
	if (!mkdtemp(f->view_dir)) {
		free(TAKE(f->view_dir));
		return err_sys(err, "cannot make a directory in %s", f->repo->dir);
	}
	f->lock = lock_dir(AT_FDCWD, f->view_dir);
	link = xasprintf("%s/objects", f->view_dir);
	refs = xasprintf("%s/refs", f->view_dir);
	if (f->lock < 0 || symlink("../objects", link) || mkdir(refs, 0700))
		return err_sys(err, "cannot write in %s", f->view_dir);
	if (!view_file(f, "HEAD", "ref: refs/heads/none\n", err) ||
	    !view_file(f, "config", "[core]\n\tbare = true\n", err))
		return false;
	code = git_repository_open_bare(&f->view, f->view_dir);
	return code ? repo_fail(err, code, "cannot fetch") : true;
}

static bool connect(struct fetch *f, const char *url, struct err *err)
{
	git_remote_create_options options;
	git_remote_callbacks callbacks;
	int code;

	git_remote_create_options_init(&options, GIT_REMOTE_CREATE_OPTIONS_VERSION);
	options.repository = f->view;
	/* There is no configuration to look into, and looking leaks in libgit2 1.5. */
	options.flags = GIT_REMOTE_CREATE_SKIP_INSTEADOF;
	git_remote_init_callbacks(&callbacks, GIT_REMOTE_CALLBACKS_VERSION);
	callbacks.transfer_progress = on_progress;
	callbacks.payload = f;
	code = git_remote_create_with_opts(&f->remote, url, &options);
	if (!code)
		code = git_remote_connect(f->remote, GIT_DIRECTION_FETCH, &callbacks, NULL, NULL);
	return code ? fetch_failed(f, code, err) : true;
}

static bool no_such_branch(const struct fetch *f, const git_remote_head **heads, size_t n,
			   struct err *err)
{
	AUTO_STRS near = STRS_INIT;
	AUTO_FREE char *list = NULL;

	for (size_t i = 0; i < n && near.n < 5; i++)
		if (str_starts(heads[i]->name, "refs/heads/") &&
		    str_resembles(f->branch, heads[i]->name + strlen("refs/heads/")))
			strs_push(&near, heads[i]->name + strlen("refs/heads/"));
	list = strs_join(&near, ", ");
	return err_set(err, ERR_NOTFOUND, "there is no branch \"%s\" at %s%s%s%s", f->branch,
		       f->shown, near.n ? "; did you mean " : "", list, near.n ? "?" : "");
}

static void add_ref(struct fetch *f, const git_oid *oid)
{
	char hex[REPO_OID_SIZE];

	repo_hex(oid, hex);
	str_addf(&f->refs, "%s refs/heads/%08zu\n", hex, f->nrefs++);
}

static bool read_heads(struct fetch *f, git_oid *tip, struct err *err)
{
	AUTO_FREE char *want = xasprintf("refs/heads/%s", f->branch);
	const git_remote_head **heads;
	bool found = false;
	size_t n;
	int code = git_remote_ls(&heads, &n, f->remote);

	if (code)
		return fetch_failed(f, code, err);
	for (size_t i = 0; i < n; i++) {
		CLEANUP(free_commit) git_commit *held = NULL;

		if (!strcmp(heads[i]->name, want)) {
			*tip = heads[i]->oid;
			found = true;
		}
		if (!git_commit_lookup(&held, f->view, &heads[i]->oid))
			add_ref(f, &heads[i]->oid);
	}
	return found ? true : no_such_branch(f, heads, n, err);
}

static bool add_own_refs(struct fetch *f, struct err *err)
{
	CLEANUP(free_reference_iterator) git_reference_iterator *it = NULL;
	git_reference *ref;
	int code = git_reference_iterator_new(&it, f->repo->git);

	while (!code && !(code = git_reference_next(&ref, it))) {
		CLEANUP(free_reference) git_reference *owned = ref;

		if (git_reference_target(owned))
			add_ref(f, git_reference_target(owned));
	}
	return code == GIT_ITEROVER ? true : fetch_failed(f, code, err);
}

static bool fill_view(struct fetch *f, struct err *err)
{
	if (!f->nrefs && !add_own_refs(f, err))
		return false;
	return view_file(f, "packed-refs", f->refs.s, err);
}

static bool download(struct fetch *f, const char *local_ref, struct err *err)
{
	AUTO_FREE char *spec = xasprintf("+refs/heads/%s:%s", f->branch, local_ref);
	git_strarray specs = {.strings = &spec, .count = 1};
	git_fetch_options options;
	int code;

	git_fetch_options_init(&options, GIT_FETCH_OPTIONS_VERSION);
	options.callbacks.transfer_progress = on_progress;
	options.callbacks.payload = f;
	options.download_tags = GIT_REMOTE_DOWNLOAD_TAGS_NONE;
	code = git_remote_download(f->remote, &specs, &options);
	return code ? fetch_failed(f, code, err) : true;
}

bool repo_fetch(struct repo *repo, const char *url, const char *branch, const char *local_ref,
		bool (*progress)(void *arg, unsigned done, unsigned total), void *arg,
		struct err *err)
{
	CLEANUP(fetch_release)
	struct fetch f = {
		.repo = repo,
		.shown = str_hide_password(url),
		.branch = branch,
		.progress = progress,
		.arg = arg,
		.lock = -1,
		.refs = str_new(),
	};
	CLEANUP(free_odb) git_odb *odb = NULL;
	char hex[REPO_OID_SIZE];
	git_oid tip;
	int code;

	if (!check_path(url, err) || !make_view(&f, err) || !connect(&f, url, err) ||
	    !read_heads(&f, &tip, err) || !fill_view(&f, err) || !download(&f, local_ref, err))
		return false;
	code = git_repository_odb(&odb, repo->git);
	if (!code)
		code = git_odb_refresh(odb);
	if (code)
		return fetch_failed(&f, code, err);
	repo_hex(&tip, hex);
	return repo_ref_set(repo, local_ref, hex, err);
}

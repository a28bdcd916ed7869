// SPDX-License-Identifier: GPL-2.0-or-later
/* Repositories, revisions, refs. */
#include "base/repo.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/repo_internal.h"

/* Refs of a borrowed repository, kept so that a fetch can say what it already has. */
#define BORROWED_REFS "refs/mmperf/borrowed/"
#define LOCK_STALE_S  600.0

void repo_init(void)
{
	static const git_config_level_t levels[] = {
		GIT_CONFIG_LEVEL_PROGRAMDATA,
		GIT_CONFIG_LEVEL_SYSTEM,
		GIT_CONFIG_LEVEL_XDG,
		GIT_CONFIG_LEVEL_GLOBAL,
	};

	git_libgit2_init();
	git_libgit2_opts(GIT_OPT_SET_OWNER_VALIDATION, 0);
	git_libgit2_opts(GIT_OPT_ENABLE_FSYNC_GITDIR, 1);
	/* A person's diff settings would change patch ids from host to host. */
	for (size_t i = 0; i < ARRAY_SIZE(levels); i++)
		git_libgit2_opts(GIT_OPT_SET_SEARCH_PATH, levels[i], "");
}

bool repo_fail(struct err *err, int code, const char *fmt, ...)
{
	const git_error *why = git_error_last();
	AUTO_STR what = str_new();
	va_list ap;

	va_start(ap, fmt);
	str_vaddf(&what, fmt, ap);
	va_end(ap);
	return err_set(err, code == GIT_ENOTFOUND ? ERR_NOTFOUND : ERR_FAILED, "%s: %s", what.s,
		       why && why->message ? why->message : "libgit2 gave no reason");
}

bool repo_oid(const char *hex, git_oid *oid, struct err *err)
{
	if (strlen(hex) != GIT_OID_HEXSZ || git_oid_fromstr(oid, hex))
		return err_set(err, ERR_USAGE, "\"%s\" is not a full object id", hex);
	return true;
}

void repo_hex(const git_oid *oid, char hex[REPO_OID_SIZE])
{
	git_oid_tostr(hex, REPO_OID_SIZE, oid);
}

static struct repo *repo_new(git_repository *git, const char *dir)
{
	struct repo *repo = xcalloc(1, sizeof(*repo));

	repo->git = git;
	repo->dir = xstrdup(dir);
	return repo;
}

bool repo_open(const char *dir, struct repo **out, struct err *err)
{
	git_repository *git;
	int code = git_repository_open(&git, dir);

	if (code)
		return repo_fail(err, code, "no git repository at %s", dir);
	*out = repo_new(git, dir);
	return true;
}

/* Two trees that are followed for the first time want it at the same moment; and one who was killed over it left a
 * lock that is nobody's. */
static int create_alone(const char *dir, git_repository **git)
{
	AUTO_FREE char *path = xasprintf("%s.making", dir);
	AUTO_FREE char *stale = xasprintf("%s/config.lock", dir);
	AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int code;

	if (fd >= 0 && flock(fd, LOCK_EX))
		return -1;
	code = git_repository_open_bare(git, dir);
	if (!code)
		return 0;
	if (fd >= 0)
		unlink(stale);
	return git_repository_init(git, dir, 1);
}

static bool open_or_create(const char *dir, git_repository **git, struct err *err)
{
	int code = git_repository_open_bare(git, dir);

	if (code)
		code = create_alone(dir, git);
	return code ? repo_fail(err, code, "cannot make a git repository at %s", dir) : true;
}

static bool add_alternate(const char *dir, const char *objects, struct err *err)
{
	AUTO_FREE char *path = xasprintf("%s/objects/info/alternates", dir);
	AUTO_FREE char *info = xasprintf("%s/objects/info", dir);
	AUTO_STR text = str_new();
	AUTO_STRS lines = STRS_INIT;

	if (fs_exists(path) && !fs_read(path, 1 << 20, &text, err))
		return false;
	strs_split(&lines, text.s, "\n");
	if (strs_has(&lines, objects))
		return true;
	if (text.len && !str_ends(text.s, "\n"))
		str_addc(&text, '\n');
	str_addf(&text, "%s\n", objects);
	return fs_mkdirs(info, 0755, err) && fs_write_atomic(path, text.s, text.len, 0644, err);
}

static bool is_branch(const char *name)
{
	return str_starts(name, "refs/heads/") || str_starts(name, "refs/remotes/");
}

static bool borrow_refs(git_repository *git, git_repository *reference, struct err *err)
{
	CLEANUP(free_reference_iterator) git_reference_iterator *it = NULL;
	git_reference *ref;
	int code = git_reference_iterator_new(&it, reference);

	while (!code && !(code = git_reference_next(&ref, it))) {
		CLEANUP(free_reference) git_reference *theirs = ref;
		CLEANUP(free_reference) git_reference *ours = NULL;
		const char *name = git_reference_name(theirs);
		AUTO_FREE char *here = NULL;

		if (!is_branch(name) || !git_reference_target(theirs))
			continue;
		here = xasprintf(BORROWED_REFS "%s", name + strlen("refs/"));
		code = git_reference_create(&ours, git, here, git_reference_target(theirs), 1,
					    NULL);
	}
	return code == GIT_ITEROVER ? true : repo_fail(err, code, "cannot borrow refs");
}

static bool borrow(const char *dir, const char *reference, struct err *err)
{
	CLEANUP(free_repository) git_repository *theirs = NULL;
	CLEANUP(free_repository) git_repository *ours = NULL;
	char objects[PATH_MAX];
	AUTO_FREE char *path = NULL;
	int code = git_repository_open(&theirs, reference);

	if (code)
		return repo_fail(err, code, "reference %s is not a git repository", reference);
	path = xasprintf("%s/objects", git_repository_commondir(theirs));
	if (!realpath(path, objects))
		return err_sys(err, "reference %s", path);
	if (!add_alternate(dir, objects, err))
		return false;
	code = git_repository_open_bare(&ours, dir);
	if (code)
		return repo_fail(err, code, "cannot open %s", dir);
	return borrow_refs(ours, theirs, err) || err_wrap(err, "reference %s", reference);
}

bool repo_open_bare(const char *dir, const char *reference, struct repo **out, struct err *err)
{
	CLEANUP(free_repository) git_repository *git = NULL;
	int code;

	if (!open_or_create(dir, &git, err))
		return false;
	if (reference) {
		if (!borrow(dir, reference, err))
			return false;
		/* Alternates are read once, when a repository is opened. */
		git_repository_free(TAKE(git));
		code = git_repository_open_bare(&git, dir);
		if (code)
			return repo_fail(err, code, "cannot open %s", dir);
	}
	*out = repo_new(TAKE(git), dir);
	return true;
}

void repo_free(struct repo *repo)
{
	if (!repo)
		return;
	git_repository_free(repo->git);
	free(repo->dir);
	free(repo);
}

void repo_free_ptr(struct repo **repo)
{
	repo_free(*repo);
}

bool repo_resolve(struct repo *repo, const char *rev, char oid[REPO_OID_SIZE], struct err *err)
{
	CLEANUP(free_object) git_object *object = NULL;
	CLEANUP(free_object) git_object *commit = NULL;
	int code = git_revparse_single(&object, repo->git, rev);

	if (code == GIT_EAMBIGUOUS)
		return err_set(err, ERR_USAGE,
			       "\"%s\" names more than one commit in %s: give more "
			       "digits",
			       rev, repo->dir);
	if (code)
		return err_set(err, ERR_NOTFOUND, "there is no commit \"%s\" in %s", rev,
			       repo->dir);
	if (git_object_peel(&commit, object, GIT_OBJECT_COMMIT))
		return err_set(err, ERR_NOTFOUND, "\"%s\" in %s is not a commit", rev, repo->dir);
	repo_hex(git_object_id(commit), oid);
	return true;
}

/* Whoever was killed between making a lock and renaming it would keep all others out for ever; nobody who lives
 * holds one for so long. */
static bool drop_stale_lock(const struct repo *repo, const char *ref)
{
	AUTO_FREE char *path = xasprintf("%s/%s.lock", repo->dir, ref);
	struct stat st;

	return !stat(path, &st) && (double)st.st_mtime < clock_wall_s() - LOCK_STALE_S &&
	       !unlink(path);
}

bool repo_ref_set(struct repo *repo, const char *ref, const char *oid, struct err *err)
{
	CLEANUP(free_reference) git_reference *made = NULL;
	git_oid id;
	int code;

	if (!repo_oid(oid, &id, err))
		return false;
	code = git_reference_create(&made, repo->git, ref, &id, 1, NULL);
	if (code == GIT_ELOCKED && drop_stale_lock(repo, ref))
		code = git_reference_create(&made, repo->git, ref, &id, 1, NULL);
	return code ? repo_fail(err, code, "cannot set %s in %s", ref, repo->dir) : true;
}

bool repo_ref_delete(struct repo *repo, const char *ref, struct err *err)
{
	int code = git_reference_remove(repo->git, ref);

	if (code && code != GIT_ENOTFOUND)
		return repo_fail(err, code, "cannot delete %s in %s", ref, repo->dir);
	return true;
}

bool repo_lookup_commit(struct repo *repo, const char *hex, git_commit **out, struct err *err)
{
	git_oid id;
	int code;

	if (!repo_oid(hex, &id, err))
		return false;
	code = git_commit_lookup(out, repo->git, &id);
	return code ? repo_fail(err, code, "commit %s in %s", hex, repo->dir) : true;
}

bool repo_lookup_tree(struct repo *repo, const char *hex, git_tree **out, struct err *err)
{
	CLEANUP(free_object) git_object *object = NULL;
	git_oid id;
	int code;

	if (!hex) {
		*out = NULL;
		return true;
	}
	if (!repo_oid(hex, &id, err))
		return false;
	code = git_object_lookup(&object, repo->git, &id, GIT_OBJECT_ANY);
	if (!code)
		code = git_object_peel((git_object **)out, object, GIT_OBJECT_TREE);
	return code ? repo_fail(err, code, "tree %s in %s", hex, repo->dir) : true;
}

/* "section.name.key" as libgit2 writes it; the name may hold dots. */
static bool tell_entry(const git_config_entry *entry,
		       bool (*fn)(void *arg, const char *section, const char *name, const char *key,
				  const char *value, struct err *err),
		       void *arg, struct err *err)
{
	AUTO_FREE char *section = xstrdup(entry->name);
	char *first = strchr(section, '.');
	char *last = strrchr(section, '.');

	if (!first)
		return err_set(err, ERR_USAGE, "\"%s\" is outside of any section", entry->name);
	*first = *last = '\0';
	return fn(arg, section, first < last ? first + 1 : NULL, last + 1, entry->value, err);
}

/* libgit2 says "failed to parse config file: WHAT (in FILE:LINE)": put the place in front. */
static bool config_failed(const char *path, int code, struct err *err)
{
	const git_error *why = git_error_last();
	const char *what = why && why->klass == GIT_ERROR_CONFIG ? strchr(why->message, ':') : NULL;
	const char *place = what ? strstr(what, " (in ") : NULL;

	if (!place)
		return repo_fail(err, code, "cannot read %s", path);
	return err_set(err, ERR_USAGE, "%.*s: not git-config syntax%.*s",
		       (int)strcspn(place + 5, ")"), place + 5, (int)(place - what), what);
}

bool repo_config_each(const char *path,
		      bool (*entry)(void *arg, const char *section, const char *name,
				    const char *key, const char *value, struct err *err),
		      void *arg, struct err *err)
{
	CLEANUP(free_config) git_config *config = NULL;
	CLEANUP(free_config_iterator) git_config_iterator *it = NULL;
	git_config_entry *one;
	int code;

	if (!fs_exists(path))
		return err_sys(err, "cannot read %s", path);
	code = git_config_open_ondisk(&config, path);
	if (!code)
		code = git_config_iterator_new(&it, config);
	while (!code && !(code = git_config_next(&one, it)))
		if (!tell_entry(one, entry, arg, err))
			return false;
	return code == GIT_ITEROVER ? true : config_failed(path, code, err);
}

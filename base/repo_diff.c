// SPDX-License-Identifier: GPL-2.0-or-later
/* Differences between commits. */
#include "base/repo.h"

#include <string.h>

#include "base/repo_internal.h"
#include "base/sha1.h"

static bool diff_trees(struct repo *repo, git_tree *from, git_tree *to, git_diff **out,
		       struct err *err)
{
	git_diff_options options;
	int code;

	git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
	/* git's default since 2.14; without it hunks, and so patch ids, differ. */
	options.flags = GIT_DIFF_INDENT_HEURISTIC;
	code = git_diff_tree_to_tree(out, repo->git, from, to, &options);
	return code ? repo_fail(err, code, "diff in %s", repo->dir) : true;
}

bool repo_diff_commit(struct repo *repo, git_commit *commit, git_diff **out, struct err *err)
{
	CLEANUP(free_commit) git_commit *parent = NULL;
	CLEANUP(free_tree) git_tree *before = NULL;
	CLEANUP(free_tree) git_tree *after = NULL;
	int code = git_commit_tree(&after, commit);

	if (!code && git_commit_parentcount(commit))
		code = git_commit_parent(&parent, commit, 0);
	if (!code && parent)
		code = git_commit_tree(&before, parent);
	if (code)
		return repo_fail(err, code, "diff in %s", repo->dir);
	return diff_trees(repo, before, after, out, err);
}

/* What `git patch-id --stable` (2.39 and later) keeps while it reads a patch. */
struct patch_id {
	struct sha1 sha1;	      /* of the file at hand */
	unsigned char sum[SHA1_SIZE]; /* of the files before it; their order does not matter */
	struct str names;	      /* "---" and "+++" lines that wait for the first hunk */
	bool started;
	bool has_hunks; /* the file at hand */
	bool is_binary;
};

static void patch_id_release(struct patch_id *id)
{
	str_release(&id->names);
}

static void end_file(struct patch_id *id)
{
	unsigned char digest[SHA1_SIZE];
	unsigned carry = 0;

	sha1_finish(&id->sha1, digest);
	sha1_init(&id->sha1);
	for (int i = 0; i < SHA1_SIZE; i++) {
		carry += id->sum[i] + digest[i];
		id->sum[i] = (unsigned char)carry;
		carry >>= 8;
	}
}

/*
 * git handles lines as C strings, so what stands behind a NUL does not count; and unlike isspace()
 * its blanks do not include form feed and vertical tab.
 */
static void add_line(struct patch_id *id, const char *line, size_t n)
{
	AUTO_FREE char *packed = xmalloc(n);
	size_t used = 0;

	for (size_t i = 0; i < n && line[i]; i++)
		if (!strchr(" \t\r\n", line[i]))
			packed[used++] = line[i];
	sha1_add(&id->sha1, packed, used);
}

/*
 * Equality with git has its price: a file without hunks (a change of mode, an empty file) is not
 * ended before the next one and has no "---" line, although libgit2 prints one; and the first
 * header line behind a binary file is skipped.
 */
static void add_header(struct patch_id *id, const char *text, size_t n)
{
	const char *end = text + n;
	bool skip = id->is_binary;

	if (id->started && id->has_hunks)
		end_file(id);
	id->started = true;
	id->has_hunks = id->is_binary = false;
	str_clear(&id->names);
	while (text < end) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));
		size_t len = newline ? (size_t)(newline - text) : (size_t)(end - text);

		if (!strncmp(text, "--- ", 4) || !strncmp(text, "+++ ", 4))
			str_addn(&id->names, text, len);
		else if (!skip && strncmp(text, "index ", 6))
			add_line(id, text, len);
		skip = false;
		text += len + 1;
	}
}

static void add_binary(struct patch_id *id, const git_diff_delta *delta)
{
	char before[REPO_OID_SIZE], after[REPO_OID_SIZE];

	/* libgit2 says that a file differs even when only its mode does. */
	if (git_oid_equal(&delta->old_file.id, &delta->new_file.id))
		return;
	repo_hex(&delta->old_file.id, before);
	repo_hex(&delta->new_file.id, after);
	sha1_add(&id->sha1, before, REPO_OID_SIZE - 1);
	sha1_add(&id->sha1, after, REPO_OID_SIZE - 1);
	end_file(id);
	id->is_binary = true;
}

static int hash_line(const git_diff_delta *delta, const git_diff_hunk *hunk _unused,
		     const git_diff_line *line, void *arg)
{
	struct patch_id *id = arg;
	char origin = line->origin;

	switch (origin) {
	case GIT_DIFF_LINE_FILE_HDR:
		add_header(id, line->content, line->content_len);
		break;
	case GIT_DIFF_LINE_HUNK_HDR:
		add_line(id, id->names.s, id->names.len);
		str_clear(&id->names);
		id->has_hunks = true;
		break;
	case GIT_DIFF_LINE_BINARY:
		add_binary(id, delta);
		break;
	case GIT_DIFF_LINE_CONTEXT:
	case GIT_DIFF_LINE_ADDITION:
	case GIT_DIFF_LINE_DELETION:
		/* A context line's mark is a blank, which would be dropped anyhow. */
		if (origin != GIT_DIFF_LINE_CONTEXT)
			sha1_add(&id->sha1, &origin, 1);
		add_line(id, line->content, line->content_len);
		break;
	default:
		break;
	}
	return 0;
}

bool repo_patch_id(struct repo *repo, const char *oid, char hex[REPO_OID_SIZE], struct err *err)
{
	CLEANUP(free_commit) git_commit *commit = NULL;
	CLEANUP(free_diff) git_diff *diff = NULL;
	CLEANUP(patch_id_release) struct patch_id id = {.names = str_new()};
	int code;

	if (!repo_lookup_commit(repo, oid, &commit, err))
		return false;
	hex[0] = '\0';
	if (git_commit_parentcount(commit) != 1)
		return true;
	if (!repo_diff_commit(repo, commit, &diff, err))
		return false;
	if (!git_diff_num_deltas(diff))
		return true;
	sha1_init(&id.sha1);
	code = git_diff_print(diff, GIT_DIFF_FORMAT_PATCH, hash_line, &id);
	if (code)
		return repo_fail(err, code, "patch id of %.12s in %s", oid, repo->dir);
	end_file(&id);
	for (int i = 0; i < SHA1_SIZE; i++)
		snprintf(hex + 2 * i, 3, "%02x", id.sum[i]);
	return true;
}

/* Each path once: a change of type is two deltas of one path. */
static void add_paths(const git_diff *diff, struct strs *paths)
{
	for (size_t i = 0; i < git_diff_num_deltas(diff); i++) {
		const git_diff_delta *delta = git_diff_get_delta(diff, i);

		if (!paths->n || strcmp(paths->v[paths->n - 1], delta->new_file.path))
			strs_push(paths, delta->new_file.path);
	}
}

bool repo_commit_paths(struct repo *repo, git_commit *commit, struct strs *paths, struct err *err)
{
	CLEANUP(free_diff) git_diff *diff = NULL;

	if (git_commit_parentcount(commit) != 1)
		return true;
	if (!repo_diff_commit(repo, commit, &diff, err))
		return false;
	if (git_diff_num_deltas(diff) <= REPO_PATHS_MAX)
		add_paths(diff, paths);
	return true;
}

bool repo_changed_paths(struct repo *repo, const char *from, const char *to, struct strs *paths,
			struct err *err)
{
	CLEANUP(free_tree) git_tree *before = NULL;
	CLEANUP(free_tree) git_tree *after = NULL;
	CLEANUP(free_diff) git_diff *diff = NULL;

	if (!repo_lookup_tree(repo, from, &before, err) || !repo_lookup_tree(repo, to, &after, err))
		return false;
	if (!diff_trees(repo, before, after, &diff, err))
		return false;
	add_paths(diff, paths);
	return true;
}

struct text_limit {
	struct str *out;
	size_t left;
};

static int add_text(const git_diff_delta *delta _unused, const git_diff_hunk *hunk _unused,
		    const git_diff_line *line, void *arg)
{
	struct text_limit *limit = arg;
	bool marked = strchr(" +-", line->origin) && line->origin;
	AUTO_STR text = str_new();

	if (marked)
		str_addc(&text, line->origin);
	str_add_utf8(&text, line->content, line->content_len);
	if (text.len > limit->left)
		return GIT_EUSER;
	str_addn(limit->out, text.s, text.len);
	limit->left -= text.len;
	return 0;
}

bool repo_diff_text(struct repo *repo, const char *oid, size_t max, struct str *out,
		    struct err *err)
{
	CLEANUP(free_commit) git_commit *commit = NULL;
	CLEANUP(free_diff) git_diff *diff = NULL;
	struct text_limit limit = {.out = out, .left = max};
	int code;

	if (!repo_lookup_commit(repo, oid, &commit, err) ||
	    !repo_diff_commit(repo, commit, &diff, err))
		return false;
	code = git_diff_print(diff, GIT_DIFF_FORMAT_PATCH, add_text, &limit);
	if (code && code != GIT_EUSER)
		return repo_fail(err, code, "diff of %.12s in %s", oid, repo->dir);
	return true;
}

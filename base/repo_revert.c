// SPDX-License-Identifier: GPL-2.0-or-later
/* Commits taken back on top of others: file by file, since a kernel has 90,000 files and a commit changes few. */
#include "base/repo.h"

#include "base/repo_internal.h"

enum verdict {
	REVERTED,
	CONFLICTS,
	UNSURE, /* a file has moved, or is no plain one: the whole trees must tell */
};

struct reverting {
	struct repo *repo;
	git_tree *tip;
	git_tree_update *updates;
	size_t n;
};

static void reverting_release(struct reverting *r)
{
	free(r->updates);
}

static void free_merge_file_result(git_merge_file_result *result)
{
	git_merge_file_result_free(result);
}

static bool is_plain(const git_diff_file *file)
{
	return file->mode == GIT_FILEMODE_BLOB || file->mode == GIT_FILEMODE_BLOB_EXECUTABLE;
}

/* The file as it is on the tip; mode 0 when it is not there. */
static int on_tip(const struct reverting *r, const char *path, git_diff_file *out)
{
	CLEANUP(free_tree_entry) git_tree_entry *entry = NULL;
	int code = git_tree_entry_bypath(&entry, r->tip, path);

	*out = (git_diff_file){.path = path};
	if (code)
		return code == GIT_ENOTFOUND ? 0 : code;
	out->id = *git_tree_entry_id(entry);
	out->mode = (uint16_t)git_tree_entry_filemode(entry);
	return 0;
}

static bool is_same(const git_diff_file *a, const git_diff_file *b)
{
	return a->mode == b->mode && (!a->mode || git_oid_equal(&a->id, &b->id));
}

static void update(struct reverting *r, const git_diff_file *file, const char *path)
{
	r->updates[r->n++] = (git_tree_update){
		.action = file->mode ? GIT_TREE_UPDATE_UPSERT : GIT_TREE_UPDATE_REMOVE,
		.id = file->id,
		.filemode = (git_filemode_t)file->mode,
		.path = path,
	};
}

/* The tip's file with what leads from culprit to parent; *clean is false when both changed the same lines. */
static int merge_file(const struct reverting *r, const git_diff_delta *delta, git_diff_file *tip,
		      bool *clean)
{
	git_blob *blobs[3] = {NULL};
	const git_oid *const ids[] = {&delta->new_file.id, &tip->id, &delta->old_file.id};
	git_merge_file_input inputs[ARRAY_SIZE(ids)];
	CLEANUP(free_merge_file_result) git_merge_file_result result = {0};
	int code = 0;

	for (size_t i = 0; !code && i < ARRAY_SIZE(ids); i++) {
		code = git_blob_lookup(&blobs[i], r->repo->git, ids[i]);
		git_merge_file_input_init(&inputs[i], GIT_MERGE_FILE_INPUT_VERSION);
		inputs[i].ptr = code ? NULL : git_blob_rawcontent(blobs[i]);
		inputs[i].size = code ? 0 : (size_t)git_blob_rawsize(blobs[i]);
	}
	if (!code)
		code = git_merge_file(&result, &inputs[0], &inputs[1], &inputs[2], NULL);
	*clean = !code && result.automergeable;
	if (*clean)
		code = git_blob_create_from_buffer(&tip->id, r->repo->git, result.ptr, result.len);
	for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
		git_blob_free(blobs[i]);
	return code;
}

static int revert_file(struct reverting *r, const git_diff_delta *delta, enum verdict *verdict)
{
	const git_diff_file *before = &delta->old_file, *after = &delta->new_file;
	git_diff_file tip;
	bool clean;
	int code = on_tip(r, after->path, &tip);

	if (code || is_same(&tip, before))
		return code;
	if (is_same(&tip, after)) {
		update(r, before, after->path);
		return 0;
	}
	if (!is_plain(before) || before->mode != after->mode || after->mode != tip.mode) {
		*verdict = UNSURE;
		return 0;
	}
	code = merge_file(r, delta, &tip, &clean);
	if (!code && !clean)
		*verdict = CONFLICTS;
	else if (!code)
		update(r, &tip, after->path);
	return code;
}

static int revert_files(struct reverting *r, git_diff *diff, enum verdict *verdict, git_oid *id)
{
	int code = 0;

	r->updates = xcalloc(git_diff_num_deltas(diff) + 1, sizeof(*r->updates));
	for (size_t i = 0; !code && *verdict == REVERTED && i < git_diff_num_deltas(diff); i++)
		code = revert_file(r, git_diff_get_delta(diff, i), verdict);
	if (code || *verdict != REVERTED)
		return code;
	return git_tree_create_updated(id, r->repo->git, r->tip, r->n, r->updates);
}

static bool revert_whole(struct repo *repo, git_commit *culprit, git_commit *tip,
			 enum verdict *verdict, git_oid *id, struct err *err)
{
	CLEANUP(free_index) git_index *index = NULL;
	unsigned mainline = git_commit_parentcount(culprit) > 1 ? 1 : 0;
	int code = git_revert_commit(&index, repo->git, culprit, tip, mainline, NULL);

	if (code)
		return repo_fail(err, code, "cannot revert in %s", repo->dir);
	*verdict = git_index_has_conflicts(index) ? CONFLICTS : REVERTED;
	code = *verdict == REVERTED ? git_index_write_tree_to(id, index, repo->git) : 0;
	return !code || repo_fail(err, code, "cannot write the reverted tree in %s", repo->dir);
}

bool repo_revert_tree(struct repo *repo, const char *culprit, const char *tip, bool *clean,
		      char tree[REPO_OID_SIZE], struct err *err)
{
	CLEANUP(free_commit) git_commit *bad = NULL;
	CLEANUP(free_commit) git_commit *head = NULL;
	CLEANUP(free_diff) git_diff *diff = NULL;
	CLEANUP(free_tree) git_tree *tip_tree = NULL;
	CLEANUP(reverting_release) struct reverting reverting = {.repo = repo};
	enum verdict verdict = REVERTED;
	git_oid id;
	int code;

	if (!repo_lookup_commit(repo, culprit, &bad, err) ||
	    !repo_lookup_commit(repo, tip, &head, err) || !repo_diff_commit(repo, bad, &diff, err))
		return false;
	code = git_commit_tree(&tip_tree, head);
	reverting.tip = tip_tree;
	if (!code)
		code = revert_files(&reverting, diff, &verdict, &id);
	if (code)
		return repo_fail(err, code, "cannot revert %.12s on %.12s", culprit, tip);
	if (verdict == UNSURE && !revert_whole(repo, bad, head, &verdict, &id, err))
		return err_wrap(err, "%.12s on %.12s", culprit, tip);
	*clean = verdict == REVERTED;
	if (*clean)
		repo_hex(&id, tree);
	return true;
}

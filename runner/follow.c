// SPDX-License-Identifier: GPL-2.0-or-later
/* Following trees. */
#include "runner/follow.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/repo.h"
#include "db/tree.h"
#include "runner/series.h"

#define PROGRESS_S 10.0

struct follow {
	struct db *db;
	struct repo *repo;
	const char *tree;
	const char *url;
	const char *base_ref; /* NULL: the root commit */
	int64_t tree_id;
	double told_at_s;
};

static bool progress(void *arg, unsigned done, unsigned total)
{
	struct follow *f = arg;
	double now = clock_mono_s();

	if (now - f->told_at_s >= PROGRESS_S) {
		log_info("tree %s: %u of %u objects fetched", f->tree, done, total);
		f->told_at_s = now;
	}
	return true;
}

static bool fetch(struct follow *f, const char *branch, char head[REPO_OID_SIZE], struct err *err)
{
	AUTO_FREE char *ref = xasprintf("refs/mmperf/heads/%s/%s", f->tree, branch);

	f->told_at_s = clock_mono_s();
	return repo_fetch(f->repo, f->url, branch, ref, progress, f, err) &&
	       repo_resolve(f->repo, ref, head, err);
}

static bool root_of(struct follow *f, const char *head, char root[REPO_OID_SIZE], struct err *err)
{
	AUTO_STRS all = STRS_INIT;

	if (!repo_walk(f->repo, NULL, head, &all, err))
		return false;
	snprintf(root, REPO_OID_SIZE, "%s", all.v[0]);
	return true;
}

static bool find_base(struct follow *f, const char *head, char base[REPO_OID_SIZE], struct err *err)
{
	char base_head[REPO_OID_SIZE];

	if (!f->base_ref)
		return root_of(f, head, base, err);
	if (!fetch(f, f->base_ref, base_head, err))
		return err_wrap(err, "base %s", f->base_ref);
	if (repo_merge_base(f->repo, head, base_head, base, err))
		return true;
	return err_wrap(err, "base %s", f->base_ref);
}

static bool read_commits(struct follow *f, const struct strs *oids, struct tree_commits *out,
			 struct err *err)
{
	for (size_t i = 0; i < oids->n; i++) {
		struct tree_commit *c = array_push(out->v, out->n, out->cap);

		if (!repo_commit_read(f->repo, oids->v[i], &c->commit, err) ||
		    !repo_patch_id(f->repo, oids->v[i], c->patch_id, err))
			return err_wrap(err, "commit %.12s", oids->v[i]);
	}
	return true;
}

static bool group(struct follow *f, const struct strs *oids, int *first, struct err *err)
{
	struct tree_text *texts = NULL;

	if (!commits_texts(f->db, oids, &texts, err))
		return false;
	series_groups(texts, oids->n, first);
	tree_texts_free(texts, oids->n);
	return true;
}

/* The pin comes before the row: a stored snapshot's commits never go away. */
static bool store(struct follow *f, int64_t branch_id, const char *branch, int seq,
		  const struct strs *oids, struct err *err)
{
	AUTO_FREE char *pin = xasprintf("refs/mmperf/snapshots/%s/%s/%d", f->tree, branch, seq);
	CLEANUP(tree_commits_release) struct tree_commits commits = {0};
	AUTO_FREE int *first = xcalloc(oids->n, sizeof(*first));
	CLEANUP(db_tx_end) struct db *tx = NULL;
	AUTO_STRS missing = STRS_INIT;

	return repo_ref_set(f->repo, pin, oids->v[oids->n - 1], err) &&
	       commits_missing(f->db, oids, &missing, err) &&
	       read_commits(f, &missing, &commits, err) && db_tx_begin(f->db, &tx, err) &&
	       commits_add(f->db, &commits, err) && group(f, oids, first, err) &&
	       snapshot_add(f->db, branch_id, seq, oids, first, err) && db_tx_commit(&tx, err);
}

static bool snapshot(struct follow *f, int64_t branch_id, const char *branch, int seq,
		     const char *head, struct err *err)
{
	char base[REPO_OID_SIZE];
	AUTO_STRS above = STRS_INIT, oids = STRS_INIT;

	if (!find_base(f, head, base, err) || !repo_walk(f->repo, base, head, &above, err))
		return false;
	strs_push(&oids, base);
	for (size_t i = 0; i < above.n; i++)
		strs_push(&oids, above.v[i]);
	if (!store(f, branch_id, branch, seq, &oids, err))
		return false;
	log_info("tree %s: %s is at %.12s, snapshot %d, %zu commits above its base", f->tree,
		 branch, head, seq, above.n);
	return true;
}

static bool follow_branch(struct follow *f, const char *branch, struct err *err)
{
	char head[REPO_OID_SIZE], last[REPO_OID_SIZE];
	int64_t id;
	int seq;

	if (!branch_upsert(f->db, f->tree_id, branch, f->base_ref, &id, err) ||
	    !fetch(f, branch, head, err) || !branch_newest(f->db, id, &seq, last, err))
		return false;
	if (!strcmp(head, last))
		return true;
	/* Another host that follows it may have stored the same snapshot first. */
	return snapshot(f, id, branch, seq + 1, head, err) || err->kind == ERR_CONFLICT;
}

static bool follow_branches(struct follow *f, const struct strs *branches, struct err *err)
{
	bool ok = branch_retire(f->db, f->tree_id, branches, err);

	for (size_t i = 0; i < branches->n; i++) {
		struct err why;

		if (follow_branch(f, branches->v[i], &why))
			continue;
		err_wrap(&why, "branch %s", branches->v[i]);
		log_error("tree %s: %s", f->tree, why.msg);
		*err = why;
		ok = false;
		if (why.kind == ERR_DBDOWN)
			break;
	}
	return ok;
}

bool follow_tree(const struct settings *settings, struct db *db, const char *tree, struct err *err)
{
	AUTO_FREE char *dir = settings_path(settings, "repo.git");
	CLEANUP(repo_free_ptr) struct repo *repo = NULL;
	struct follow f = {
		.db = db,
		.tree = tree,
		.url = conf_str(settings->conf, "tree", tree, "url"),
		.base_ref = conf_str(settings->conf, "tree", tree, "base"),
	};

	if (!repo_open_bare(dir, conf_str(settings->conf, "tree", tree, "reference"), &repo, err) ||
	    !tree_upsert(db, tree, f.url, &f.tree_id, err))
		return false;
	f.repo = repo;
	return follow_branches(&f, conf_list(settings->conf, "tree", tree, "branch"), err);
}

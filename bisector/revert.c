// SPDX-License-Identifier: GPL-2.0-or-later
/* Culprit taken out. */
#include "bisector/revert.h"

#include <stdio.h>
#include <string.h>

#include "base/fs.h"

static void because(struct revert *out, const char *why)
{
	snprintf(out->reason, sizeof(out->reason), "%.390s", why);
}

/* The reverted tree's oid; false with the reason in out. */
static bool make_tree(struct bisector *bisector, const struct history_commit *culprit,
		      const struct history_commit *tip, char tree[REPO_OID_SIZE],
		      struct revert *out)
{
	AUTO_FREE char *dir = settings_path(bisector->settings, "repo.git");
	CLEANUP(repo_free_ptr) struct repo *repo = NULL;
	struct err err;
	bool clean;

	if (!fs_exists(dir)) {
		because(out, "the repository is on another host");
		return false;
	}
	if (!repo_open(dir, &repo, &err) ||
	    !repo_revert_tree(repo, culprit->oid, tip->oid, &clean, tree, &err)) {
		because(out, err.msg);
		return false;
	}
	if (!clean) {
		because(out, "it does not revert cleanly on the tip");
		return false;
	}
	if (!strcmp(tree, tip->tree_oid)) {
		because(out, "reverting it changes nothing on the tip");
		return false;
	}
	return true;
}

bool revert_advance(struct bisector *bisector, const struct bisection *bisection,
		    const struct history_commit *culprit, struct revert *out, struct err *err)
{
	CLEANUP(history_commit_release) struct history_commit tip = {0};
	struct build_key key = {.recipe = bisection->recipe, .toolchain = bisection->toolchain};

	*out = (struct revert){0};
	if (!conf_bool(bisector->settings->conf, "bisect", NULL, "revert")) {
		because(out, "bisect.revert is off");
		return true;
	}
	if (bisection->bad == bisection->culprit) {
		because(out, "it is the tip: its parent is the reverted tree");
		return true;
	}
	if (!commit_read(bisector->db, bisection->bad, &tip, err))
		return false;
	if (!make_tree(bisector, culprit, &tip, out->tree, out))
		return true;
	key.tree_oid = out->tree;
	if (!build_ensure(bisector->db, &key, tip.id, JOB_PRIORITY_PROVE, "prove", &out->build,
			  err))
		return false;
	out->wait = out->build.state == BUILD_PENDING || out->build.state == BUILD_ABSENT;
	out->ready = out->build.state == BUILD_BUILT;
	if (!out->wait && !out->ready)
		because(out, "the tip does not build without it");
	return true;
}

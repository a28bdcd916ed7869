/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef REPORTS_PROFILE_TREE_H
#define REPORTS_PROFILE_TREE_H

/*
 * Two profiles as one call tree: for each function, reached by one way, its share of all samples
 * (children included) on both sides and the change in points.
 */

#include "base/js.h"
#include "db/profile.h"

struct profile_node {
	char *name;
	int64_t count[2]; /* children included */
	struct profile_node **children;
	size_t n, cap;
};

/* Free with profile_node_free(). Its own name is "". */
struct profile_node *profile_tree_new(const struct profile_pair *pair);
void profile_node_free(struct profile_node *node);
void profile_node_free_ptr(struct profile_node **node);

/* Nodes whose share is at least least_share (0.005) on either side, the heaviest first. */
void profile_tree_print(struct str *out, const struct profile_pair *pair, double least_share,
			const char *before, const char *after);
/* A new reference: {benchmark, params, source, samples, boots, tree: [{name, before, after, children}]};
 * before and after are shares. */
json_t *profile_tree_json(const struct profile_pair *pair, double least_share);

#endif

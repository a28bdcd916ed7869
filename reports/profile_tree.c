// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles side by side. */
#include "reports/profile_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/escape.h"

enum {
	DEEPEST = 24 /* levels shown: entry code to the innermost loop */
};

void profile_node_free(struct profile_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->n; i++)
		profile_node_free(node->children[i]);
	free(node->children);
	free(node->name);
	free(node);
}

void profile_node_free_ptr(struct profile_node **node)
{
	profile_node_free(*node);
}

static struct profile_node *node_new(const char *name, size_t len)
{
	struct profile_node *node = xcalloc(1, sizeof(*node));

	node->name = xstrndup(name, len);
	return node;
}

static struct profile_node *child_of(struct profile_node *node, const char *name, size_t len)
{
	for (size_t i = 0; i < node->n; i++) {
		if (!strncmp(node->children[i]->name, name, len) && !node->children[i]->name[len])
			return node->children[i];
	}
	return *array_push(node->children, node->n, node->cap) = node_new(name, len);
}

static void add_stack(struct profile_node *root, const struct profile_stack *stack)
{
	struct profile_node *node = root;

	for (const char *p = stack->text; node;) {
		size_t len = strcspn(p, ";");

		node->count[0] += stack->count[0];
		node->count[1] += stack->count[1];
		if (!len)
			break;
		node = child_of(node, p, len);
		if (p[len] != ';') {
			node->count[0] += stack->count[0];
			node->count[1] += stack->count[1];
			break;
		}
		p += len + 1;
	}
}

static int64_t heavier(const struct profile_node *node)
{
	return node->count[0] > node->count[1] ? node->count[0] : node->count[1];
}

static int by_weight(const void *a, const void *b)
{
	const struct profile_node *x = *(struct profile_node *const *)a;
	const struct profile_node *y = *(struct profile_node *const *)b;

	if (heavier(x) != heavier(y))
		return heavier(x) > heavier(y) ? -1 : 1;
	return strcmp(x->name, y->name);
}

static void sort(struct profile_node *node)
{
	if (node->n)
		qsort(node->children, node->n, sizeof(*node->children), by_weight);
	for (size_t i = 0; i < node->n; i++)
		sort(node->children[i]);
}

struct profile_node *profile_tree_new(const struct profile_pair *pair)
{
	struct profile_node *root = node_new("", 0);

	for (size_t i = 0; i < pair->n; i++)
		add_stack(root, &pair->v[i]);
	sort(root);
	return root;
}

static double share(const struct profile_pair *pair, const struct profile_node *node, int side)
{
	return pair->samples[side] ? (double)node->count[side] / (double)pair->samples[side] : 0;
}

static bool is_worth(const struct profile_pair *pair, const struct profile_node *node,
		     double least_share)
{
	return fmax(share(pair, node, 0), share(pair, node, 1)) >= least_share;
}

static void print_node(struct str *out, const struct profile_pair *pair,
		       const struct profile_node *node, double least_share, int depth)
{
	double a = share(pair, node, 0), b = share(pair, node, 1);

	str_addf(out, "  %6.2f %%  %6.2f %%  %+7.2f  %*s", 100 * a, 100 * b, 100 * (b - a),
		 2 * depth, "");
	escape_text(out, node->name);
	str_addc(out, '\n');
	for (size_t i = 0; i < node->n && depth < DEEPEST; i++) {
		if (is_worth(pair, node->children[i], least_share))
			print_node(out, pair, node->children[i], least_share, depth + 1);
	}
}

void profile_tree_print(struct str *out, const struct profile_pair *pair, double least_share,
			const char *before, const char *after)
{
	CLEANUP(profile_node_free_ptr) struct profile_node *root = profile_tree_new(pair);

	str_addc(out, '\n');
	escape_text(out, pair->benchmark);
	str_addf(out,
		 ": where CPUs spend their time, %s, %lld + %lld samples of %lld + %lld boots\n",
		 pair->source, (long long)pair->samples[0], (long long)pair->samples[1],
		 (long long)pair->boots[0], (long long)pair->boots[1]);
	if (strcmp(pair->source, "cycles") != 0)
		str_add(out, "(a timer's samples: none while interrupts are off, so no word on "
			     "spinlocks)\n");
	str_addf(out, "\n  %8s  %8s  %7s\n", before, after, "points");
	for (size_t i = 0; i < root->n; i++) {
		if (is_worth(pair, root->children[i], least_share))
			print_node(out, pair, root->children[i], least_share, 0);
	}
}

static json_t *nodes_json(const struct profile_pair *pair, const struct profile_node *node,
			  double least_share, int depth)
{
	json_t *list = json_array();

	for (size_t i = 0; i < node->n && depth < DEEPEST; i++) {
		const struct profile_node *child = node->children[i];
		json_t *item;

		if (!is_worth(pair, child, least_share))
			continue;
		item = json_object();
		js_set_str(item, "name", child->name);
		js_set_f64(item, "before", share(pair, child, 0));
		js_set_f64(item, "after", share(pair, child, 1));
		js_set_new(item, "children", nodes_json(pair, child, least_share, depth + 1));
		json_array_append_new(list, item);
	}
	return list;
}

json_t *profile_tree_json(const struct profile_pair *pair, double least_share)
{
	CLEANUP(profile_node_free_ptr) struct profile_node *root = profile_tree_new(pair);
	json_t *obj = json_object();

	js_set_str(obj, "benchmark", pair->benchmark);
	js_set_str(obj, "params", pair->params);
	js_set_str(obj, "source", pair->source);
	js_set_i64(obj, "before_samples", pair->samples[0]);
	js_set_i64(obj, "after_samples", pair->samples[1]);
	js_set_new(obj, "tree", nodes_json(pair, root, least_share, 0));
	return obj;
}

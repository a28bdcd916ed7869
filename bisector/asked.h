/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_ASKED_H
#define BISECTOR_ASKED_H

/* What a request's args say, checked against the rows (docs/requests.md). */

#include "bisector/bisector.h"
#include "db/request.h"
#include "db/work.h"

struct asked {
	int64_t id;
	bool running;	  /* the machine's running kernel: no commits, tree, recipe, builds */
	int64_t *commits; /* run: all; compare: before, after; bisect: good, bad;
			     * noise: the same one for every layout */
	size_t n_commits;
	int64_t *layouts; /* layout seed of each commit's kernel */
	int64_t tree;
	char *tree_name;
	int64_t class_id;
	char *class_name;
	int64_t machine; /* noise: the only one that boots; else 0 */
	int64_t recipe;
	int64_t toolchain;
	int64_t *suites;
	size_t n_suites;
	size_t boots;
	struct build_look *builds; /* per commit, after asked_builds() */
};

void asked_release(struct asked *ask);

/* Args that cannot be done are ERR_USAGE or ERR_NOTFOUND: for the person who asked. */
bool asked_read(struct bisector *bisector, const struct request *request, struct asked *out,
		struct err *err) _must_check;

/* A text that must be there; ERR_USAGE. Borrowed from args. */
bool asked_text(const json_t *args, const char *key, const char **out, struct err *err) _must_check;

/* Asks for the builds of all commits; *open counts those that have not ended. */
bool asked_builds(struct bisector *bisector, struct asked *ask, size_t *open,
		  struct err *err) _must_check;
/* All builds have ended; ERR_USAGE names one that there is no image of. */
bool asked_ends_built(const struct asked *ask, struct err *err) _must_check;

#endif

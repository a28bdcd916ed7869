/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_REBUILD_H
#define BISECTOR_REBUILD_H

/*
 * What it takes to build a node when another one lies in the worktree: the objects that are made anew,
 * by the paths of the commits between the two, and the seconds that builds took for theirs. Pure.
 */

#include "bisector/lineup.h"
#include "bisector/paths.h"

/* Objects of a kernel of the shipped recipe (6.12): what a build from nothing makes. */
#define REBUILD_ALL 1142.0

/* Objects that are made anew when this path changes; rule tells which architectures matter. */
double rebuild_objects_of(const struct path_rule *rule, const char *path);

/* Which paths each suspect of a line-up touches. */
struct rebuild {
	const struct lineup *lineup; /* borrowed */
	double *objects;	     /* per path */
	size_t paths;
	size_t *path;  /* of suspect h: path[first[h]] .. path[first[h + 1] - 1] */
	size_t *first; /* [hypotheses + 1] */
};

/* history: of the line-up; both and hypotheses outlive out. */
void rebuild_init(struct rebuild *out, const struct lineup *lineup, const struct history *history,
		  const struct hypotheses *hypotheses, const struct path_rule *rule);
void rebuild_release(struct rebuild *rebuild);
/* Objects that differ between two nodes: each path that a commit between them touches once. At most
 * REBUILD_ALL. */
double rebuild_objects(const struct rebuild *rebuild, size_t from, size_t to);

/* A build that was made. */
struct rebuild_seen {
	double objects, seconds;
};

/* seconds = base_s + object_s * objects */
struct rebuild_time {
	double base_s, object_s;
};

/* Least squares of the relative error, neither part below 0. False when these builds do not tell:
 * fewer than 3, or all of about as many objects. */
bool rebuild_fit(const struct rebuild_seen *seen, size_t n, struct rebuild_time *out);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef BISECTOR_BOOTS_H
#define BISECTOR_BOOTS_H

/* Sets of boots that are compared: their order, their jobs, how far they are. */

#include "bisector/bisector.h"
#include "db/work.h"

/* One side of a comparison. */
struct boots_side {
	const char *role;
	int64_t commit;
	int64_t build;
	int64_t image;
	const struct built *
		builds; /* one for each boot that is asked for at once; NULL: all boot the one above */
};

struct boots_plan {
	const char *purpose; /* confirm, prove, request */
	int64_t owner;	     /* id of the candidate, bisection or request below: for the keys */
	int64_t candidate, bisection, request;
	int priority;
	int64_t class_id;
	int64_t only_machine; /* 0: any of the class */
	const int64_t *suites;
	size_t n_suites;
	const struct boots_side *sides;
	size_t n_sides;
	size_t per_block; /* times that each side stands in one block of the order; 0: once */
	uint64_t seed;
};

/*
 * Which side comes when: `each` boots of every side in blocks, in which each stands per_block times,
 * in a random order of the block's own, so that drift hits all sides alike. each is a multiple of
 * per_block; order has room for n_sides * each. Block i of a seed is the same however many are asked
 * for.
 */
void boots_order(uint64_t seed, size_t n_sides, size_t per_block, size_t first, size_t each,
		 size_t *order);

/*
 * Queues boots first+1 .. first+each of every side, in that order; those that exist stay. Their jobs are
 * "boot:PURPOSE:OWNER:ROLE:BLOCK", with "/I" behind when a block has several of a side; a block is
 * called by the number I that its first boots have.
 */
bool boots_queue(struct bisector *bisector, const struct boots_plan *plan, size_t first,
		 size_t each, struct err *err) _must_check;

struct boots_progress {
	size_t asked;
	size_t open; /* queued or running */
	size_t done;
	size_t kernel_bad; /* failed because of the kernel */
	size_t failed;	   /* failed for any other reason */
	const char *error; /* of a failed one; borrowed from jobs */
};

/* Boot jobs of one role (NULL = any). */
struct boots_progress boots_progress(const struct work_jobs *jobs, const char *role);

#endif

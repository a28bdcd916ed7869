/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_PROFILE_H
#define DB_PROFILE_H

/* Sampled stacks of two sides. */

#include "db/compare.h"

/* One folded stack "outermost;...;innermost"; samples summed over boots. */
struct profile_stack {
	char *text;
	int64_t count[2]; /* before, after */
};

struct profile_pair {
	char *benchmark;
	char *params; /* "size=16M threads=4" */
	char *source; /* cycles, cpu-clock; of both sides: else they are not comparable and not read */
	int64_t samples[2];
	int64_t boots[2];
	struct profile_stack *v;
	size_t n, cap;
};

struct profile_pairs {
	struct profile_pair *v; /* one for each benchmark, parameters and source with both sides */
	size_t n, cap;
};

void profile_pairs_release(struct profile_pairs *pairs);
bool profile_pairs_read(struct db *db, const struct compare_key *key, struct profile_pairs *out,
			struct err *err) _must_check;

#endif

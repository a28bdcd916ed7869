/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_CANDIDATE_H
#define DB_CANDIDATE_H

/*
 * Changes that the detector suspects.
 *
 *   confirming --> confirmed | refuted | abandoned
 *   better                                              recorded only
 *
 * The leader of a cluster (leader 0) is confirmed and bisected; the others follow it.
 */

#include "db/conn.h"

struct candidate {
	int64_t id;
	int64_t series;
	int64_t before_image;
	int64_t after_image;
	int64_t before_commit;
	int64_t after_commit;
	int64_t branch; /* 0 when it is not known */
	int64_t leader; /* 0 = leads */
	char state[12];
	uint64_t seed;
	double effect; /* log ratio after/before, > 0 is worse */
	double z;
	bool by_history; /* raised by the look over the whole history */
	bool twin;	 /* of a standing A/A (db/twin.h): ends with its confirmation */
};

struct candidates {
	struct candidate *v;
	size_t n;
	size_t cap;
};

/* Sets candidate->id; an existing row of that series and images is left alone and *fresh false. */
bool candidate_add(struct db *db, struct candidate *candidate, bool *fresh,
		   struct err *err) _must_check;
/* Whether the pair was judged before in any series of the class. */
bool candidate_pair_known(struct db *db, int64_t before_image, int64_t after_image,
			  int64_t class_id, bool *known, struct err *err) _must_check;
/* Leaders that are being confirmed, oldest first; the caller frees out->v. */
bool candidates_confirming(struct db *db, struct candidates *out, struct err *err) _must_check;
bool candidates_followers(struct db *db, int64_t leader, struct candidates *out,
			  struct err *err) _must_check;
bool candidate_read(struct db *db, int64_t id, struct candidate *out, struct err *err) _must_check;

struct candidate_end {
	const char *state; /* confirmed, refuted, abandoned */
	const char *reason;
	double effect, lo, hi; /* NAN = not measured */
};

bool candidate_decide(struct db *db, int64_t id, const struct candidate_end *end,
		      struct err *err) _must_check;
/* What the other clusters of the last seven days came to, twins left out, and what this one was given. */
struct candidate_week {
	double *log_e; /* of the others whose boots were asked for; 0: no evidence yet */
	size_t n;
	double spent; /* sum of their alphas */
	double own;   /* this leader's alpha; NAN: not given yet */
};

void candidate_week_release(struct candidate_week *week);
bool candidate_week_read(struct db *db, int64_t leader, struct candidate_week *out,
			 struct err *err) _must_check;
/* What a leader was given and has come to. */
bool candidate_set_evidence(struct db *db, int64_t leader, double alpha, double log_e,
			    struct err *err) _must_check;
/* Makes `leader` the leader of `old`, while that is being confirmed, and of what followed it. */
bool candidate_promote(struct db *db, int64_t old, int64_t leader, struct err *err) _must_check;

#endif

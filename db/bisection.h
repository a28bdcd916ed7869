/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_BISECTION_H
#define DB_BISECTION_H

/*
 * A search: its frozen hypotheses, its steps, its end.
 *
 *   searching --> proving --> done            a second culprit: proving --> done
 *        \___________\______> done | cancelled --> searching | proving, by hand
 */

#include "db/conn.h"

struct bisection {
	int64_t id; /* set by bisection_add() */
	int64_t candidate;
	int64_t request; /* one of the two is 0; both, for the second culprit of another search */
	int64_t tree;
	int64_t series;
	int64_t suite;
	int64_t class_id;
	int64_t recipe;
	int64_t toolchain;
	int64_t good;
	int64_t bad;
	int64_t merge_base;
	char state[12];
	int64_t culprit; /* 0 until the search named one */
	double posterior;
	uint64_t seed;
	double min_effect; /* log ratio */
	int budget_boots;
	double age_s;		    /* since it began, or was last taken up by hand */
	double past_level, past_sd; /* of the good end, from history; past_sd 0: not known */
	int past_heads;
};

struct bisections {
	struct bisection *v;
	size_t n;
	size_t cap;
};

enum hypothesis_kind {
	HYPOTHESIS_NONE,
	HYPOTHESIS_COMMIT,
	HYPOTHESIS_DROPPED
};

struct hypothesis {
	enum hypothesis_kind kind;
	int64_t commit; /* 0 for none */
	double prior;
	double mass;
};

/* n = 0 is HYPOTHESIS_NONE. */
struct hypotheses {
	struct hypothesis *v;
	size_t n;
	size_t cap;
};

/* ERR_CONFLICT when the candidate or request has one. */
bool bisection_add(struct db *db, struct bisection *bisection, struct err *err) _must_check;
bool hypotheses_add(struct db *db, int64_t bisection, const struct hypotheses *hypotheses,
		    struct err *err) _must_check;
bool hypotheses_read(struct db *db, int64_t bisection, struct hypotheses *out,
		     struct err *err) _must_check;
/* mass has one number per hypothesis, by n. */
bool hypotheses_set_mass(struct db *db, int64_t bisection, const double *mass, size_t n,
			 struct err *err) _must_check;

/* Those that search or prove, oldest first; the caller frees out->v. */
bool bisections_open(struct db *db, struct bisections *out, struct err *err) _must_check;
/* Of a candidate or a request (the other is 0); out->id is 0 when there is none. */
bool bisection_of(struct db *db, int64_t candidate, int64_t request, struct bisection *out,
		  struct err *err) _must_check;

/* How many steps there are; the next one's n is that + 1. */
bool steps_count(struct db *db, int64_t bisection, int *n, struct err *err) _must_check;
bool step_add(struct db *db, int64_t bisection, int n, int64_t commit, int64_t job,
	      const char *reason, struct err *err) _must_check;

/* notes ("" or "; what a person must know of the search") are added to the reason now and to that of the end. */
bool bisection_start_proof(struct db *db, int64_t id, int64_t culprit, double posterior,
			   const char *reason, const char *notes, struct err *err) _must_check;

/*
 * The second culprit of a search: a bisection that begins with its proof. masses has one number per
 * hypothesis of `of`, by n. It exists once for each search; *fresh is false when it did already.
 */
bool bisection_add_beside(struct db *db, int64_t of, int64_t culprit, const double *masses,
			  size_t n, double posterior, const char *reason, bool *fresh,
			  struct err *err) _must_check;

struct bisection_end {
	const char *outcome; /* culprit, narrowed, none, unfinished, unproved */
	const char *reason;
	int64_t culprit;  /* 0 = leave */
	double posterior; /* NAN = leave */
};

bool bisection_finish(struct db *db, int64_t id, const struct bisection_end *end,
		      struct err *err) _must_check;
bool bisection_cancel(struct db *db, int64_t id, const char *reason, struct err *err) _must_check;

/*
 * Adds boots to the budget. One that was cancelled, or ended without an answer, goes on from its
 * rows: searching, or proving when its culprit was being proved. *found is false when it has its
 * answer.
 */
bool bisection_reopen(struct db *db, int64_t id, int more_boots, bool *found,
		      struct err *err) _must_check;

/* What a request's result says about its bisection; texts are the caller's to free. */
struct bisection_summary {
	char *state;
	char *outcome;
	char *reason;
	char *culprit_oid;
	char *culprit_subject;
	double posterior; /* NAN = none */
	int64_t regression;
	int64_t second; /* bisection of the second culprit, 0 = none */
	char *second_oid;
	int boots;
};

void bisection_summary_release(struct bisection_summary *summary);
bool bisection_summary_read(struct db *db, int64_t id, struct bisection_summary *out,
			    struct err *err) _must_check;

#endif

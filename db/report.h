/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_REPORT_H
#define DB_REPORT_H

/*
 * What the rows say about one regression, or about two images side by side. Read-only. All text
 * is copied; commit texts, author names and machine facts in it are hostile.
 */

#include "db/conn.h"
#include "db/locks.h"

/* Effects and their 95 % limits are log ratios after/before in which > 0 is worse. */
struct report_series {
	char *benchmark;
	char *metric;
	char *params; /* "size=16M threads=4" */
	char *pass;
	char *unit;
	char *direction;
	bool primary;
	int before_n;
	double before_mean; /* geometric, in unit */
	int after_n;
	double after_mean;
	double effect;
	double lo;
	double hi;
	bool significant;
};

struct report_commit {
	int64_t id;
	char *oid;
	char *subject;
	char *author_name;
	char *author_email;
	char *link;	  /* NULL = none */
	char *message_id; /* without <>; NULL = none */
};

struct report_hypothesis {
	int n;
	char *kind;	/* none, commit, dropped */
	int64_t commit; /* 0 for none */
	char *oid;	/* NULL for none */
	char *subject;
	double prior;
	double mass;
	bool failed; /* does not build here */
};

/* One boot of a bisection and its number in the searched series. */
struct report_boot {
	int64_t commit;
	char *purpose; /* bisect, prove */
	char *role;    /* NULL, before, after, revert, node */
	char *outcome; /* of the boot: ok, panic, ... */
	double value;  /* NAN when it has none */
};

/* How the culprit's code differs from its parent's. */
struct report_functions {
	bool known;
	bool suspect;	   /* no hot function differs; while none is known: none at all */
	int differ;	   /* functions of the kernel */
	int hot;	   /* 0: not known which are */
	int hot_differ;	   /* of those */
	struct strs names; /* of functions that differ, the hot ones first; not all of very many */
	char *reason;	   /* when not known; NULL: nobody looked */
};

struct report_facts {
	int64_t id;
	int64_t bisection;
	char *state;
	char *created; /* "2026-10-01 12:34 UTC" */
	int64_t created_s;
	char *tree;
	char *url;
	char *branch; /* NULL when no followed branch holds it */
	struct report_commit culprit, parent, good, bad, base;
	char *class_name;
	char *driver;
	char *method;
	bool emulated;
	struct strs environment; /* "cpus=4", nested ones as "knobs.thp=always" */
	char *recipe;
	int recipe_version;
	char *recipe_text;
	char *toolchain;
	char *suite;
	struct strs params; /* "threads=4", as the suite names them */
	struct report_series *series;
	size_t n_series, cap_series;
	struct report_hypothesis *hypotheses;
	size_t n_hypotheses, cap_hypotheses;
	struct report_boot *boots;
	size_t n_boots, cap_boots;
	int search_boots, prove_boots, confirm_boots; /* good ones, of whatever series */
	struct lock_changes locks;		      /* of the searched benchmark */
	double posterior;
	double min_effect;	     /* log ratio */
	double revert_effect;	     /* share of the effect that it removes; NAN = not known */
	double revert_lo, revert_hi; /* 95 %; NAN = nothing is excluded */
	char *revert_reason;
	struct report_functions functions;
};

void report_facts_release(struct report_facts *facts);

/* ERR_NOTFOUND names `mmperf regressions`. */
bool report_facts_read(struct db *db, int64_t regression, struct report_facts *out,
		       struct err *err) _must_check;

/* One line of the list of regressions. */
struct report_line {
	int64_t id;
	char *state;
	char *tree;
	char *branch;
	char *oid;
	char *subject;
	char *metric;
	char *direction;
	double effect;
	double posterior;
	bool emulated;
	char *created;
};

struct report_lines {
	struct report_line *v;
	size_t n;
	size_t cap;
};

void report_lines_release(struct report_lines *lines);
/* Newest first. */
bool report_lines_read(struct db *db, struct report_lines *out, struct err *err) _must_check;

#endif

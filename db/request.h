/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_REQUEST_H
#define DB_REQUEST_H

/*
 * What a person asked for, as a row: queued -> running -> done | failed | cancelled. The command
 * line writes it, the bisector does it. docs/requests.md describes args and result.
 */

#include "base/js.h"
#include "db/conn.h"

struct request {
	int64_t id;
	char *kind; /* run, compare, bisect; extend, resume, halt */
	char *state;
	char *error; /* NULL unless it failed */
	json_t *args;
	json_t *result; /* NULL until it is done */
	char *asked_by;
};

void request_release(struct request *request);

bool request_add(struct db *db, const char *kind, const json_t *args, const char *asked_by,
		 int64_t *id, struct err *err) _must_check;
bool request_read(struct db *db, int64_t id, struct request *out, struct err *err) _must_check;
/* The newest one that is done, has all of args, and asked for at least that many boots; *id is 0
 * when there is none. */
bool request_find_done(struct db *db, const char *kind, const json_t *args, int64_t boots,
		       int64_t *id, struct err *err) _must_check;
/* Nothing happens to one that has ended; *open tells. */
bool request_cancel(struct db *db, int64_t id, bool *open, struct err *err) _must_check;

/* How far a request (bisection 0), or a bisection of its own (request 0), has come. */
struct request_progress {
	int64_t jobs, ended, failed; /* of builds and boots */
	int64_t boots;		     /* ended boot jobs */
	int64_t builds_open, boots_open;
	double build_s, boot_s; /* mean time of one lately; NAN when none has ended yet */
	int64_t machines;	/* up, of the class that its boots want */
	char out[512];		/* when none is: which there are and why they are out of service */
	int64_t hosts_alive;	/* seen in the last two minutes */
};

bool request_progress(struct db *db, int64_t request, int64_t bisection,
		      struct request_progress *out, struct err *err) _must_check;

/* The bisection of a request: 0 while it has none. */
bool request_bisection(struct db *db, int64_t request, int64_t *bisection,
		       struct err *err) _must_check;

#endif

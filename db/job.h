/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_JOB_H
#define DB_JOB_H

/*
 * Work: rows that the bisector writes (or has written for a person's request), that a runner
 * leases, does and ends. One attempt = one process that holds one lease token.
 *
 *   queued --claim--> running --finish--> done | failed
 *                       |  \--finish(machine, infra, lost; attempts left)--> queued
 *   queued | running --cancel--> cancelled
 *
 * build    make the image of builds row `build`; a tree that does not compile is a job done with
 *          builds.outcome 'failed'
 * rebuild  the same from a clean tree; must give the same image (sets clean_verified_at), else the
 *          job fails
 * boot     boot `image` on a machine of `class` and run `suites`; outcome 'kernel' (panic, hang,
 *          never came up) is tried twice, then the job fails with boots.outcome saying what it was
 *
 * Priorities: lower first. A boot of a bisection is wanted before routine work.
 */

#include "db/conn.h"

enum {
	JOB_PRIORITY_CANARY = 5, /* until it is judged the machine is not to be trusted */
	JOB_PRIORITY_REQUEST = 10,
	JOB_PRIORITY_CONFIRM = 20,
	JOB_PRIORITY_BISECT = 30,
	JOB_PRIORITY_PROVE = 30,
	JOB_PRIORITY_HEAD = 50,	    /* a new snapshot's head */
	JOB_PRIORITY_BOUNDARY = 60, /* last patch of a series */
	JOB_PRIORITY_GAP = 70,
};

struct job {
	int64_t id;
	char *key; /* unique; e.g. "boot:confirm:12:after:3" */
	char *kind;
	char *purpose;
	char *role;
	int priority;
	int64_t build;
	int64_t image;
	int64_t commit;
	int64_t class_id;
	int64_t only_machine; /* this one; in quarantine only a canary. 0: any of the class */
	int64_t *suites;
	size_t n_suites;
	int64_t candidate;
	int64_t bisection;
	int64_t request;
	int max_attempts; /* 0 = 3 */
};

void job_release(struct job *job);

/* Inserts unless a job of that key exists; *id is the job's either way, *fresh tells. */
bool job_add(struct db *db, const struct job *job, int64_t *id, bool *fresh,
	     struct err *err) _must_check;
/* Ends queued and running jobs of one bisection, candidate or request (0 = not this kind). */
bool job_cancel(struct db *db, int64_t candidate, int64_t bisection, int64_t request,
		const char *why, struct err *err) _must_check;

/* Queues builds again that ended after_s ago or earlier without the tree's fault (no space, a killed
 * builder), while they are younger than a day; *n counts. */
bool job_retry_builds(struct db *db, double after_s, int *n, struct err *err) _must_check;

/* What a host can take now. */
struct job_offer {
	int64_t host;
	bool build; /* build and rebuild jobs */
	bool boot;  /* boot jobs, on a free machine of this host that is up */
	double lease_s;
};

struct job_lease {
	struct job job;
	int64_t attempt;
	int n;
	int64_t token;
	int64_t machine; /* boot jobs: leased with the same token */
	char *machine_name;
};

void job_lease_release(struct job_lease *lease);

/* Takes the next job with `for update skip locked`: a boot job only when its image is there and a
 * machine of its class on this host is up and free. *got false when there is none. */
bool job_claim(struct db *db, const struct job_offer *offer, struct job_lease *lease, bool *got,
	       struct err *err) _must_check;
/* By the job process, with its pid; ERR_CONFLICT when the token no longer holds. */
bool job_lease_read(struct db *db, int64_t attempt, int64_t token, struct job_lease *lease,
		    struct err *err) _must_check;
/* Extends attempt and machine lease; ERR_CONFLICT when it was lost: stop touching the machine. */
bool job_refresh(struct db *db, int64_t token, double lease_s, int pid,
		 struct err *err) _must_check;

/*
 * Ends the attempt and moves the job on. outcome: ok, kernel, machine, infra. Compares the token
 * and frees the machine. Call inside the transaction that stores the results, last.
 */
bool job_finish(struct db *db, int64_t token, const char *outcome, const char *error,
		struct err *err) _must_check;
/* Attempts whose lease ran out, and (at start) all of this host's, become 'lost' and their jobs go
 * back to the queue or fail; *n counts. */
bool job_reap(struct db *db, int64_t host, bool all_of_host, int *n, struct err *err) _must_check;

#endif

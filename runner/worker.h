/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_WORKER_H
#define RUNNER_WORKER_H

/*
 * A process that does one attempt: its lease, its database connection, its directory. The lease is
 * refreshed by the work itself, so that work that hangs loses it.
 */

#include "base/proc.h"
#include "base/store.h"
#include "db/job.h"
#include "db/settings.h"

#define WORKER_LEASE_S 90.0
#define WORKER_HOLD_S  30.0 /* of an action that ticks while it lasts */

struct worker {
	const struct settings *settings;
	struct db *db; /* NULL while the database does not answer */
	struct store *store;
	struct job_lease lease; /* attempt 0: of the machine alone */
	char *dir;		/* of the attempt; removed when its result is stored */
	const char *role;	/* of the database */
	const int *stop;	/* signal flag */
	const char *cpus;	/* CPU list for the work; NULL = any */
	double refresh_at_s;
	double held_until_s; /* the lease holds at least until then */
	double reconnect_at_s;
};

bool worker_open(struct worker *w, const struct settings *settings, int64_t attempt, int64_t token,
		 const int *stop, struct err *err) _must_check;
/* Without a job: leases the machine alone, for a person who is named in holder. A machine that the
 * database does not know yet needs no lease. */
bool worker_open_machine(struct worker *w, const struct settings *settings, const char *machine,
			 const char *holder, const int *stop, struct err *err) _must_check;
/* Gives back what worker_open_machine() leased. */
void worker_release(struct worker *w);

/*
 * To be called at least every few seconds. Refreshes the lease when due. False: end at once and
 * touch nothing more, since the lease was lost or the job cancelled (ERR_CONFLICT), or we were told
 * to stop (ERR_FAILED). A database that does not answer is not an error here.
 */
bool worker_tick(struct worker *w, struct err *err) _must_check;

/*
 * To be called before each action on the outside (power, ssh): the lease then holds for at least
 * for_s more (less than WORKER_LEASE_S). False: it was lost, or the database is away and cannot say; do not act.
 */
bool worker_hold(struct worker *w, double for_s, struct err *err) _must_check;

/* Runs a child with ticks until it ends; timeout_s 0 = none. Output goes to spec->out_path. */
bool worker_run(struct worker *w, const struct proc_spec *spec, double timeout_s, int *status,
		struct err *err) _must_check;

/* Waits for the database for as long as it takes, at most patience_s, and connects. */
bool worker_connect(struct worker *w, double patience_s, struct err *err) _must_check;

#endif

// SPDX-License-Identifier: GPL-2.0-or-later
/* One attempt's process. */
#include "runner/worker.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "db/lease.h"

#define REFRESH_S   (WORKER_LEASE_S / 4)
#define RECONNECT_S 1.0
#define LOOK_S	    0.5
#define CONNECT_S   60.0

static bool connect_now(struct worker *w, struct err *err)
{
	return settings_open_db(w->settings, w->role, "mmperf-runner job", &w->db, err);
}

static bool refresh(struct worker *w, struct err *err)
{
	double now = clock_mono_s();

	if (w->lease.attempt &&
	    !job_refresh(w->db, w->lease.token, WORKER_LEASE_S, (int)getpid(), err))
		return false;
	if (!w->lease.attempt && w->lease.token &&
	    !lease_refresh(w->db, w->lease.token, WORKER_LEASE_S, err))
		return false;
	w->refresh_at_s = clock_mono_s() + REFRESH_S;
	w->held_until_s = now + WORKER_LEASE_S;
	return true;
}

bool worker_open(struct worker *w, const struct settings *settings, int64_t attempt, int64_t token,
		 const int *stop, struct err *err)
{
	AUTO_FREE char *artifacts = settings_path(settings, "artifacts");

	*w = (struct worker){.settings = settings, .stop = stop, .role = "mmperf_runner"};
	w->dir = xasprintf("%s/attempts/%lld", settings->state_dir, (long long)token);
	if (!worker_connect(w, CONNECT_S, err) ||
	    !job_lease_read(w->db, attempt, token, &w->lease, err) || !refresh(w, err))
		return false;
	return store_open(artifacts, &w->store, err) && fs_remove_tree(w->dir, err) &&
	       fs_mkdirs(w->dir, 0755, err);
}

bool worker_open_machine(struct worker *w, const struct settings *settings, const char *machine,
			 const char *holder, const int *stop, struct err *err)
{
	char dir[] = "/tmp/mmperf-machine-XXXXXX";

	*w = (struct worker){.settings = settings, .stop = stop, .role = "mmperf_cli"};
	w->lease.machine_name = xstrdup(machine);
	if (!worker_connect(w, 0, err))
		return false;
	if (!lease_take(w->db, machine, holder, WORKER_LEASE_S, &w->lease.token, err) &&
	    err->kind != ERR_NOTFOUND)
		return false;
	if (!mkdtemp(dir))
		return err_sys(err, "cannot make %s", dir);
	w->dir = xstrdup(dir);
	return refresh(w, err);
}

static void give_back(struct worker *w)
{
	struct err ignored;

	if (w->db && w->lease.token && !lease_drop(w->db, w->lease.token, &ignored))
		db_close(TAKE(w->db)); /* it runs out by itself */
	if (w->dir && !fs_remove_tree(w->dir, &ignored))
		rmdir(w->dir);
}

void worker_release(struct worker *w)
{
	if (!w->lease.attempt)
		give_back(w);
	db_close(w->db);
	store_free(w->store);
	job_lease_release(&w->lease);
	free(w->dir);
	*w = (struct worker){0};
}

static void drop_db(struct worker *w)
{
	db_close(TAKE(w->db));
	w->reconnect_at_s = clock_mono_s() + RECONNECT_S;
}

bool worker_tick(struct worker *w, struct err *err)
{
	double now = clock_mono_s();

	if (w->stop && *w->stop)
		return err_set(err, ERR_FAILED, "the runner was stopped");
	if (!w->db && now >= w->reconnect_at_s) {
		w->reconnect_at_s = now + RECONNECT_S;
		if (connect_now(w, err))
			w->refresh_at_s = now;
		else if (err->kind != ERR_DBDOWN)
			return false;
	}
	if (!w->db || now < w->refresh_at_s || refresh(w, err))
		return true;
	if (err->kind != ERR_DBDOWN)
		return false;
	drop_db(w);
	return true;
}

bool worker_hold(struct worker *w, double for_s, struct err *err)
{
	if (for_s >= WORKER_LEASE_S)
		return err_set(err, ERR_USAGE,
			       "an action of up to %g s would outlive the lease of %g s; lower "
			       "power-timeout",
			       for_s, WORKER_LEASE_S);
	if (!worker_tick(w, err))
		return false;
	if (clock_mono_s() + for_s < w->held_until_s)
		return true;
	w->refresh_at_s = 0;
	if (!worker_tick(w, err))
		return false;
	if (clock_mono_s() + for_s < w->held_until_s)
		return true;
	return err_set(err, ERR_DBDOWN,
		       "the database is away and the lease may run out: the machine is left alone");
}

bool worker_run(struct worker *w, const struct proc_spec *spec, double timeout_s, int *status,
		struct err *err)
{
	double end = timeout_s > 0 ? clock_mono_s() + timeout_s : (double)INFINITY;
	CLEANUP(proc_release) struct proc proc = PROC_NONE;

	if (!proc_start(spec, &proc, err))
		return false;
	while (!proc_wait(&proc, LOOK_S, status)) {
		if (!worker_tick(w, err))
			return false;
		if (clock_mono_s() > end)
			return err_set(err, ERR_TIMEOUT, "%s did not end within %g s",
				       spec->argv.v[0], timeout_s);
	}
	return true;
}

bool worker_connect(struct worker *w, double patience_s, struct err *err)
{
	double end = clock_mono_s() + patience_s;

	while (!w->db && !connect_now(w, err)) {
		if (err->kind != ERR_DBDOWN || clock_mono_s() > end || (w->stop && *w->stop))
			return false;
		clock_sleep_s(RECONNECT_S);
	}
	return true;
}

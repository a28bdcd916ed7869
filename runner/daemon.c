// SPDX-License-Identifier: GPL-2.0-or-later
/* The runner's loop. */
#include "runner/daemon.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "db/job.h"
#include "db/machine.h"
#include "runner/children.h"
#include "runner/keep.h"

#define IDLE_S	    5.0	 /* jobs that wait for their time are looked for this often */
#define REGISTER_S  30.0 /* the host says that it lives */
#define REAP_S	    10.0
#define BACKOFF_S   1.0
#define BACKOFF_MAX 15.0
#define LOCK_WAIT_S 15.0
#define EX_DB_DOWN  75 /* of a child; see main.c */

struct daemon {
	const struct settings *settings;
	struct db *db; /* NULL while it does not answer */
	struct store *store;
	struct host host;
	struct children children;
	double *follow_at_s; /* by tree, in the settings' order */
	double register_at_s;
	double reap_at_s;
	double backoff_s;
	bool started; /* leftovers of an earlier runner are dealt with */
	bool once;
	bool stop;
	int signal_fd;
	struct child *unsettled; /* ended while the database was away */
	size_t n_unsettled, cap_unsettled;
};

static const struct strs *trees(const struct daemon *d)
{
	return conf_names(d->settings->conf, "tree");
}

static bool take_lock(struct daemon *d, struct err *err)
{
	AUTO_FREE char *path = settings_path(d->settings, "runner.lock");
	double end = clock_mono_s() + LOCK_WAIT_S;
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	d->children.lock_fd = fd;
	if (fd < 0)
		return err_sys(err, "cannot open %s", path);
	/* Job processes of a runner that was killed hold it for the moments that they live on. */
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return err_sys(err, "cannot lock %s", path);
		if (clock_mono_s() > end)
			return err_set(err, ERR_FAILED,
				       "another mmperf-runner works in %s (%s is locked)",
				       d->settings->state_dir, path);
		clock_sleep_s(0.05);
	}
	return true;
}

static bool open_signals(struct daemon *d, struct err *err)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	d->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return d->signal_fd >= 0 || err_sys(err, "cannot take signals");
}

static bool daemon_init(struct daemon *d, const struct settings *settings, bool once,
			struct err *err)
{
	AUTO_FREE char *artifacts = settings_path(settings, "artifacts");
	AUTO_FREE char *attempts = settings_path(settings, "attempts");

	*d = (struct daemon){.settings = settings, .once = once, .signal_fd = -1};
	d->children.settings = settings;
	d->children.lock_fd = -1;
	d->follow_at_s = xcalloc(trees(d)->n, sizeof(*d->follow_at_s));
	host_init(&d->host, settings);
	return host_check(&d->host, settings, err) && fs_mkdirs(attempts, 0755, err) &&
	       fs_mkdirs(settings->cache_dir, 0755, err) && take_lock(d, err) &&
	       store_open(artifacts, &d->store, err) && open_signals(d, err);
}

static void daemon_release(struct daemon *d)
{
	children_stop(&d->children);
	for (size_t i = 0; i < d->n_unsettled; i++)
		child_release(&d->unsettled[i]);
	free(d->unsettled);
	free(d->follow_at_s);
	db_close(d->db);
	store_free(d->store);
	host_release(&d->host);
	mem_close_ptr(&d->signal_fd);
	mem_close_ptr(&d->children.lock_fd);
}

static void take_signals(struct daemon *d)
{
	struct signalfd_siginfo info;

	while (read(d->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (info.ssi_signo == SIGHUP)
			for (size_t i = 0; i < trees(d)->n; i++)
				d->follow_at_s[i] = 0;
		else if (info.ssi_signo != SIGCHLD)
			d->stop = true;
	}
}

/* Attempts and their results ------------------------------------------------------------------------ */

/* Stores what the attempt's directory holds, or ends the attempt. False: the database is away. */
static bool settle_attempt(struct daemon *d, int64_t token, const char *outcome, const char *words,
			   struct err *err)
{
	AUTO_FREE char *dir =
		xasprintf("%s/attempts/%lld", d->settings->state_dir, (long long)token);
	bool found = false, kept = keep_store(d->db, d->store, dir, &found, err);

	if (kept && found)
		log_info("attempt with token %lld: its result was kept and is stored now",
			 (long long)token);
	if ((kept && found) || (!kept && err->kind == ERR_CONFLICT))
		return true;
	if (!kept && err->kind == ERR_DBDOWN)
		return false;
	if (!kept)
		log_error("attempt with token %lld: %s", (long long)token, err->msg);
	if (!job_finish(d->db, token, outcome, kept ? words : err->msg, err) &&
	    err->kind == ERR_DBDOWN)
		return false;
	return fs_remove_tree(dir, err) || err->kind != ERR_DBDOWN;
}

static bool settle_child(struct daemon *d, const struct child *child, struct err *err)
{
	AUTO_FREE char *words = child_last_words(child);
	AUTO_FREE char *text = NULL;
	bool away = child->status == EX_DB_DOWN;

	if (child->tree || child->status == 0)
		return true;
	text = child->status > 128 ? xasprintf("its process was killed by signal %d%s%s",
					       child->status - 128, *words ? ": " : "", words)
				   : xasprintf("its process ended with status %d%s%s",
					       child->status, *words ? ": " : "", words);
	if (!away)
		log_warn("%s: %s", child->what, text);
	return settle_attempt(d, child->token, away ? "lost" : "infra", text, err);
}

static bool settle_all(struct daemon *d, struct err *err)
{
	while (d->n_unsettled) {
		struct child *child = &d->unsettled[d->n_unsettled - 1];

		if (!settle_child(d, child, err))
			return false;
		child_release(child);
		d->n_unsettled--;
	}
	return true;
}

static void take_ended(struct daemon *d)
{
	struct child child;

	while (children_ended(&d->children, &child))
		*array_push(d->unsettled, d->n_unsettled, d->cap_unsettled) = child;
}

/* What an earlier runner left: kept results are stored, then all its attempts are lost. */
static bool take_over(struct daemon *d, struct err *err)
{
	AUTO_FREE char *path = settings_path(d->settings, "attempts");
	DIR *dir = opendir(path);
	bool ok = true;
	struct dirent *e;
	int n;

	while (ok && dir && (e = readdir(dir))) {
		long long token;

		if (str_to_i64(e->d_name, &token))
			ok = settle_attempt(d, token, "lost", "the runner was restarted", err);
		else if (str_ends(e->d_name, ".out"))
			unlinkat(dirfd(dir), e->d_name, 0);
	}
	if (dir)
		closedir(dir);
	if (!ok || !job_reap(d->db, d->host.id, true, &n, err))
		return false;
	if (n)
		log_info("%d attempts of an earlier runner are lost; their jobs are queued again",
			 n);
	d->started = true;
	return true;
}

/* The database ------------------------------------------------------------------------------------- */

static bool register_host(struct daemon *d, struct err *err)
{
	if (!host_register(&d->host, d->settings, d->db, err))
		return false;
	d->register_at_s = clock_mono_s() + REGISTER_S;
	return true;
}

static bool connect_db(struct daemon *d, struct err *err)
{
	if (!settings_open_db(d->settings, "mmperf_runner", "mmperf-runner", &d->db, err) ||
	    !db_listen(d->db, "mmperf", err) || !register_host(d, err))
		return false;
	if (d->backoff_s > 0)
		log_info("database: it answers again");
	d->backoff_s = 0;
	/* Jobs that went on meanwhile must have time to renew their leases. */
	d->reap_at_s = clock_mono_s() + (d->started ? WORKER_LEASE_S : 0);
	return d->started || take_over(d, err);
}

static void lose_db(struct daemon *d, const struct err *err)
{
	if (d->backoff_s <= 0)
		log_error("%s; waiting for it, jobs that run go on", err->msg);
	db_close(TAKE(d->db));
	d->backoff_s = fmin(fmax(d->backoff_s * 2, BACKOFF_S), BACKOFF_MAX);
}

/* Work --------------------------------------------------------------------------------------------- */

static bool claim_jobs(struct daemon *d, bool *claimed, struct err *err)
{
	for (;;) {
		CLEANUP(job_lease_release) struct job_lease lease = {0};
		struct host_load load = children_load(&d->children);
		struct job_offer offer = host_offer(&d->host, &load);
		bool got = false;

		offer.lease_s = WORKER_LEASE_S;
		if (!offer.build && !offer.boot)
			return true;
		if (!job_claim(d->db, &offer, &lease, &got, err))
			return false;
		if (!got)
			return true;
		*claimed = true;
		if (!children_start_job(&d->children, &d->host, &lease, err)) {
			log_error("job %lld: %s", (long long)lease.job.id, err->msg);
			return job_finish(d->db, lease.token, "infra", err->msg, err);
		}
	}
}

static void start_follows(struct daemon *d)
{
	double now = clock_mono_s();

	for (size_t i = 0; i < trees(d)->n; i++) {
		const char *tree = trees(d)->v[i];
		struct err err;

		if (now < d->follow_at_s[i] || children_follow(&d->children, tree))
			continue;
		d->follow_at_s[i] =
			now + fmax(1, conf_f64(d->settings->conf, "tree", tree, "poll"));
		if (!children_start_follow(&d->children, tree, &err))
			log_error("tree %s: %s", tree, err.msg);
	}
}

/* Asking the compilers who they are costs CPU time, so it is not done beside a measurement. */
static bool show_life(struct daemon *d, struct err *err)
{
	if (!children_load(&d->children).boots)
		return register_host(d, err);
	d->register_at_s = clock_mono_s() + REGISTER_S;
	return host_seen(d->db, d->host.id, err);
}

static bool maintain(struct daemon *d, struct err *err)
{
	double now = clock_mono_s();
	int n;

	if (now >= d->register_at_s && !show_life(d, err))
		return false;
	if (now < d->reap_at_s)
		return true;
	d->reap_at_s = now + REAP_S;
	if (!job_reap(d->db, d->host.id, false, &n, err))
		return false;
	if (n)
		log_warn("%d attempts lost their lease; their jobs are queued again", n);
	return true;
}

static double next_wait_s(const struct daemon *d)
{
	double wait = IDLE_S, now = clock_mono_s();

	for (size_t i = 0; i < trees(d)->n; i++)
		wait = fmin(wait, fmax(0, d->follow_at_s[i] - now));
	return fmax(wait, 0.01);
}

static void sleep_without_db(struct daemon *d)
{
	struct pollfd p = {.fd = d->signal_fd, .events = POLLIN};

	poll(&p, 1, (int)(d->backoff_s * 1000));
}

/* One turn with a database: false when it went away. */
static bool turn(struct daemon *d, struct err *err)
{
	bool claimed = false, got;

	if (!settle_all(d, err) || !maintain(d, err) || !claim_jobs(d, &claimed, err))
		return false;
	if (d->once && !claimed && !d->children.n && !d->n_unsettled) {
		d->stop = true;
		return true;
	}
	return db_wait(d->db, next_wait_s(d), NULL, d->signal_fd, &got, err);
}

bool daemon_run(const struct settings *settings, bool once, struct err *err)
{
	CLEANUP(daemon_release) struct daemon d;

	if (!daemon_init(&d, settings, once, err))
		return false;
	while (!d.stop) {
		bool ok = true;

		take_signals(&d);
		take_ended(&d);
		if (!d.db)
			ok = connect_db(&d, err);
		if (ok && !d.stop) {
			start_follows(&d);
			ok = turn(&d, err);
		}
		if (ok)
			continue;
		if (err->kind != ERR_DBDOWN)
			return false;
		lose_db(&d, err);
		sleep_without_db(&d);
	}
	return true;
}

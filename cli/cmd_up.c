// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf up: everything on one host. */
#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/daemons.h"
#include "cli/session.h"
#include "cli/stop.h"
#include "db/migrate.h"
#include "db/status.h"

#define LOOK_EVERY_S 0.5

/* Root's service shares its state with user mmperf through the group; see docs/security.md. */
static bool make_state(const struct settings *settings, const char *user, struct err *err)
{
	const struct passwd *pw = user ? getpwnam(user) : NULL;

	if (!fs_mkdirs(settings->state_dir, pw ? 0770 : 0700, err) ||
	    !fs_mkdirs(settings->cache_dir, 0755, err))
		return false;
	if (!pw)
		return true;
	umask(0002);
	if (chown(settings->state_dir, pw->pw_uid, pw->pw_gid) || chmod(settings->state_dir, 02770))
		return err_sys(err, "cannot give %s to user %s", settings->state_dir, user);
	return true;
}

/* Held as long as we live: two of us would fight over machines' worktrees and the cluster. */
static bool lock_state(const struct settings *settings, int *fd, struct err *err)
{
	AUTO_FREE char *path = settings_path(settings, "up.lock");
	AUTO_CLOSE int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
	char pid[32] = "";

	if (lock < 0)
		return err_sys(err, "cannot open %s", path);
	if (flock(lock, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK)
			return err_sys(err, "cannot lock %s", path);
		if (read(lock, pid, sizeof(pid) - 1) < 0)
			pid[0] = '\0';
		return err_set(err, ERR_CONFLICT,
			       "`mmperf up` already runs on %s (process %s); stop it first, or set "
			       "another [state] dir",
			       settings->state_dir, str_trim(pid));
	}
	snprintf(pid, sizeof(pid), "%d\n", (int)getpid());
	if (ftruncate(lock, 0) || pwrite(lock, pid, strlen(pid), 0) < 0)
		return err_sys(err, "cannot write %s", path);
	*fd = TAKE_FD(lock);
	return true;
}

static bool migrate(const struct settings *settings, struct err *err)
{
	CLEANUP(db_close_ptr) struct db *db = NULL;
	int applied;

	if (!settings_open_db_raw(settings, NULL, "mmperf up", &db, err) ||
	    !db_migrate(db, &applied, err))
		return false;
	if (applied)
		log_info("database: %d schema change%s applied", applied, applied > 1 ? "s" : "");
	return true;
}

static bool start_database(const struct settings *settings, struct cluster *cluster,
			   struct err *err)
{
	CLEANUP(db_close_ptr) struct db *db = NULL;
	bool started;

	if (!cluster_wanted(settings))
		return settings_open_db(settings, "mmperf_cli", "mmperf up", &db, err);
	if (!cluster_init(settings, cluster, err) || !cluster_start(cluster, &started, err))
		return false;
	log_info("database: %s in %s", started ? "started" : "already running", cluster->dir);
	return migrate(settings, err);
}

/* Whether each configured branch has been fetched: before that, no work means nothing. */
static bool all_followed(const struct settings *settings, struct db *db, bool *yes, struct err *err)
{
	const struct strs *trees = conf_names(settings->conf, "tree");

	*yes = true;
	for (size_t t = 0; t < trees->n; t++) {
		const struct strs *branches =
			conf_list(settings->conf, "tree", trees->v[t], "branch");

		for (size_t b = 0; *yes && b < branches->n; b++)
			if (!status_followed(db, trees->v[t], branches->v[b], yes, err))
				return false;
	}
	return true;
}

/* Since when nothing was to be done: 0 = there is work. */
static bool look_idle(const struct settings *settings, struct db *db, double *since_s,
		      struct err *err)
{
	bool idle, followed;

	if (!status_idle(db, &idle, err) || !all_followed(settings, db, &followed, err))
		return false;
	if (!idle || !followed)
		*since_s = 0;
	else if (*since_s <= 0)
		*since_s = clock_mono_s();
	return true;
}

static bool watch(const struct settings *settings, struct daemons *daemons, double idle_s,
		  struct err *err)
{
	CLEANUP(db_close_ptr) struct db *db = NULL;
	double idle_since_s = 0;

	if (idle_s > 0 && !settings_open_db(settings, "mmperf_cli", "mmperf up", &db, err))
		return false;
	while (!*stop_flag()) {
		if (!daemons_look(daemons, err))
			return false;
		if (db && !look_idle(settings, db, &idle_since_s, err))
			return false;
		if (idle_since_s > 0 && clock_mono_s() - idle_since_s >= idle_s) {
			log_info("nothing to do for %g s: stopping", idle_s);
			return true;
		}
		if (db && daemons_hopeless(daemons))
			return err_set(err, ERR_FAILED,
				       "mmperf-%s ends again and again; its messages stand above",
				       daemons_hopeless(daemons));
		clock_sleep_s(LOOK_EVERY_S);
	}
	log_info("signal %d: stopping", *stop_flag());
	return true;
}

static bool up(const struct settings *settings, double idle_s, struct err *err)
{
	CLEANUP(cluster_release) struct cluster cluster = {0};
	CLEANUP(daemons_release) struct daemons daemons = {0};
	AUTO_CLOSE int lock = -1;
	const char *user;
	struct err late = {0};
	bool ok;

	if (!cluster_service_user(&user, err) || !make_state(settings, user, err) ||
	    !lock_state(settings, &lock, err))
		return false;
	ok = start_database(settings, &cluster, err) && daemons_init(&daemons, settings, err) &&
	     watch(settings, &daemons, idle_s, err);
	daemons_stop(&daemons);
	if (cluster.bin && !cluster_stop(&cluster, ok ? err : &late))
		return false;
	return ok;
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	double idle_s = 0;
	bool foreground = false, help;
	const struct opt opts[] = {
		{0, "foreground", OPT_FLAG, &foreground, NULL, "the only way there is"},
		{0, "exit-when-idle", OPT_SECONDS, &idle_s, "TIME",
		 "end when nothing was to be done for so long"},
		{0},
	};
	const struct settings *settings;
	AUTO_STRS none = STRS_INIT;

	if (!command_parse(session, &cmd_up, opts, argc, argv, 0, 0, &none, &help, err))
		return false;
	if (help)
		return true;
	log_set_program("up");
	stop_on_signals();
	return session_settings(session, &settings, err) && up(settings, idle_s, err);
}

const struct command cmd_up = {
	.name = "up",
	.summary = "run everything on this host",
	.usage = "[--exit-when-idle TIME]",
	.about = "Starts the daemons (runner, bisector, reporter) and, when the settings name no\n"
		 "database, a private PostgreSQL in the state directory. Stays in the foreground "
		 "and\n"
		 "starts a daemon again that ends. SIGINT or SIGTERM stops everything in order.",
	.run = run,
};

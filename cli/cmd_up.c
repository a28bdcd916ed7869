// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf up: everything on one host. */

#include "base/clock.h"
#include "base/log.h"
#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/daemons.h"
#include "cli/session.h"
#include "cli/state.h"
#include "cli/stop.h"
#include "db/migrate.h"
#include "db/status.h"

#define LOOK_EVERY_S	   0.5
#define LOOK_AT_DB_EVERY_S 5.0

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

/* The same through a connection that may break: a database that is away for a while means work. */
static bool look_again(const struct settings *settings, struct db **db, double *since_s,
		       struct err *err)
{
	if ((*db || settings_open_db(settings, "mmperf_cli", "mmperf up", db, err)) &&
	    look_idle(settings, *db, since_s, err))
		return true;
	if (err->kind != ERR_DBDOWN)
		return false;
	db_close(*db);
	*db = NULL;
	*since_s = 0;
	*err = (struct err){0};
	return true;
}

/* A private server that crashed is started again; the daemons wait for it meanwhile. */
static void keep_database(const struct cluster *cluster, double *next_s)
{
	struct err err = {0};
	bool started;

	if (!cluster->bin || clock_mono_s() < *next_s)
		return;
	*next_s = clock_mono_s() + LOOK_AT_DB_EVERY_S;
	if (cluster_alive(cluster))
		return;
	log_warn("database: ended without our doing; starting it again (its log: %s)",
		 cluster->log);
	if (!cluster_start(cluster, &started, &err))
		log_error("%s", err.msg);
}

static bool watch(const struct settings *settings, const struct cluster *cluster,
		  struct daemons *daemons, double idle_s, struct err *err)
{
	CLEANUP(db_close_ptr) struct db *db = NULL;
	double idle_since_s = 0, db_next_s = 0;

	while (!*stop_flag()) {
		keep_database(cluster, &db_next_s);
		if (!daemons_look(daemons, err))
			return false;
		if (idle_s > 0 && !look_again(settings, &db, &idle_since_s, err))
			return false;
		if (idle_since_s > 0 && clock_mono_s() - idle_since_s >= idle_s) {
			log_info("nothing to do for %g s: stopping", idle_s);
			return true;
		}
		if (idle_s > 0 && daemons_hopeless(daemons))
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
	struct err late = {0};
	bool ok;

	if (!state_make(settings, err) || !state_lock(settings, &lock, err))
		return false;
	state_share_files();
	ok = start_database(settings, &cluster, err) && daemons_init(&daemons, settings, err) &&
	     watch(settings, &cluster, &daemons, idle_s, err);
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

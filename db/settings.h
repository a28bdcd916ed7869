/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef DB_SETTINGS_H
#define DB_SETTINGS_H

/* The one key table of all programs, and where things are. */

#include "base/conf.h"
#include "db/conn.h"

extern const struct conf_key settings_keys[];

struct settings {
	struct conf *conf;
	char *state_dir; /* private cluster, repository, artifacts, consoles, spool */
	char *cache_dir; /* worktrees and finished builds: may be lost */
	char *host;	 /* name of this host in the database */
};

/* path NULL: $MMPERF_CONFIG, else /etc/mmperf/config for root's service, else
 * $XDG_CONFIG_HOME/mmperf/config; an absent file is an error that names `mmperf init`. */
bool settings_load(const char *path, struct settings *out, struct err *err) _must_check;
/* That path, whether it exists or not; the caller frees it. */
char *settings_default_path(void);
void settings_release(struct settings *settings);

/* Connects as role ("mmperf_runner", ... or NULL for the owner) to the configured database or to
 * the private cluster of the state directory, and checks the schema's version. */
bool settings_open_db(const struct settings *settings, const char *role, const char *application,
		      struct db **db, struct err *err) _must_check;
/* The same without the version check, for `db migrate`. */
bool settings_open_db_raw(const struct settings *settings, const char *role,
			  const char *application, struct db **db, struct err *err) _must_check;
/* detect.min-effect and detect.min-wait-effect as log ratios, > 0. */
struct worth {
	double effect, wait_effect;
};
struct worth settings_worth(const struct settings *settings);
/* The smallest change of this metric that is worth reporting. */
double worth_of(const struct worth *worth, const char *metric);
/* state_dir/NAME; the caller frees it. */
char *settings_path(const struct settings *settings, const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_SESSION_H
#define CLI_SESSION_H

/* What every command is given: settings, database and repository, opened when first wanted. */

#include "base/js.h"
#include "base/repo.h"
#include "db/settings.h"

struct session {
	const char *config_path;   /* --config; NULL = the usual places */
	bool json;		   /* --json */
	bool found;		   /* a regression: exit status 3 */
	struct settings settings_; /* of session_settings() */
	struct db *db_;
	struct repo *repo_;
};

void session_release(struct session *session);

/* Borrowed from the session; each is opened once. The database is opened as role mmperf_cli. */
bool session_settings(struct session *session, const struct settings **out,
		      struct err *err) _must_check;
bool session_db(struct session *session, struct db **out, struct err *err) _must_check;
bool session_repo(struct session *session, struct repo **out, struct err *err) _must_check;
/* Exit status 3 at the end instead of 0. */
void session_found(struct session *session);
/* Who asks, for rows that keep it; the caller frees it. */
char *session_user(void);
/* Prints an answer in JSON to stdout. */
void session_print_json(const json_t *json);

#endif

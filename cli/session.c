// SPDX-License-Identifier: GPL-2.0-or-later
/* Things opened when wanted. */
#include "cli/session.h"

#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"

void session_release(struct session *session)
{
	repo_free(session->repo_);
	db_close(session->db_);
	if (session->settings_.conf)
		settings_release(&session->settings_);
	*session = (struct session){0};
}

bool session_settings(struct session *session, const struct settings **out, struct err *err)
{
	if (!session->settings_.conf &&
	    !settings_load(session->config_path, &session->settings_, err))
		return false;
	*out = &session->settings_;
	return true;
}

bool session_db(struct session *session, struct db **out, struct err *err)
{
	const struct settings *settings;

	if (!session_settings(session, &settings, err))
		return false;
	if (!session->db_ &&
	    !settings_open_db(settings, "mmperf_cli", "mmperf", &session->db_, err)) {
		bool ours = !conf_str(settings->conf, "database", NULL, "conninfo");

		if (err->kind == ERR_DBDOWN && ours)
			return err_set(err, ERR_DBDOWN,
				       "the private database of %s is not running; start it with "
				       "`mmperf up`, or name another in [database] conninfo",
				       settings->state_dir);
		return false;
	}
	*out = session->db_;
	return true;
}

bool session_repo(struct session *session, struct repo **out, struct err *err)
{
	const struct settings *settings;
	AUTO_FREE char *dir = NULL;

	if (session->repo_) {
		*out = session->repo_;
		return true;
	}
	if (!session_settings(session, &settings, err))
		return false;
	dir = settings_path(settings, "repo.git");
	if (!fs_exists(dir))
		return err_set(err, ERR_NOTFOUND,
			       "nothing was fetched yet: %s does not exist; start `mmperf up` and "
			       "wait for its first fetch (`mmperf log` shows it)",
			       dir);
	if (!repo_open(dir, &session->repo_, err))
		return false;
	*out = session->repo_;
	return true;
}

void session_found(struct session *session)
{
	session->found = true;
}

char *session_user(void)
{
	const struct passwd *pw = getpwuid(geteuid());
	const char *sudo = getenv("SUDO_USER");

	if (geteuid() == 0 && sudo && *sudo)
		return xstrdup(sudo);
	return pw ? xstrdup(pw->pw_name) : xasprintf("uid %d", (int)geteuid());
}

void session_print_json(const json_t *json)
{
	AUTO_FREE char *text = js_pretty(json);

	fputs(text, stdout);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf db: the schema. */
#include <string.h>

#include "cli/cluster.h"
#include "cli/command.h"
#include "cli/session.h"
#include "cli/state.h"
#include "db/migrate.h"

/* A private cluster that nobody runs is started for the while. */
struct brief_cluster {
	struct cluster cluster;
	bool started;
	int lock;
};

static void end_brief(struct brief_cluster *brief)
{
	struct err ignored;

	if (brief->started && !cluster_stop(&brief->cluster, &ignored))
		fprintf(stderr, "mmperf: %s\n", ignored.msg);
	cluster_release(&brief->cluster);
	mem_close_ptr(&brief->lock);
}

static bool start_brief(const struct settings *settings, struct brief_cluster *brief,
			struct err *err)
{
	if (!cluster_wanted(settings))
		return true;
	if (!state_make(settings, err))
		return false;
	if (!state_lock(settings, &brief->lock, err))
		return err->kind == ERR_CONFLICT;
	return cluster_init(settings, &brief->cluster, err) &&
	       cluster_start(&brief->cluster, &brief->started, err);
}

static bool migrate(struct session *session, struct db *db, struct err *err)
{
	AUTO_JSON *doc = json_object();
	int applied, has, wants;

	if (!db_migrate(db, &applied, err) || !db_version(db, &has, &wants, err))
		return false;
	js_set_i64(doc, "applied", applied);
	js_set_i64(doc, "version", has);
	if (session->json)
		session_print_json(doc);
	else
		printf("schema version %d, %d change%s applied\n", has, applied,
		       applied == 1 ? "" : "s");
	return true;
}

static bool status(struct session *session, struct db *db, struct err *err)
{
	AUTO_JSON *doc = json_object();
	int has, wants;

	if (!db_version(db, &has, &wants, err))
		return false;
	js_set_i64(doc, "version", has);
	js_set_i64(doc, "wanted", wants);
	js_set_bool(doc, "private", cluster_wanted(&session->settings_));
	if (session->json)
		session_print_json(doc);
	else
		printf("schema version %d, this program wants %d%s\n", has, wants,
		       has < wants ? ": run `mmperf db migrate`" : "");
	return true;
}

static const struct {
	const char *name;
	bool (*run)(struct session *session, struct db *db, struct err *err);
} actions[] = {
	{"migrate", migrate},
	{"status", status},
};

static bool act(struct session *session, const char *name, struct err *err)
{
	CLEANUP(end_brief) struct brief_cluster brief = {.lock = -1};
	CLEANUP(db_close_ptr) struct db *db = NULL;
	const struct settings *settings;
	size_t i = 0;

	while (i < ARRAY_SIZE(actions) && strcmp(actions[i].name, name) != 0)
		i++;
	if (i == ARRAY_SIZE(actions))
		return err_set(err, ERR_USAGE, "db: \"%s\" is neither migrate nor status", name);
	return session_settings(session, &settings, err) && start_brief(settings, &brief, err) &&
	       settings_open_db_raw(settings, NULL, "mmperf db", &db, err) &&
	       actions[i].run(session, db, err);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	AUTO_STRS words = STRS_INIT;
	bool help;

	if (!command_parse(session, &cmd_db, NULL, argc, argv, 1, 1, &words, &help, err))
		return false;
	return help || act(session, words.v[0], err);
}

const struct command cmd_db = {
	.name = "db",
	.summary = "bring the database's schema up to date",
	.usage = "migrate\nstatus",
	.about = "migrate applies the schema changes that this version brings; it connects as the\n"
		 "owner of the database, not as a daemon. status tells the versions. A private\n"
		 "database that does not run is started for the while.",
	.run = run,
};

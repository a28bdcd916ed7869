// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf-runner: follows, builds, boots. */
#include <signal.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/opt.h"
#include "base/repo.h"
#include "runner/console_record.h"
#include "runner/daemon.h"
#include "runner/follow.h"
#include "runner/jobmain.h"

/* Handed over by base/proc.h's pass_fd. */
#define CONTROL_FD 3

#define EX_DB_DOWN 75 /* sysexits' "try again later": no fault of the job */

static int stop_flag;

static void on_stop(int sig _unused)
{
	__atomic_store_n(&stop_flag, 1, __ATOMIC_RELAXED);
}

struct options {
	const char *config;
	const char *follow;
	const char *console;
	const char *to;
	long long job;
	long long token;
	bool once;
	bool verbose;
};

static void usage(const struct opt *opts, FILE *f)
{
	fputs("usage: mmperf-runner [OPTION]...\n"
	      "Follows trees, builds their commits, boots machines and stores what they "
	      "measure.\n\n",
	      f);
	opt_help(opts, f);
}

static int failed(const struct err *err)
{
	log_error("%s", err->msg);
	return err->kind == ERR_DBDOWN ? EX_DB_DOWN : err_exit_status(err);
}

static bool follow(const struct settings *settings, const char *tree, struct err *err)
{
	CLEANUP(db_close_ptr) struct db *db = NULL;

	if (!conf_has(settings->conf, "tree", tree))
		return err_set(err, ERR_USAGE, "there is no [tree \"%s\"] in %s", tree,
			       conf_path(settings->conf));
	return settings_open_db(settings, "mmperf_runner", "mmperf-runner follow", &db, err) &&
	       follow_tree(settings, db, tree, err);
}

static int run(const struct options *o)
{
	CLEANUP(settings_release) struct settings settings = {0};
	struct sigaction stop = {.sa_handler = on_stop};
	struct err err = {0};
	bool ok;

	repo_init();
	if (!settings_load(o->config, &settings, &err))
		return failed(&err);
	if (o->job || o->console) {
		sigaction(SIGTERM, &stop, NULL);
		sigaction(SIGINT, &stop, NULL);
	}
	if (o->follow) {
		ok = follow(&settings, o->follow, &err);
	} else if (o->console) {
		ok = console_record(&settings, o->console, o->to, o->to ? CONTROL_FD : -1,
				    &stop_flag, &err);
	} else if (o->job) {
		ok = job_main(&settings, o->job, o->token, &stop_flag, &err);
	} else {
		ok = daemon_run(&settings, o->once, &err);
	}
	return ok ? 0 : failed(&err);
}

int main(int argc, char **argv)
{
	struct options o = {0};
	const struct opt opts[] = {
		{'c', "config", OPT_STRING, &o.config, "FILE", "settings; see mmperf.conf(5)"},
		{0, "once", OPT_FLAG, &o.once, NULL, "do all work that there is, then end"},
		{0, "follow", OPT_STRING, &o.follow, "TREE", "fetch this tree once and end"},
		{0, "console", OPT_STRING, &o.console, "MACHINE",
		 "print this machine's console, or record it"},
		{0, "to", OPT_STRING, &o.to, "FILE",
		 "record it there (started by a job, which gives orders)"},
		{0, "job", OPT_INT, &o.job, "ATTEMPT",
		 "do one claimed job (started by the daemon)"},
		{0, "token", OPT_INT, &o.token, "N", "lease of that job"},
		{'v', "verbose", OPT_FLAG, &o.verbose, NULL, "say more"},
		{0},
	};
	AUTO_STRS operands = STRS_INIT;
	struct err err = {0};
	bool help = false;

	log_set_program("runner");
	if (!opt_parse(opts, argc, argv, &operands, &help, &err))
		return failed(&err);
	if (help || operands.n) {
		usage(opts, help ? stdout : stderr);
		return help ? 0 : 2;
	}
	if (o.verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	return run(&o);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Daemon: reports regressions. */
#include <signal.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/opt.h"
#include "base/repo.h"
#include "reports/delivery.h"
#include "reports/machine_mail.h"
#include "reports/pages.h"

enum {
	LOCK_KEY = 0x6d6d7265 /* one reporter for one database */
};

static const double look_again_s = 60;
static const double gather_s = 0.3; /* a burst of news is one look */

static volatile int stop_requested;

static void on_signal(int number _unused)
{
	stop_requested = 1;
}

struct options {
	const char *config;
	const char *mark_sent;
	const char *send_again;
	bool once;
	bool verbose;
};

static const char usage[] =
	"usage: mmperf-reporter [--config FILE] [--once]\n"
	"\n"
	"Writes a page and sends one mail for each regression that was proved.\n"
	"\n";

/* 0 = go on, else the exit status + 1. */
static int read_options(int argc, char **argv, struct options *out)
{
	const struct opt opts[] = {
		{'c', "config", OPT_STRING, &out->config, "FILE", "settings"},
		{0, "once", OPT_FLAG, &out->once, NULL, "do what there is to do, then end"},
		{0, "mark-sent", OPT_STRING, &out->mark_sent, "MESSAGE-ID",
		 "an unsure or refused mail did go out: note it, then end"},
		{0, "send-again", OPT_STRING, &out->send_again, "MESSAGE-ID",
		 "an unsure or refused mail did not go out: queue it, then end"},
		{'v', "verbose", OPT_FLAG, &out->verbose, NULL, "log more"},
		{0},
	};
	AUTO_STRS operands = STRS_INIT;
	struct err err = {0};
	bool help = false;

	if (!opt_parse(opts, argc, argv, &operands, &help, &err)) {
		log_error("%s", err.msg);
		return 3;
	}
	if (help) {
		fputs(usage, stdout);
		opt_help(opts, stdout);
		return 1;
	}
	if (operands.n) {
		log_error("'%s' is not understood; see mmperf-reporter --help", operands.v[0]);
		return 3;
	}
	return 0;
}

/* One reporter at a time: a second one would take the first one's mails for lost. */
static bool take_over(struct db *db, struct delivery *delivery, struct err *err)
{
	bool got;

	if (!db_try_lock(db, LOCK_KEY, &got, err))
		return false;
	if (!got)
		return err_set(err, ERR_CONFLICT, "another reporter works on this database");
	return db_listen(db, "mmperf", err) && delivery_settle(delivery, db, err) &&
	       delivery_recover(delivery, db, err);
}

static bool work_once(struct delivery *delivery, struct db *db, bool afresh, struct err *err)
{
	struct err pages = {0};

	if (!delivery_queue(delivery, db, err) || !machine_mail_queue(delivery, db, err) ||
	    !delivery_send(delivery, db, &stop_requested, err))
		return false;
	if (pages_update(db, delivery->pages_dir, delivery->page_base, afresh, &pages))
		return true;
	*err = pages;
	return err_wrap(err, "pages");
}

/* Until the database is gone or we are to stop. A full disk is said and tried again. */
static bool serve(struct delivery *delivery, struct db *db, bool once, struct err *err)
{
	bool afresh = true;

	while (!stop_requested) {
		double wait_s = look_again_s;
		bool ok = work_once(delivery, db, afresh, err), got;

		if (!ok && (once || err->kind == ERR_DBDOWN))
			return false;
		if (!ok)
			log_error("%s; tried again in %.0f s", err->msg, look_again_s);
		afresh = !ok;
		if (once)
			return true;
		if (!outbox_next_s(db, look_again_s, &wait_s, err) ||
		    !db_wait(db, wait_s, &stop_requested, -1, &got, err))
			return false;
		if (got) {
			clock_sleep_s(gather_s);
			if (!db_wait(db, 0, &stop_requested, -1, &got, err))
				return false;
		}
	}
	return true;
}

static bool session(const struct settings *settings, struct delivery *delivery, bool once,
		    enum err_kind *waited_for, struct err *err)
{
	CLEANUP(db_close_ptr) struct db *db = NULL;

	if (!settings_open_db(settings, "mmperf_reporter", "mmperf-reporter", &db, err) ||
	    !take_over(db, delivery, err))
		return false;
	if (*waited_for != ERR_NONE)
		log_info("database: connected");
	*waited_for = ERR_NONE;
	return serve(delivery, db, once, err);
}

static void pause_s(double seconds)
{
	double end = clock_mono_s() + seconds;

	while (!stop_requested && clock_mono_s() < end)
		clock_sleep_s(0.1);
}

/* What is only waited for is said once. */
static void say(const struct err *err, enum err_kind *waited_for, double wait_s)
{
	if (err->kind != ERR_DBDOWN && err->kind != ERR_CONFLICT)
		log_error("%s; tried again in %.0f s", err->msg, wait_s);
	else if (err->kind != *waited_for)
		log_error("%s; waiting for it", err->msg);
	*waited_for = err->kind;
}

static int run(const struct settings *settings, struct delivery *delivery, bool once)
{
	enum err_kind waited_for = ERR_NONE;
	double wait_s = 1;

	while (!stop_requested) {
		double started = clock_mono_s();
		struct err err = {0};

		if (session(settings, delivery, once, &waited_for, &err))
			return 0;
		if (once || err.kind == ERR_USAGE) {
			log_error("%s", err.msg);
			return err_exit_status(&err);
		}
		if (clock_mono_s() - started > 60)
			wait_s = 1;
		say(&err, &waited_for, wait_s);
		pause_s(wait_s);
		wait_s = wait_s < 32 ? wait_s * 2 : 60;
	}
	return 0;
}

static bool settle_by_hand(const struct settings *settings, const struct options *options,
			   struct err *err)
{
	CLEANUP(db_close_ptr) struct db *db = NULL;
	const char *id = options->mark_sent ? options->mark_sent : options->send_again;

	return settings_open_db(settings, "mmperf_reporter", "mmperf-reporter", &db, err) &&
	       outbox_settle(db, id, options->mark_sent != NULL, err);
}

static int start(const struct options *options)
{
	CLEANUP(settings_release) struct settings settings = {0};
	CLEANUP(delivery_release) struct delivery delivery = {0};
	struct err err = {0};

	if (!settings_load(options->config, &settings, &err) ||
	    !delivery_init(&settings, &delivery, &err) ||
	    ((options->mark_sent || options->send_again) &&
	     !settle_by_hand(&settings, options, &err))) {
		log_error("%s", err.msg);
		return err_exit_status(&err);
	}
	if (options->mark_sent || options->send_again)
		return 0;
	return run(&settings, &delivery, options->once);
}

int main(int argc, char **argv)
{
	struct options options = {0};
	struct sigaction action = {.sa_handler = on_signal};
	int status;

	log_set_program("reporter");
	status = read_options(argc, argv, &options);
	if (status)
		return status - 1;
	if (options.verbose)
		log_set_level(LOG_LEVEL_DEBUG);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	repo_init();
	return start(&options);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* lockwatch at a shell. */
#include "bench/lockwatch_main.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/opt.h"
#include "bench/command_run.h"
#include "bench/lock_report.h"
#include "bench/lock_selftest.h"
#include "bench/lockdelay.h"
#include "bench/lockwatch.h"

struct wanted {
	bool json, help;
	const char *self_test;
	long long sites;
	struct strs delays;
	struct strs command;
};

static bool start_delays(const struct strs *delays, struct lockdelay **out, struct err *err)
{
	if (!delays->n)
		return true;
	if (!lockdelay_open(out, err))
		return false;
	for (size_t i = 0; i < delays->n; i++) {
		if (!lockdelay_set(*out, delays->v[i], err))
			return false;
	}
	return true;
}

static bool watch_command(const struct wanted *wanted, struct lock_report *out, int *status,
			  struct err *err)
{
	CLEANUP(lockwatch_free_ptr) struct lockwatch *watch = NULL;
	CLEANUP(lockdelay_free_ptr) struct lockdelay *delay = NULL;
	CLEANUP(kallsyms_free_ptr) struct kallsyms *syms = NULL;
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	bool ok;

	/* Symbols last: those of the programs are among them. */
	if (!lockwatch_open(&watch, err) || !start_delays(&wanted->delays, &delay, err) ||
	    !kallsyms_load(&syms, err))
		return false;
	counters_read_locks(&out->events_before);
	out->seconds = clock_mono_s();
	lockwatch_switch(watch, true);
	ok = command_run("lockwatch", wanted->command.v, status, err);
	lockwatch_switch(watch, false);
	out->seconds = clock_mono_s() - out->seconds;
	counters_read_locks(&out->events_after);
	if (!ok || !lockwatch_read(watch, &rows, &out->health, err))
		return false;
	lock_waits_name(&rows, syms, &out->waits);
	spinlock_facts_read(&out->spin, syms);
	out->holds = lockwatch_holds(watch);
	out->cpus = (unsigned)sysconf(_SC_NPROCESSORS_ONLN);
	return true;
}

static int watch(const struct wanted *wanted)
{
	struct lock_report report = {0};
	struct err err;
	int status = 0;
	bool ok = watch_command(wanted, &report, &status, &err);

	if (!ok)
		fprintf(stderr, "lockwatch: %s\n", err.msg);
	else if (wanted->json)
		lock_report_json(&report, stdout);
	else
		lock_report_print(&report, (size_t)wanted->sites, stderr);
	lock_report_release(&report);
	if (!ok)
		return err_exit_status(&err);
	return status;
}

static void print_help(const struct opt *opts)
{
	printf("usage: lockwatch [--json] [--sites N] [--delay LOCK=TIME[/N]]... -- COMMAND "
	       "[ARGUMENT...]\n"
	       "       lockwatch --self-test accounting|naming|all\n\n"
	       "Waits for kernel locks on the whole machine while COMMAND runs: by lock and call "
	       "site,\non stderr, or as JSON on stdout. Ends with the status of the command.\n\n");
	opt_help(opts, stdout);
}

static bool parse(struct wanted *wanted, const struct opt *opts, int argc, char **argv,
		  struct err *err)
{
	if (!opt_parse(opts, argc, argv, &wanted->command, &wanted->help, err))
		return false;
	if (wanted->help || wanted->self_test)
		return true;
	if (!wanted->command.n)
		return err_set(err, ERR_USAGE, "no command given; see lockwatch --help");
	return wanted->sites >= 0 || err_set(err, ERR_USAGE, "--sites wants a number from 0 on");
}

int lockwatch_main(int argc, char **argv)
{
	struct wanted wanted = {.sites = 5, .delays = STRS_INIT, .command = STRS_INIT};
	const struct opt opts[] = {
		{0, "json", OPT_FLAG, &wanted.json, NULL, "lines of JSON on stdout"},
		{0, "sites", OPT_INT, &wanted.sites, "N", "call sites shown of each lock (5)"},
		{0, "delay", OPT_LIST, &wanted.delays, "LOCK=TIME[/N]",
		 "keep holders of lruvec or zone TIME longer, at every Nth chance (32)"},
		{0, "self-test", OPT_STRING, &wanted.self_test, "WHAT",
		 "check what is told against known waits: accounting, naming, all"},
		{0}};
	struct err err;
	int status;

	if (!parse(&wanted, opts, argc, argv, &err)) {
		fprintf(stderr, "lockwatch: %s\n", err.msg);
		status = err_exit_status(&err);
	} else if (wanted.help) {
		print_help(opts);
		status = 0;
	} else {
		status = wanted.self_test ? lock_selftest(wanted.self_test) : watch(&wanted);
	}
	strs_release(&wanted.delays);
	strs_release(&wanted.command);
	return status;
}

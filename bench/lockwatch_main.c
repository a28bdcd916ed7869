// SPDX-License-Identifier: GPL-2.0-or-later
/* lockwatch at a shell. */
#include "bench/lockwatch_main.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/js.h"
#include "base/opt.h"
#include "bench/lockwatch.h"
#include "bench/spinlock.h"

struct watched {
	struct lock_waits waits;
	struct lock_health health;
	struct spinlock_facts spin;
	double seconds;
	int status;
};

static bool run_command(char *const *argv, int *status, struct err *err)
{
	pid_t pid = fork();

	if (pid < 0)
		return err_sys(err, "cannot fork");
	if (!pid) {
		execvp(argv[0], argv);
		fprintf(stderr, "lockwatch: cannot execute %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	while (waitpid(pid, status, 0) < 0) {
		if (errno != EINTR)
			return err_sys(err, "waitpid");
	}
	return true;
}

static bool watch_command(char *const *argv, struct watched *out, struct err *err)
{
	CLEANUP(lockwatch_free_ptr) struct lockwatch *watch = NULL;
	CLEANUP(kallsyms_free_ptr) struct kallsyms *syms = NULL;
	AUTO_LOCK_ROWS rows = LOCK_ROWS_INIT;
	bool ok;

	if (!kallsyms_load(&syms, err) || !lockwatch_open(&watch, err))
		return false;
	out->seconds = clock_mono_s();
	lockwatch_switch(watch, true);
	ok = run_command(argv, &out->status, err);
	lockwatch_switch(watch, false);
	out->seconds = clock_mono_s() - out->seconds;
	if (!ok || !lockwatch_read(watch, &rows, &out->health, err))
		return false;
	lock_waits_name(&rows, syms, &out->waits);
	spinlock_facts_read(&out->spin, syms);
	return true;
}

static void print_json(const struct watched *w)
{
	for (size_t i = 0; i < w->waits.n; i++) {
		const struct lock_wait *wait = &w->waits.v[i];
		AUTO_JSON *line = json_object();
		AUTO_FREE char *text = NULL;

		js_set_str(line, "type", "lock");
		js_set_str(line, "class", wait->class);
		js_set_str(line, "site", wait->site);
		js_set_i64(line, "count", (int64_t)wait->stat.count);
		js_set_i64(line, "wait_ns", (int64_t)wait->stat.sum_ns);
		js_set_i64(line, "max_ns", (int64_t)wait->stat.max_ns);
		text = js_text(line);
		puts(text);
	}
}

static void print_table(const struct watched *w)
{
	printf("%-16s %-32s %10s %14s %12s %12s\n", "class", "site", "waits", "total ns", "max ns",
	       "average ns");
	for (size_t i = 0; i < w->waits.n; i++) {
		const struct lock_wait *wait = &w->waits.v[i];

		printf("%-16.40s %-32.60s %10llu %14llu %12llu %12llu\n", wait->class, wait->site,
		       (unsigned long long)wait->stat.count, (unsigned long long)wait->stat.sum_ns,
		       (unsigned long long)wait->stat.max_ns,
		       (unsigned long long)(wait->stat.sum_ns / wait->stat.count));
	}
}

static void print_health(const struct watched *w)
{
	const struct lock_health *h = &w->health;
	const char *reason;

	fprintf(stderr,
		"lockwatch: %.3f s; %llu begins, %llu ends, %llu open, %llu lost, "
		"%llu without stack, %llu map full, %llu recursion misses\n",
		w->seconds, (unsigned long long)h->begins, (unsigned long long)h->ends,
		(unsigned long long)h->open, (unsigned long long)h->lost,
		(unsigned long long)h->stack_failures, (unsigned long long)h->map_full,
		(unsigned long long)h->recursion_misses);
	if (!lock_health_ok(h, &reason))
		fprintf(stderr, "lockwatch: not valid: %s\n", reason);
	if (!spinlock_measurable(&w->spin, &reason))
		fprintf(stderr, "lockwatch: spinlocks not seen here: %s\n", reason);
}

int lockwatch_main(int argc, char **argv)
{
	struct watched watched = {0};
	bool json = false, help = false, ok;
	const struct opt opts[] = {{0, "json", OPT_FLAG, &json, NULL, "print lines of JSON"}, {0}};
	AUTO_STRS command = STRS_INIT;
	struct err err;

	ok = opt_parse(opts, argc, argv, &command, &help, &err);
	if (ok && (help || !command.n)) {
		printf("usage: lockwatch [--json] -- COMMAND [ARGUMENT...]\n"
		       "Waits for kernel locks on the whole machine while COMMAND runs.\n");
		opt_help(opts, stdout);
		return help ? 0 : 2;
	}
	ok = ok && watch_command(command.v, &watched, &err);
	if (!ok) {
		fprintf(stderr, "lockwatch: %s\n", err.msg);
		return err_exit_status(&err);
	}
	if (json)
		print_json(&watched);
	else
		print_table(&watched);
	print_health(&watched);
	lock_waits_release(&watched.waits);
	return WIFEXITED(watched.status) ? WEXITSTATUS(watched.status) : 1;
}

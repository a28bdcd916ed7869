// SPDX-License-Identifier: GPL-2.0-or-later
/* Booting a machine. */
#include "runner/machine.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "db/result.h"
#include "runner/console.h"
#include "runner/machines/drivers.h"

#define LOOK_S	    0.02
#define MAX_CONSOLE ((size_t)64 << 20)

static const struct machine_driver *const drivers[] = {
	&machine_fake,
	&machine_kexec,
	&machine_local,
	&machine_qemu,
};

bool machine_driver_find(const char *name, const struct machine_driver **out, struct err *err)
{
	AUTO_STR known = str_new();

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		if (!strcmp(drivers[i]->name, name)) {
			*out = drivers[i];
			return true;
		}
		str_addf(&known, "%s%s", i ? ", " : "", drivers[i]->name);
	}
	return err_set(err, ERR_USAGE, "there is no machine driver \"%s\"; there are: %s", name,
		       known.s);
}

bool machine_add_knobs(const struct conf *conf, const char *name, json_t *job, struct err *err)
{
	static const struct {
		const char *key, *knob;
		bool on; /* may be asked for */
	} keys[] = {{"smt", "smt", true}, {"lru-gen", "lru_gen", true}, {"swap", "swap", false}};
	json_t *knobs = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *word = conf_str(conf, "machine", name, keys[i].key);

		if (!strcmp(word, "keep"))
			continue;
		if (strcmp(word, "off") != 0 && !(keys[i].on && !strcmp(word, "on")))
			return err_set(err, ERR_USAGE,
				       "machine.%s.%s: \"%s\" should be keep%s or off", name,
				       keys[i].key, word, keys[i].on ? ", on" : "");
		if (!knobs)
			js_set_new(job, "knobs", knobs = json_object());
		js_set_str(knobs, keys[i].knob, word);
	}
	return true;
}

void machine_init(struct machine *m, struct worker *worker, const struct machine_driver *driver,
		  json_t *job)
{
	AUTO_JSON *owned = job;

	*m = (struct machine){
		.worker = worker,
		.driver = driver,
		.name = worker->lease.machine_name,
		.lines_path = xasprintf("%s/lines", worker->dir),
		.console_path = xasprintf("%s/console", worker->dir),
		.lines_fd = -1,
		.proc = PROC_NONE,
		.reason = str_new(),
	};
	secret_nonce(m->nonce);
	js_set_i64(owned, "v", 1);
	js_set_str(owned, "nonce", m->nonce);
	js_set_bool(owned, "init", driver->agent_is_init);
	m->job_text = js_text(owned);
	m->collect = collect_new(m->nonce);
	console_watch_init(&m->watch, m->console_path);
	serial_lines_init(&m->serial, 0);
	net_lines_init(&m->net);
}

void machine_release(struct machine *m)
{
	proc_kill(&m->proc, 0);
	mem_close_ptr(&m->lines_fd);
	collect_free(m->collect);
	console_watch_release(&m->watch);
	serial_lines_release(&m->serial);
	net_lines_release(&m->net);
	free(m->job_text);
	free(m->lines_path);
	free(m->console_path);
	str_release(&m->reason);
	free(m->state);
}

const char *machine_str(const struct machine *m, const char *key)
{
	return conf_str(m->worker->settings->conf, "machine", m->name, key);
}

void machine_verdict(struct machine *m, const char *outcome, const char *fmt, ...)
{
	va_list ap;

	m->outcome = outcome;
	str_clear(&m->reason);
	va_start(ap, fmt);
	str_vaddf(&m->reason, fmt, ap);
	va_end(ap);
}

void machine_stop(struct machine *m)
{
	proc_kill(&m->proc, 0);
	net_lines_close(&m->net); /* the agent waits for that before it restarts the machine */
	if (m->started_s > 0 && m->guest_s <= 0)
		m->guest_s = clock_mono_s() - m->started_s;
}

static bool read_lines(struct machine *m, struct err *err)
{
	char buf[65536];
	ssize_t n;

	if (m->by_console && !serial_lines_pull(&m->serial, m->console_path, m->lines_path, err))
		return false;
	if (m->by_net && !net_lines_pull(&m->net, m->nonce, m->lines_path, err))
		return false;
	if (m->lines_fd < 0) {
		m->lines_fd = open(m->lines_path, O_RDONLY | O_CLOEXEC);
		if (m->lines_fd < 0)
			return true; /* not there yet */
	}
	while ((n = read(m->lines_fd, buf, sizeof(buf))) > 0)
		if (!collect_feed(m->collect, buf, (size_t)n, err))
			return false;
	return n == 0 || err_sys(err, "cannot read %s", m->lines_path);
}

static bool reached(const struct machine *m, enum machine_wait until)
{
	return until == MACHINE_HELLO ? collect_greeted(m->collect) : collect_ended(m->collect);
}

/* Of this boot, what stands behind *from; false: there is no console. */
static bool read_console(const struct machine *m, struct str *console, size_t *from)
{
	struct err ignored;
	bool there = fs_read(m->console_path, MAX_CONSOLE, console, &ignored);

	if (!there)
		str_clear(console);
	*from = m->console_from < console->len ? m->console_from : console->len;
	return there;
}

bool machine_console_facts(struct machine *m, struct console_facts *out)
{
	AUTO_STR console = str_new();
	size_t from;
	bool there = read_console(m, &console, &from);

	*out = console_facts(console.s + from, console.len - from);
	return there;
}

/* The kernel did not come to where it should: what was its last word? */
bool machine_diagnose(struct machine *m, const char *otherwise, const char *why)
{
	AUTO_STR console = str_new(), line = str_new();
	const char *outcome = NULL, *advice;
	size_t from;

	read_console(m, &console, &from);
	if (console_diagnose(console.s + from, console.len - from, &outcome, &line)) {
		machine_verdict(m, outcome, "%s", line.s);
	} else {
		console_last_line(console.s + from, console.len - from, &line);
		machine_verdict(m, otherwise, "%s; last console line: %s", why,
				*line.s ? line.s : "(none)");
	}
	advice = console_advice(m->reason.s);
	if (advice)
		str_addf(&m->reason, " (%s)", advice);
	return true;
}

void machine_listen(struct machine *m)
{
	console_watch_from(&m->watch, m->console_from);
	m->serial.at = m->console_from;
}

static bool diagnose(struct machine *m, bool timed_out, double timeout_s)
{
	AUTO_FREE char *over =
		xasprintf(timed_out ? "not done after %g s" : "the machine went down (limit %g s)",
			  timeout_s);
	bool greeted = collect_greeted(m->collect);

	if (m->watch.line.len) {
		bool again = console_ends(m->watch.line.s, m->watch.line.len, true) &&
			     !console_ends(m->watch.line.s, m->watch.line.len, false);
		AUTO_FREE char *why = xasprintf("%s: %s",
						again ? "it restarted by itself"
						      : "the console says that it is over",
						m->watch.line.s);

		return machine_diagnose(m, greeted ? "hang" : "no_boot", why);
	}
	if (greeted)
		return machine_diagnose(m, "hang", over);
	return machine_diagnose(m, "no_boot",
				timed_out ? "the agent did not speak in time"
					  : "the machine went down");
}

bool machine_follow(struct machine *m, enum machine_wait until, double timeout_s, int *exit_status,
		    struct err *err)
{
	double end = clock_mono_s() + timeout_s;
	bool ended = false, timed_out = false;
	int status = -1;

	if (until == MACHINE_END)
		console_watch_is_up(&m->watch);
	for (;;) {
		struct err why;

		if (!read_lines(m, &why)) {
			machine_verdict(m, "agent", "%s", why.msg);
			return true;
		}
		if (reached(m, until))
			return true;
		if (ended || timed_out)
			break;
		ended = proc_wait(&m->proc, LOOK_S, &status) || m->net.over;
		if (!ended && m->proc.pid <= 0)
			clock_sleep_s(LOOK_S); /* there is no process to wait for */
		timed_out = clock_mono_s() > end || console_watch_ended(&m->watch);
		if (!worker_tick(m->worker, err))
			return false;
	}
	if (exit_status)
		*exit_status = status;
	return diagnose(m, !ended, timeout_s);
}

/* Rather measured twice than refused for a database that is away: the row's own key decides then. */
static bool boot_is_fresh(struct machine *m)
{
	bool seen = false;
	struct err ignored;

	if (m->worker->db &&
	    !boot_uuid_seen(m->worker->db, collect_boot_uuid(m->collect), &seen, &ignored))
		seen = false;
	return !seen;
}

bool machine_confirm(struct machine *m, bool fresh, struct err *err _unused)
{
	const char *runs = collect_build_id(m->collect);

	if (m->build_id && strcmp(m->build_id, runs) != 0)
		machine_verdict(m, "wrong_kernel", "build-id %s runs, %s was loaded",
				*runs ? runs : "(none)", m->build_id);
	else if (fresh && !boot_is_fresh(m))
		machine_verdict(m, "wrong_kernel", "boot %s was measured before: no fresh boot",
				collect_boot_uuid(m->collect));
	return true;
}

/*
 * A boot that others disturbed is thrown away and tried again. On a host that never is quiet the last
 * try counts, and says so.
 */
static void judge_quiet(struct machine *m)
{
	double limit = conf_f64(m->worker->settings->conf, "machine", m->name, "max-disturbance");
	const struct job_lease *lease = &m->worker->lease;
	bool last = lease->n >= lease->job.max_attempts;

	if (m->foreign_share <= limit)
		return;
	machine_verdict(
		m, last ? "ok" : "infra",
		"other work took %.0f %% of this host's CPUs (max-disturbance is %.0f %%)%s",
		100 * m->foreign_share, 100 * limit, last ? "; kept, as the last try" : "");
}

static void conclude(struct machine *m)
{
	const struct result *r = collect_result(m->collect);

	if (m->outcome)
		return;
	if (!collect_ended(m->collect))
		machine_verdict(m, "agent", "the agent did not come to its end");
	else if (r->clocksource_changed)
		machine_verdict(m, "machine", "the clock source changed during the measurement");
	else
		machine_verdict(m, "ok", "%s", "");
	if (!strcmp(m->outcome, "ok"))
		judge_quiet(m);
}

bool machine_boot(struct machine *m, struct err *err)
{
	const struct machine_driver *d = m->driver;
	bool ok = d->load(m, err) && d->start(m, err) && (m->outcome || d->confirm(m, err)) &&
		  (m->outcome || d->run(m, err)) && d->collect(m, err);

	if (ok)
		conclude(m);
	return ok;
}

bool machine_recover(struct machine *m, struct err *err)
{
	return m->driver->recover(m, err);
}

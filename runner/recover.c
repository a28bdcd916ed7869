// SPDX-License-Identifier: GPL-2.0-or-later
/* The way back. */
#include "runner/recover.h"

#include <math.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"

/* One look: a machine that is up answers in less, one that is not may answer the next time. */
#define LOOK_S	15.0
#define LEAST_S 5.0
#define PAUSE_S 0.1
/* Of a step's time, for what the machine does by itself (panic=N, a watchdog). */
#define ALONE	0.5

void recovery_init(struct recovery *r, struct ssh *ssh, const char *machine)
{
	*r = (struct recovery){
		.ssh = ssh,
		.machine = machine,
		.wait_s =
			conf_f64(ssh->worker->settings->conf, "machine", machine, "reboot-timeout"),
		.steps = str_new(),
	};
}

void recovery_release(struct recovery *r)
{
	target_state_release(&r->state);
	str_release(&r->steps);
}

bool recovery_may(void *arg, double for_s, struct err *err)
{
	return worker_hold(arg, for_s, err);
}

/* The lease is gone, or may be: not one step more. */
static bool must_stop(const struct err *err)
{
	return err->kind == ERR_CONFLICT || err->kind == ERR_DBDOWN;
}

static bool stopped(const struct ssh *ssh)
{
	return ssh->worker->stop && *ssh->worker->stop;
}

struct wait {
	const char *dir, *not_boot;
	double timeout_s;
	bool ordered; /* it was told to restart, so that the old boot may answer for a while */
	struct console_watch *watch; /* may be NULL */
};

/* One look, until end_s if it takes no answer; *over: there is no use in another. */
static bool look(struct ssh *ssh, const struct wait *w, double end_s, struct target_state *state,
		 bool *over, struct err *err)
{
	double timeout_s = fmax(LEAST_S, fmin(LOOK_S, end_s - clock_mono_s()));

	*over = false;
	if (!target_look(ssh, w->dir, timeout_s, state, err)) {
		*over = must_stop(err) || stopped(ssh);
		return false;
	}
	if (strcmp(state->boot_id, w->not_boot) != 0)
		return true;
	*over = !w->ordered;
	return err_set(err, ERR_FAILED, "it still runs the boot that should have ended");
}

static bool is_dead(void *watch)
{
	return console_watch_ended(watch);
}

/* On its way down or up a machine refuses logins in ways that pass: only the time ends this. */
static bool look_until_boot(struct ssh *ssh, const struct wait *w, struct target_state *state,
			    struct err *err)
{
	double end = clock_mono_s() + w->timeout_s;
	struct err why;
	bool over;

	for (;;) {
		if (look(ssh, w, end, state, &over, &why))
			return true;
		if (over) {
			*err = why;
			return false;
		}
		ssh_disconnect(ssh);
		if (w->watch && is_dead(w->watch))
			return err_set(err, ERR_TIMEOUT, "the console says that it is over: %s",
				       w->watch->line.s);
		if (clock_mono_s() > end)
			return err_set(err, why.kind == ERR_USAGE ? ERR_USAGE : ERR_TIMEOUT,
				       "not back after %g s: %s", w->timeout_s, why.msg);
		clock_sleep_s(PAUSE_S);
	}
}

static bool wait_for_boot(struct ssh *ssh, const struct wait *w, struct target_state *state,
			  struct err *err)
{
	bool ok;

	ssh->over = w->watch ? is_dead : NULL;
	ssh->over_arg = w->watch;
	ok = look_until_boot(ssh, w, state, err);
	ssh->over = NULL;
	return ok;
}

bool recovery_wait(struct ssh *ssh, const char *dir, const char *not_boot, double timeout_s,
		   struct console_watch *watch, struct target_state *state, struct err *err)
{
	const struct wait w = {dir, not_boot, timeout_s, true, watch};

	return wait_for_boot(ssh, &w, state, err);
}

/* Steps -------------------------------------------------------------------------------------------- */

static bool alone(struct recovery *r _unused, struct err *err _unused)
{
	return true;
}

static bool by_ssh(struct recovery *r, enum target_reboot how, struct err *err)
{
	return ssh_connect(r->ssh, LOOK_S, err) && target_reboot(r->ssh, how, err);
}

static bool reboot_by_ssh(struct recovery *r, struct err *err)
{
	return by_ssh(r, TARGET_REBOOT, err);
}

static bool sysrq_by_ssh(struct recovery *r, struct err *err)
{
	return by_ssh(r, TARGET_SYSRQ, err);
}

static bool sysrq_by_console(struct recovery *r, struct err *err)
{
	static const char keys[] = "sub";

	if (!r->console)
		return err_set(err, ERR_NOTFOUND, "it has no console");
	for (size_t i = 0; keys[i]; i++) {
		if (!worker_hold(r->ssh->worker, WORKER_HOLD_S, err) ||
		    !console_source_sysrq(r->console, keys[i], err))
			return false;
		clock_sleep_s(1);
	}
	return true;
}

static bool by_power(struct recovery *r, enum power_verb verb, struct err *err)
{
	if (!r->power || r->driver >= power_count(r->power))
		return err_set(err, ERR_NOTFOUND, "it has no (further) power control");
	return power_do_by(r->power, r->driver, verb, err);
}

/* The system is asked to go down: what hangs in user space alone still writes its disks. */
static bool soft_by_power(struct recovery *r, struct err *err)
{
	return by_power(r, POWER_SOFT, err);
}

static bool reset_by_power(struct recovery *r, struct err *err)
{
	return by_power(r, POWER_RESET, err);
}

static bool cycle_by_power(struct recovery *r, struct err *err)
{
	return by_power(r, POWER_CYCLE, err);
}

/* The last resort of machines with a second switch, such as a PDU behind a BMC that hangs. */
static bool cycle_by_second(struct recovery *r, struct err *err)
{
	r->driver = 1;
	return by_power(r, POWER_CYCLE, err);
}

static const struct {
	const char *name;
	bool (*act)(struct recovery *r, struct err *err);
	double share; /* of wait_s */
} steps[] = {
	{"waiting", alone, ALONE},
	{"reboot by ssh", reboot_by_ssh, 1},
	{"sysrq by ssh", sysrq_by_ssh, 1},
	{"sysrq by console", sysrq_by_console, 1},
	{"soft power", soft_by_power, 1},
	{"power reset", reset_by_power, 1},
	{"power cycle", cycle_by_power, 1},
	{"power cycle by the second driver", cycle_by_second, 1},
};

/* True: the machine's own kernel answers. Else err tells why, or what runs instead. */
static bool take_step(struct recovery *r, size_t i, const char *not_boot, struct err *err)
{
	const struct wait w = {
		.dir = target_dir(r->ssh->worker, r->machine),
		.not_boot = not_boot,
		.timeout_s = fmax(1, steps[i].share * r->wait_s),
		/* A machine that answers as before does not restart by itself. */
		.ordered = steps[i].act != alone,
	};

	if (!worker_hold(r->ssh->worker, WORKER_HOLD_S, err) || !steps[i].act(r, err))
		return false;
	str_addf(&r->steps, "%s%s", r->steps.len ? ", " : "", steps[i].name);
	if (!wait_for_boot(r->ssh, &w, &r->state, err))
		return false;
	if (!r->state.tested)
		return true;
	return err_set(err, ERR_FAILED, "a tested kernel runs, %s", r->state.release);
}

bool recovery_run(struct recovery *r, const char *not_boot, struct err *err)
{
	AUTO_STR last = str_new();
	bool hopeless = false;

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
		struct err why;

		if (take_step(r, i, not_boot, &why))
			return true;
		if (must_stop(&why) || stopped(r->ssh)) {
			*err = why;
			return false;
		}
		if (why.kind == ERR_NOTFOUND)
			continue;
		hopeless = why.kind == ERR_USAGE;
		log_info("machine %s: %s: %s", r->machine, steps[i].name, why.msg);
		str_clear(&last);
		str_add(&last, why.msg);
	}
	return err_set(err, hopeless ? ERR_USAGE : ERR_FAILED,
		       "the machine did not come back (tried: %s): %s",
		       r->steps.len ? r->steps.s : "nothing that it answered", last.s);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Power verbs made of the drivers' raw orders. */
#include "runner/power.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "runner/power/drivers.h"

/* A BMC answers such a question in about a second and suffers from being asked more often. */
/* Between two looks: most orders are carried out at once, a shutdown takes its time. */
#define LOOK_S	   0.05
#define LOOK_MAX_S 1.0

static const struct power_driver *const drivers[] = {
	&power_redfish,
	&power_ipmi,
	&power_pdu,
	&power_exec,
};

static const char *const verbs[POWER_VERBS] = {
	[POWER_ON] = "on",	 [POWER_OFF] = "off",	[POWER_CYCLE] = "cycle",
	[POWER_RESET] = "reset", [POWER_SOFT] = "soft", [POWER_NMI] = "nmi",
};

struct power {
	struct power_link link;
	char *machine;
	struct power_guard guard;
	const struct power_driver **v;
	size_t n;
	size_t cap;
};

bool power_verb_find(const char *name, enum power_verb *out, struct err *err)
{
	AUTO_STR known = str_new();

	for (int i = 0; i < POWER_VERBS; i++) {
		if (!strcmp(verbs[i], name)) {
			*out = (enum power_verb)i;
			return true;
		}
		str_addf(&known, "%s%s", i ? ", " : "", verbs[i]);
	}
	return err_set(err, ERR_USAGE, "there is no power verb \"%s\"; there are: %s", name,
		       known.s);
}

const char *power_verb_name(enum power_verb verb)
{
	return verbs[verb];
}

const char *power_state_name(enum power_state state)
{
	return state == POWER_IS_ON ? "on" : state == POWER_IS_OFF ? "off" : "unknown";
}

const char *power_str(const struct power_link *link, const char *key)
{
	return conf_str(link->settings->conf, "machine", link->machine, key);
}

double power_seconds(const struct power_link *link, const char *key)
{
	return conf_f64(link->settings->conf, "machine", link->machine, key);
}

bool power_need(const struct power_link *link, const char *key, const char **out, struct err *err)
{
	const char *value = power_str(link, key);

	if (!value || !*value)
		return err_set(err, ERR_USAGE, "set %s in [machine \"%s\"]", key, link->machine);
	*out = value;
	return true;
}

bool power_left(const struct power_link *link, double limit_s, double *out, struct err *err)
{
	double left = link->end_s - clock_mono_s();

	if (left <= 0)
		return err_set(
			err, ERR_TIMEOUT, "not done within power-timeout (%g s)",
			conf_f64(link->settings->conf, "machine", link->machine, "power-timeout"));
	*out = fmin(left, limit_s);
	return true;
}

static bool add_driver(struct power *p, const char *name, struct err *err)
{
	AUTO_STR known = str_new();

	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++) {
		str_addf(&known, "%s%s", i ? ", " : "", drivers[i]->name);
		if (strcmp(drivers[i]->name, name) != 0)
			continue;
		*array_push(p->v, p->n, p->cap) = drivers[i];
		return drivers[i]->check(&p->link, err) ||
		       err_wrap(err, "power = %s", drivers[i]->name);
	}
	return err_set(err, ERR_USAGE, "there is no power driver \"%s\"; there are: %s", name,
		       known.s);
}

bool power_open(const struct settings *settings, const char *machine,
		const struct power_guard *guard, struct power **out, struct err *err)
{
	CLEANUP(power_free_ptr) struct power *p = xcalloc(1, sizeof(*p));
	const struct strs *names;

	if (!conf_has(settings->conf, "machine", machine))
		return err_set(err, ERR_USAGE, "there is no [machine \"%s\"] in %s", machine,
			       conf_path(settings->conf));
	p->machine = xstrdup(machine);
	p->link = (struct power_link){.settings = settings, .machine = p->machine};
	if (guard)
		p->guard = *guard;
	names = conf_list(settings->conf, "machine", machine, "power");
	for (size_t i = 0; i < names->n; i++)
		if (!add_driver(p, names->v[i], err))
			return err_wrap(err, "machine %s", machine);
	*out = TAKE(p);
	return true;
}

void power_free(struct power *p)
{
	if (!p)
		return;
	free(p->machine);
	free(p->v);
	free(p);
}

void power_free_ptr(struct power **p)
{
	power_free(*p);
}

size_t power_count(const struct power *p)
{
	return p->n;
}

const char *power_name(const struct power *p, size_t i)
{
	return p->v[i]->name;
}

static void begin(struct power *p)
{
	p->link.end_s = clock_mono_s() + power_seconds(&p->link, "power-timeout");
}

/* A session on a BMC must not stay behind: there are few. */
static void end(struct power *p, const struct power_driver *d)
{
	if (d->end)
		d->end(&p->link);
}

static bool give(struct power *p, const struct power_driver *d, enum power_verb verb,
		 struct err *err)
{
	double left;

	if (!power_left(&p->link, INFINITY, &left, err))
		return false;
	if (p->guard.may && !p->guard.may(p->guard.arg, left, err))
		return false;
	return d->order(&p->link, verb, err);
}

/* A question that fails is asked again: BMCs drop some, most of all while power changes. */
static bool settle(struct power *p, const struct power_driver *d, enum power_state wanted,
		   struct err *err)
{
	enum power_state now = POWER_UNKNOWN;
	struct err why = {0};
	double left, look_s = LOOK_S;

	for (; d->ask; look_s = fmin(2 * look_s, LOOK_MAX_S)) {
		if (d->ask(&p->link, &now, &why) ? now == wanted : why.kind == ERR_NOTFOUND)
			return true;
		if (!power_left(&p->link, look_s, &left, err))
			return err_set(err, ERR_TIMEOUT,
				       "the order was taken, but after %g s power is still %s%s%s",
				       power_seconds(&p->link, "power-timeout"),
				       power_state_name(now), why.kind ? "; last answer: " : "",
				       why.kind ? why.msg : "");
		clock_sleep_s(left);
	}
	return true;
}

static bool is_off(struct power *p, const struct power_driver *d)
{
	enum power_state now = POWER_UNKNOWN;
	struct err ignored;

	return d->ask && d->ask(&p->link, &now, &ignored) && now == POWER_IS_OFF;
}

/* Capacitors, and BMCs that refuse an order right after the last one. */
static void rest(const struct power *p)
{
	double left, s = power_seconds(&p->link, "power-delay");
	struct err ignored;

	if (power_left(&p->link, s, &left, &ignored))
		clock_sleep_s(left);
}

static bool turn(struct power *p, const struct power_driver *d, enum power_verb verb,
		 enum power_state to, struct err *err)
{
	return give(p, d, verb, err) && settle(p, d, to, err);
}

static bool off_and_on(struct power *p, const struct power_driver *d, enum power_verb down,
		       struct err *err)
{
	if (!is_off(p, d)) {
		if (!turn(p, d, down, POWER_IS_OFF, err))
			return err_wrap(err, "%s", down == POWER_SOFT ? "shutdown" : "off");
		rest(p);
	}
	return turn(p, d, POWER_ON, POWER_IS_ON, err) || err_wrap(err, "on");
}

static bool cycle(struct power *p, const struct power_driver *d, struct err *err)
{
	if (turn(p, d, POWER_CYCLE, POWER_IS_ON, err))
		return true;
	return err->kind == ERR_NOTFOUND && off_and_on(p, d, POWER_OFF, err);
}

static bool reset(struct power *p, const struct power_driver *d, struct err *err)
{
	if (is_off(p, d))
		return turn(p, d, POWER_ON, POWER_IS_ON, err);
	if (turn(p, d, POWER_RESET, POWER_IS_ON, err))
		return true;
	return err->kind == ERR_NOTFOUND && cycle(p, d, err);
}

static bool perform(struct power *p, const struct power_driver *d, enum power_verb verb,
		    struct err *err)
{
	switch (verb) {
	case POWER_ON:
		return turn(p, d, verb, POWER_IS_ON, err);
	case POWER_OFF:
		return turn(p, d, verb, POWER_IS_OFF, err);
	case POWER_CYCLE:
		return cycle(p, d, err);
	case POWER_RESET:
		return reset(p, d, err);
	case POWER_SOFT:
		return off_and_on(p, d, verb, err);
	case POWER_NMI:
	case POWER_VERBS:
		break;
	}
	return give(p, d, POWER_NMI, err);
}

static bool bounded(struct power *p, const struct power_driver *d, enum power_verb verb,
		    struct err *err)
{
	bool ok;

	begin(p);
	ok = perform(p, d, verb, err);
	end(p, d);
	return ok;
}

bool power_do_by(struct power *p, size_t i, enum power_verb verb, struct err *err)
{
	return bounded(p, p->v[i], verb, err) ||
	       err_wrap(err, "machine %s: power %s by %s", p->machine, verbs[verb], p->v[i]->name);
}

static bool no_power(const struct power *p, struct err *err)
{
	return err_set(err, ERR_USAGE,
		       "machine %s has no power control: set power (and what its driver wants) in "
		       "[machine \"%s\"], see mmperf.conf(5)",
		       p->machine, p->machine);
}

bool power_do(struct power *p, enum power_verb verb, struct err *err)
{
	AUTO_STR said = str_new();

	if (!p->n)
		return no_power(p, err);
	for (size_t i = 0; i < p->n; i++) {
		if (bounded(p, p->v[i], verb, err))
			return true;
		if (err->kind == ERR_CONFLICT)
			return false;
		str_addf(&said, "%s%s: %s", i ? "; " : "", p->v[i]->name, err->msg);
	}
	return err_set(err, err->kind, "machine %s: power %s: %s", p->machine, verbs[verb], said.s);
}

bool power_state(struct power *p, enum power_state *out, struct err *err)
{
	bool failed = false;

	if (!p->n)
		return no_power(p, err);
	*out = POWER_UNKNOWN;
	for (size_t i = 0; i < p->n && *out == POWER_UNKNOWN; i++) {
		bool ok = true;

		begin(p);
		if (p->v[i]->ask)
			ok = p->v[i]->ask(&p->link, out, err) || err->kind == ERR_NOTFOUND;
		end(p, p->v[i]);
		if (ok)
			continue;
		err_wrap(err, "machine %s: power state by %s", p->machine, p->v[i]->name);
		failed = true;
	}
	return *out != POWER_UNKNOWN || !failed;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Children of `mmperf up`. */
#include "cli/daemons.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "cli/places.h"
#include "cli/state.h"

#define BACKOFF_FIRST_S 1.0
#define BACKOFF_MAX_S	60.0
#define STEADY_S	60.0 /* one that ran so long starts with a short wait again */
#define STOP_GRACE_S	30.0
#define HOPELESS	5

static bool find_programs(struct daemons *daemons, struct err *err)
{
	for (size_t i = 0; i < DAEMONS_N; i++) {
		AUTO_FREE char *name = xasprintf("mmperf-%s", daemons->v[i].name);

		if (!place_program(name, &daemons->v[i].path, err))
			return false;
	}
	return true;
}

bool daemons_init(struct daemons *daemons, const struct settings *settings, struct err *err)
{
	/* In the order in which they are stopped. */
	static const char *const names[DAEMONS_N] = {"bisector", "runner", "reporter"};
	struct daemons fresh = {0};

	if (!state_service_user(&fresh.user, err))
		return false;
	for (size_t i = 0; i < DAEMONS_N; i++)
		fresh.v[i] = (struct daemon_child){.name = names[i], .proc = PROC_NONE};
	fresh.config = realpath(conf_path(settings->conf), NULL);
	if (fresh.config && find_programs(&fresh, err)) {
		*daemons = fresh;
		return true;
	}
	if (!fresh.config)
		err_sys(err, "%s", conf_path(settings->conf));
	daemons_release(&fresh);
	return false;
}

void daemons_release(struct daemons *daemons)
{
	daemons_stop(daemons);
	for (size_t i = 0; i < DAEMONS_N; i++)
		free(daemons->v[i].path);
	free(daemons->config);
	*daemons = (struct daemons){0};
}

static bool start(const struct daemons *daemons, struct daemon_child *child, struct err *err)
{
	CLEANUP(proc_spec_release) struct proc_spec spec = {0};

	strs_pushl(&spec.argv, child->path, "--config", daemons->config, NULL);
	/* The runner changes users itself; the others need no rights. */
	spec.keep_rights = !strcmp(child->name, "runner");
	spec.user = spec.keep_rights ? NULL : daemons->user;
	if (!proc_start(&spec, &child->proc, err))
		return err_wrap(err, "%s", child->name);
	child->started_s = clock_mono_s();
	log_info("%s: started, process %d", child->name, (int)child->proc.pid);
	return true;
}

static void note_end(struct daemon_child *child, int status)
{
	double now = clock_mono_s();

	if (now - child->started_s > STEADY_S) {
		child->backoff_s = 0;
		child->failures = 0;
	}
	child->failures++;
	child->backoff_s =
		child->backoff_s > 0 ? fmin(2 * child->backoff_s, BACKOFF_MAX_S) : BACKOFF_FIRST_S;
	child->restart_at_s = now + child->backoff_s;
	log_warn("%s: ended with status %d; starting it again in %g s", child->name, status,
		 child->backoff_s);
}

bool daemons_look(struct daemons *daemons, struct err *err)
{
	for (size_t i = 0; i < DAEMONS_N; i++) {
		struct daemon_child *child = &daemons->v[i];
		int status;

		if (child->proc.pid > 0 && proc_wait(&child->proc, 0, &status))
			note_end(child, status);
		if (child->proc.pid <= 0 && clock_mono_s() >= child->restart_at_s &&
		    !start(daemons, child, err))
			return false;
	}
	return true;
}

const char *daemons_hopeless(const struct daemons *daemons)
{
	for (size_t i = 0; i < DAEMONS_N; i++)
		if (daemons->v[i].failures >= HOPELESS)
			return daemons->v[i].name;
	return NULL;
}

void daemons_stop(struct daemons *daemons)
{
	for (size_t i = 0; i < DAEMONS_N; i++) {
		struct daemon_child *child = &daemons->v[i];

		if (child->proc.pid <= 0)
			continue;
		proc_kill(&child->proc, STOP_GRACE_S);
		log_info("%s: stopped", child->name);
	}
}

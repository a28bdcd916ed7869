// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The running kernel, as it is: no image, no boot. The agent must be allowed to set knobs, so the
 * runner of such a machine is usually root.
 */
#include "runner/machines/drivers.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"

static const char *local_method(const struct machine *m _unused)
{
	return "none";
}

static char *job_path(const struct machine *m)
{
	return xasprintf("%s/job.json", m->worker->dir);
}

static bool local_load(struct machine *m, struct err *err)
{
	AUTO_FREE char *path = job_path(m);

	if (m->kernel)
		return err_set(err, ERR_USAGE,
			       "machine %s measures the running kernel and cannot boot an image",
			       m->name);
	return fs_write_atomic(path, m->job_text, strlen(m->job_text), 0644, err);
}

static bool local_start(struct machine *m, struct err *err)
{
	CLEANUP(proc_spec_release)
	struct proc_spec spec = {.out_path = m->lines_path, .cpus = m->worker->cpus};
	AUTO_FREE char *path = job_path(m);

	strs_pushl(&spec.argv, m->agent, "--job", path, NULL);
	m->started_s = clock_mono_s();
	if (!proc_start(&spec, &m->proc, err))
		return false;
	return machine_follow(
		m, MACHINE_HELLO,
		conf_f64(m->worker->settings->conf, "machine", m->name, "boot-timeout"), NULL, err);
}

static bool local_confirm(struct machine *m, struct err *err)
{
	return machine_confirm(m, false, err);
}

static bool local_run(struct machine *m, struct err *err)
{
	return machine_follow(
		m, MACHINE_END,
		conf_f64(m->worker->settings->conf, "machine", m->name, "run-timeout"), NULL, err);
}

/* There is no console, and an agent that breaks off is no fault of a kernel that lives on. */
static bool local_collect(struct machine *m, struct err *err _unused)
{
	const char *last = collect_last_log(m->collect);

	machine_stop(m);
	if (m->outcome && strcmp(m->outcome, "agent") != 0) {
		AUTO_FREE char *reason = str_take(&m->reason);

		machine_verdict(m, "agent", "%s%s%s", *last ? last : reason, *last ? "; " : "",
				*last ? reason : "");
	}
	return true;
}

static bool local_recover(struct machine *m, struct err *err _unused)
{
	machine_stop(m);
	return true;
}

static int local_cpus(const struct settings *settings _unused, const char *name _unused)
{
	return (int)sysconf(_SC_NPROCESSORS_ONLN);
}

static bool local_emulated(const struct settings *settings _unused, const char *name _unused)
{
	return false;
}

const struct machine_driver machine_local = {
	.name = "local",
	.method = local_method,
	.load = local_load,
	.start = local_start,
	.confirm = local_confirm,
	.run = local_run,
	.collect = local_collect,
	.recover = local_recover,
	.cpus = local_cpus,
	.emulated = local_emulated,
};

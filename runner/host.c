// SPDX-License-Identifier: GPL-2.0-or-later
/* Planning this host. */
#include "runner/host.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "db/build.h"
#include "db/machine.h"
#include "db/machine_event.h"
#include "runner/machine.h"
#include "runner/toolchain.h"

/* CPUs that the host keeps for itself and for builds beside guests. */
#define SPARE_CPUS 2

static const char *setting(const struct settings *settings, const char *machine, const char *key)
{
	return conf_str(settings->conf, "machine", machine, key);
}

static bool is_ours(const struct settings *settings, const char *machine)
{
	const char *host = setting(settings, machine, "host");

	return !host || !strcmp(host, settings->host);
}

static int cpus_of(const struct settings *settings, const char *machine)
{
	const struct machine_driver *driver;
	struct err ignored;

	if (!machine_driver_find(setting(settings, machine, "driver"), &driver, &ignored))
		return 0;
	return driver->cpus(settings, machine);
}

static char *cpu_list(const int *cpus, int n)
{
	AUTO_STR s = str_new();

	for (int i = 0; i < n; i++)
		str_addf(&s, "%s%d", i ? "," : "", cpus[i]);
	return str_take(&s);
}

/* Machines get CPUs from the end: the first ones take most of a host's interrupts. */
void host_plan(struct host *host, const struct settings *settings, const int *cpus, int n)
{
	const struct strs *names = conf_names(settings->conf, "machine");
	int wanted = 0, left = n;

	*host = (struct host){.cpus = n};
	for (size_t i = 0; i < names->n; i++) {
		struct host_machine *m;

		if (!is_ours(settings, names->v[i]))
			continue;
		m = array_push(host->machines, host->n, host->cap);
		m->name = names->v[i];
		m->cpus = cpus_of(settings, m->name);
		wanted += m->cpus;
	}
	host->turns = wanted && wanted + SPARE_CPUS > n;
	if (!wanted || host->turns)
		return;
	for (size_t i = 0; i < host->n; i++) {
		left -= host->machines[i].cpus;
		if (host->machines[i].cpus)
			host->machines[i].cpu_list = cpu_list(cpus + left, host->machines[i].cpus);
	}
	host->build_cpus = cpu_list(cpus, left);
}

void host_init(struct host *host, const struct settings *settings)
{
	int cpus[CPU_SETSIZE], n = 0;
	cpu_set_t set;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof(set), &set))
		CPU_SET(0, &set);
	for (int i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET((size_t)i, &set))
			cpus[n++] = i;
	host_plan(host, settings, cpus, n);
}

void host_release(struct host *host)
{
	for (size_t i = 0; i < host->n; i++)
		free(host->machines[i].cpu_list);
	free(host->machines);
	free(host->build_cpus);
	*host = (struct host){0};
}

bool host_check(const struct host *host, const struct settings *settings, struct err *err)
{
	for (size_t i = 0; i < host->n; i++) {
		const struct machine_driver *driver;
		const char *name = host->machines[i].name;

		if (!machine_driver_find(setting(settings, name, "driver"), &driver, err))
			return err_wrap(err, "machine %s", name);
	}
	return true;
}

static bool register_machine(const struct host *host, const struct settings *settings,
			     struct db *db, const char *name, struct err *err)
{
	const char *driver_name = setting(settings, name, "driver");
	const struct machine_driver *driver;
	int64_t class_id, id;

	return machine_driver_find(driver_name, &driver, err) &&
	       class_upsert(db, setting(settings, name, "class"), driver_name,
			    driver->emulated(settings, name), &class_id, err) &&
	       machine_upsert(db, name, class_id, host->id, &id, err) &&
	       machine_owner_set(db, name, setting(settings, name, "owner"), err);
}

static bool register_host(struct host *host, const struct settings *settings, struct db *db,
			  struct err *err)
{
	CLEANUP(toolchain_release) struct toolchain toolchain = {0};
	int64_t id;

	return toolchain_find(settings, &toolchain, err) &&
	       toolchain_upsert(db, toolchain.hash, toolchain.description, &id, err) &&
	       host_upsert(db, settings->host, id, host->cpus, &host->id, err);
}

bool host_register(struct host *host, const struct settings *settings, struct db *db,
		   struct err *err)
{
	AUTO_STR names = str_new();

	if (!register_host(host, settings, db, err))
		return false;
	for (size_t i = 0; i < host->n; i++) {
		if (!register_machine(host, settings, db, host->machines[i].name, err))
			return err_wrap(err, "machine %s", host->machines[i].name);
		str_addf(&names, "%s%s", i ? "\n" : "", host->machines[i].name);
	}
	return machine_retire(db, host->id, names.s, err);
}

static const struct host_machine *find(const struct host *host, const char *machine)
{
	for (size_t i = 0; machine && i < host->n; i++)
		if (!strcmp(host->machines[i].name, machine))
			return &host->machines[i];
	return NULL;
}

const char *host_cpus_for(const struct host *host, const char *machine)
{
	const struct host_machine *m = find(host, machine);

	if (!machine)
		return host->build_cpus;
	return m ? m->cpu_list : NULL;
}

bool host_keeps_busy(const struct host *host, const char *machine)
{
	const struct host_machine *m = find(host, machine);

	return m && m->cpus;
}

struct job_offer host_offer(const struct host *host, const struct host_load *load)
{
	bool idle = !load->builds && !load->boots;

	return (struct job_offer){
		.host = host->id,
		.build = !load->builds && (idle || !host->turns),
		.boot = idle || !host->turns,
	};
}

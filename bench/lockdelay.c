// SPDX-License-Identifier: GPL-2.0-or-later
/* Delaying lock holders, user side. */
#include "bench/lockdelay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "bench/bpf_log.h"
#include "bench/lock_delays.h"

#include "lockdelay.skel.h"

#define EVERY 32

struct lockdelay {
	struct lockdelay_bpf *skel;
	int cpus; /* possible ones */
};

static const char *const locks[LOCK_DELAYS] = {
	[LOCK_DELAY_LRUVEC] = "lruvec",
	[LOCK_DELAY_ZONE] = "zone",
};

bool lockdelay_open(struct lockdelay **out, struct err *err)
{
	CLEANUP(lockdelay_free_ptr) struct lockdelay *delay = xcalloc(1, sizeof(*delay));

	delay->cpus = libbpf_num_possible_cpus();
	if (delay->cpus < 1)
		return err_set(err, ERR_FAILED, "cannot tell the number of possible CPUs");
	bpf_log_start();
	errno = 0;
	delay->skel = lockdelay_bpf__open_and_load();
	if (!delay->skel)
		return bpf_log_err(err,
				   "cannot load the delaying BPF programs (root? kernel 5.17?)");
	if (lockdelay_bpf__attach(delay->skel))
		return err_sys(err, "no tracepoints mm_lru_insertion and mm_page_pcpu_drain");
	*out = TAKE(delay);
	return true;
}

void lockdelay_free(struct lockdelay *delay)
{
	if (!delay)
		return;
	lockdelay_bpf__destroy(delay->skel);
	free(delay);
}

void lockdelay_free_ptr(struct lockdelay **delay)
{
	lockdelay_free(*delay);
}

static bool find_lock(const char *name, uint32_t *which)
{
	for (*which = 0; *which < LOCK_DELAYS; (*which)++) {
		if (!strcmp(locks[*which], name))
			return true;
	}
	return false;
}

/* "20us", "1500ns", and what str_to_seconds() knows. */
static bool parse_time(const char *text, double *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = {{"us", 1e3}, {"ns", 1}};
	double value;

	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (str_ends(text, units[i].unit)) {
			AUTO_FREE char *number =
				xstrndup(text, strlen(text) - strlen(units[i].unit));

			if (!str_to_f64(number, &value))
				return false;
			*ns = value * units[i].ns;
			return true;
		}
	}
	if (!str_to_seconds(text, &value))
		return false;
	*ns = value * 1e9;
	return true;
}

bool lockdelay_set(struct lockdelay *delay, const char *text, struct err *err)
{
	AUTO_FREE char *lock = xstrndup(text, strcspn(text, "="));
	const char *equals = strchr(text, '=');
	AUTO_FREE char *time = equals ? xstrndup(equals + 1, strcspn(equals + 1, "/")) : NULL;
	const char *slash = equals ? strchr(equals, '/') : NULL;
	long long every = EVERY;
	struct lock_delay value;
	uint32_t which;
	double ns;

	if (!find_lock(lock, &which))
		return err_set(err, ERR_USAGE, "delay \"%s\": only lruvec and zone can be delayed",
			       text);
	if (!time || !parse_time(time, &ns) || ns < 0 || ns > LOCK_DELAY_MAX_NS)
		return err_set(err, ERR_USAGE, "delay \"%s\": wants LOCK=TIME, at most 10ms", text);
	if (slash && (!str_to_i64(slash + 1, &every) || every < 1 || every > UINT32_MAX))
		return err_set(err, ERR_USAGE, "delay \"%s\": wants a whole number behind the /",
			       text);
	value = (struct lock_delay){.ns = (uint32_t)ns, .every = (uint32_t)every};
	if (bpf_map_update_elem(bpf_map__fd(delay->skel->maps.delays), &which, &value, BPF_ANY))
		return err_sys(err, "cannot set the delay");
	return true;
}

uint64_t lockdelay_count(const struct lockdelay *delay, const char *lock)
{
	AUTO_FREE struct lock_delayed *cpus = xcalloc((size_t)delay->cpus, sizeof(*cpus));
	uint64_t n = 0;
	uint32_t which;

	if (!find_lock(lock, &which) ||
	    bpf_map_lookup_elem(bpf_map__fd(delay->skel->maps.delayed), &which, cpus))
		return 0;
	for (int cpu = 0; cpu < delay->cpus; cpu++)
		n += cpus[cpu].n;
	return n;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_POWER_DRIVERS_H
#define RUNNER_POWER_DRIVERS_H

/* The power drivers that there are; one file each. */

#include "runner/power.h"

/* One driver at work on one machine. */
struct power_link {
	const struct settings *settings;
	const char *machine;
	double end_s; /* of the verb, by clock_mono_s() */
	void *state;  /* the driver's, for one verb: from its first use to end() */
};

struct power_driver {
	const char *name;
	/* Settings and secrets, without a word to the outside. */
	bool (*check)(struct power_link *link, struct err *err);
	/* The device took the order. ERR_NOTFOUND: it has none for this verb, another way is tried.
	 * POWER_SOFT is only the shutting down here. */
	bool (*order)(struct power_link *link, enum power_verb verb, struct err *err);
	/* NULL, or ERR_NOTFOUND: the device cannot tell. Writes *out only when it can. */
	bool (*ask)(struct power_link *link, enum power_state *out, struct err *err);
	/* After each verb, however it went: lets go of state. May be NULL. */
	void (*end)(struct power_link *link);
};

extern const struct power_driver power_exec;
extern const struct power_driver power_ipmi;
extern const struct power_driver power_pdu;
extern const struct power_driver power_redfish;

/* The machine's own setting. */
const char *power_str(const struct power_link *link, const char *key);
/* The same; ERR_USAGE when it is not set. */
bool power_need(const struct power_link *link, const char *key, const char **out,
		struct err *err) _must_check;
double power_seconds(const struct power_link *link, const char *key);
/* Seconds that are left, at most limit_s; ERR_TIMEOUT when there are none. */
bool power_left(const struct power_link *link, double limit_s, double *out,
		struct err *err) _must_check;

#endif

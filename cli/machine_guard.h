/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_MACHINE_GUARD_H
#define CLI_MACHINE_GUARD_H

/* Who touches a machine by hand must be alone with it. */

#include "db/conn.h"

struct machine_owner {
	struct db *db;
	const char *machine;
};

/* The machine is out of service and no boot holds it; for struct power_guard. ERR_USAGE tells what
 * to do first. */
bool machine_is_ours(void *owner, double for_s, struct err *err) _must_check;

#endif

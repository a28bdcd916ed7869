// SPDX-License-Identifier: GPL-2.0-or-later
/* Being alone with a machine. */
#include "cli/machine_guard.h"

#include <string.h>

#include "db/machine.h"

bool machine_is_ours(void *arg, double for_s _unused, struct err *err)
{
	const struct machine_owner *owner = arg;
	AUTO_FREE char *state = NULL;
	int64_t token;

	if (!machine_holder(owner->db, owner->machine, &state, &token, err))
		return false;
	if (state && !strcmp(state, "up"))
		return err_set(err, ERR_USAGE,
			       "machine %s is in service: first run `mmperf machines offline %s`",
			       owner->machine, owner->machine);
	if (token)
		return err_set(err, ERR_USAGE,
			       "machine %s still has a boot that is finished first; `mmperf "
			       "machines` shows it",
			       owner->machine);
	return true;
}

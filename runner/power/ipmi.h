/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef RUNNER_POWER_IPMI_H
#define RUNNER_POWER_IPMI_H

/* Calling ipmitool, for power and for the serial console over the network (SOL). */

#include "base/proc.h"
#include "db/settings.h"

/* bmc-host, bmc-user, bmc-password-file, ipmi-options, and that ipmitool is installed. */
bool ipmi_check(const struct settings *settings, const char *machine, struct err *err) _must_check;
/* "ipmitool ... words": argv without the password, which goes into the environment. To be released
 * by ipmi_wipe(). words end with NULL. */
bool ipmi_command(const struct settings *settings, const char *machine, const char *const *words,
		  struct proc_spec *spec, struct err *err) _must_check;
void ipmi_wipe(struct proc_spec *spec);

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_MACHINE_VERBS_H
#define CLI_MACHINE_VERBS_H

/*
 * What `mmperf machine` can do, one file each: cli/machine_VERB.c and its line in cmd_machine.c.
 * Each is a command whose name is "machine VERB"; run() is called with argv[0] = "VERB".
 */

#include "cli/command.h"

extern const struct command machine_add;
extern const struct command machine_check;
extern const struct command machine_console;
extern const struct command machine_power;
extern const struct command machine_quarantine;
extern const struct command machine_release_verb;
extern const struct command machine_show;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_SIMULATE_H
#define CLI_SIMULATE_H

/* What can be simulated. Each lives in cli/simulate_X.c and has one line in cli/cmd_simulate.c. */

#include "cli/command.h"

/* Run like commands; their names have two words: "simulate bisect". */
extern const struct command simulate_bisect;
extern const struct command simulate_detect;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef CLI_COMMAND_H
#define CLI_COMMAND_H

/* What a subcommand is. Each lives in cli/cmd_NAME.c and has one line in cli/main.c. */

#include "base/opt.h"

struct session;

struct command {
	const char *name;
	const char *summary; /* a phrase for the list of commands */
	const char *usage;   /* what stands behind `mmperf NAME`; lines for several forms */
	const char *about;   /* a paragraph for --help, lines up to 78 columns; may be NULL */
	/* argv[0] is the command's name. What it found out beside success (a regression) goes to
	 * session_found(); the caller prints err and chooses the exit status. */
	bool (*run)(struct session *session, int argc, char **argv, struct err *err) _must_check;
};

extern const struct command cmd_bisect;
extern const struct command cmd_compare;
extern const struct command cmd_db;
extern const struct command cmd_demo;
extern const struct command cmd_init;
extern const struct command cmd_log;
extern const struct command cmd_machine;
extern const struct command cmd_noise;
extern const struct command cmd_machines;
extern const struct command cmd_regressions;
extern const struct command cmd_report;
extern const struct command cmd_run;
extern const struct command cmd_simulate;
extern const struct command cmd_status;
extern const struct command cmd_up;

/*
 * Parses a command's arguments: its own options (may be NULL) and the common ones. *done is set
 * when --help was asked for and has been printed. Wants min to max operands.
 */
bool command_parse(struct session *session, const struct command *command, const struct opt *opts,
		   int argc, char **argv, size_t min, size_t max, struct strs *operands, bool *done,
		   struct err *err) _must_check;

/* The options that may also stand before the command; at most COMMAND_COMMON_MAX entries. */
#define COMMAND_COMMON_MAX 4
size_t command_common(struct session *session, struct opt out[COMMAND_COMMON_MAX]);

#endif

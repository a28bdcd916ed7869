// SPDX-License-Identifier: GPL-2.0-or-later
/* The mmperf command. */
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/session.h"

/* In the order of the help: set up, watch, ask, look up. */
static const struct command *const commands[] = {
	&cmd_init,     &cmd_up,	     &cmd_demo,	  &cmd_status,	    &cmd_log,
	&cmd_run,      &cmd_compare, &cmd_bisect, &cmd_regressions, &cmd_report,
	&cmd_machines, &cmd_machine, &cmd_noise,  &cmd_db,	    &cmd_simulate,
};

static void print_help(FILE *f, const struct opt *opts)
{
	fprintf(f, "usage: mmperf [options] COMMAND [arguments]\n\n"
		   "Performance CI for the Linux mm tree: builds and measures its commits, finds\n"
		   "what made them slower, and reports it.\n\ncommands:\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(f, "  %-12s %s\n", commands[i]->name, commands[i]->summary);
	fprintf(f, "\noptions:\n");
	opt_help(opts, f);
	fprintf(f, "\n`mmperf COMMAND --help` tells more. Exit status: 0 done, 1 failed, 2 wrong\n"
		   "arguments or settings, 3 a regression was found.\n");
}

static const struct command *find(const char *name, struct err *err)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		if (!strcmp(commands[i]->name, name))
			return commands[i];
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (str_resembles(name, commands[i]->name)) {
			err_set(err, ERR_USAGE, "unknown command \"%s\"; did you mean \"%s\"?",
				name, commands[i]->name);
			return NULL;
		}
	}
	err_set(err, ERR_USAGE, "unknown command \"%s\"; `mmperf --help` lists them", name);
	return NULL;
}

/* Index of the command's name: the first word that is neither an option nor --config's value. */
static int command_index(int argc, char **argv)
{
	int i = 1;

	while (i < argc && argv[i][0] == '-')
		i += strcmp(argv[i], "--config") ? 1 : 2;
	return i < argc ? i : argc;
}

static bool dispatch(struct session *session, int argc, char **argv, struct err *err)
{
	const struct command *command;

	if (strcmp(argv[0], "help"))
		command = find(argv[0], err);
	else
		command = argc > 1 ? find(argv[1], err) : NULL;
	if (!command)
		return false;
	if (!strcmp(argv[0], "help")) {
		char flag[] = "--help", *args[] = {argv[1], flag, NULL};

		return command->run(session, 2, args, err);
	}
	return command->run(session, argc, argv, err);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	struct opt opts[COMMAND_COMMON_MAX];
	size_t n = command_common(session, opts);
	int at = command_index(argc, argv);
	AUTO_STRS none = STRS_INIT;
	bool help, version = false;

	opts[n] =
		(struct opt){0, "version", OPT_FLAG, &version, NULL, "print the version and exit"};
	if (!opt_parse(opts, at, argv, &none, &help, err))
		return false;
	if (at < argc && !strcmp(argv[at], "help") && at + 1 == argc)
		help = true;
	if (version)
		printf("mmperf %s\n", MMPERF_VERSION);
	else if (help)
		print_help(stdout, opts);
	else if (at == argc)
		return err_set(err, ERR_USAGE, "no command given; `mmperf --help` lists them");
	else
		return dispatch(session, argc - at, argv + at, err);
	return true;
}

int main(int argc, char **argv)
{
	CLEANUP(session_release) struct session session = {0};
	struct err err = {0};

	repo_init();
	if (!run(&session, argc, argv, &err)) {
		fflush(stdout);
		fprintf(stderr, "mmperf: %s\n", err.msg);
		return err_exit_status(&err);
	}
	if (fflush(stdout) || ferror(stdout)) {
		fprintf(stderr, "mmperf: cannot write the answer to stdout\n");
		return 1;
	}
	return session.found ? 3 : 0;
}

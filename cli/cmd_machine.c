// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf machine: one machine and what is done with it by hand. */
#include <string.h>

#include "cli/command.h"
#include "cli/machine_verbs.h"
#include "cli/session.h"

static const struct command *const verbs[] = {
	&machine_add,	  &machine_check,      &machine_show,	      &machine_power,
	&machine_console, &machine_quarantine, &machine_release_verb,
};

#define NAME_OFFSET (sizeof("machine ") - 1)

static void print_help(void)
{
	printf("usage: mmperf machine VERB NAME [arguments]\n\n"
	       "One test machine and what a person does with it; `mmperf machines` lists all.\n\n"
	       "verbs:\n");
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		printf("  %-12s %s\n", verbs[i]->name + NAME_OFFSET, verbs[i]->summary);
	printf("\n`mmperf machine VERB --help` tells more.\n");
}

static bool unknown(const char *word, struct err *err)
{
	AUTO_STR known = str_new();

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		str_addf(&known, "%s%s", i ? ", " : "", verbs[i]->name + NAME_OFFSET);
	return err_set(err, ERR_USAGE, "machine: there is no verb \"%s\"; there are: %s", word,
		       known.s);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	if (argc < 2)
		return err_set(err, ERR_USAGE,
			       "machine: say what to do; `mmperf machine --help` lists the verbs");
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
		print_help();
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(verbs[i]->name + NAME_OFFSET, argv[1]))
			return verbs[i]->run(session, argc - 1, argv + 1, err);
	return unknown(argv[1], err);
}

const struct command cmd_machine = {
	.name = "machine",
	.summary = "power and care of one test machine",
	.usage = "VERB NAME [arguments]",
	.run = run,
};

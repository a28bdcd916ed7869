// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf simulate: the decisions over made-up noise. */
#include <stdlib.h>
#include <string.h>

#include "cli/session.h"
#include "cli/simulate.h"

static const struct command *const kinds[] = {
	&simulate_bisect,
	&simulate_detect,
};

static const char *word_of(const struct command *kind)
{
	return strchr(kind->name, ' ') + 1;
}

static const struct command *find(const char *word)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		if (!strcmp(word, word_of(kinds[i])))
			return kinds[i];
	return NULL;
}

static char *words(void)
{
	AUTO_STR s = str_new();

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		str_addf(&s, "%s%s", i ? ", " : "", word_of(kinds[i]));
	return str_take(&s);
}

static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	AUTO_STRS operands = STRS_INIT;
	const struct command *kind = argc > 1 ? find(argv[1]) : NULL;
	AUTO_FREE char *known = words();
	bool help;

	if (kind)
		return kind->run(session, argc - 1, argv + 1, err);
	if (!command_parse(session, &cmd_simulate, NULL, argc, argv, 1, SIZE_MAX, &operands, &help,
			   err))
		return false;
	return help ||
	       err_set(err, ERR_USAGE, "simulate: \"%s\" is none of %s", operands.v[0], known);
}

const struct command cmd_simulate = {
	.name = "simulate",
	.summary = "try the decisions over made-up noise: what would it cost, how often right?",
	.usage = "bisect|detect [options]",
	.about =
		"Runs the shipped code, as the bisector runs it, over noise of which the truth is\n"
		"known. Needs no settings and no database, but for --from-db. The same seed gives "
		"the same answer.\n"
		"`mmperf simulate bisect --help` tells more, and so does detect's.",
	.run = run,
};

// SPDX-License-Identifier: GPL-2.0-or-later
/* mmperf demo: the main job on this machine. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/places.h"
#include "cli/session.h"

static bool become_demo(int argc, char **argv, struct err *err)
{
	AUTO_FREE char *script = NULL;
	AUTO_FREE char **args = xcalloc((size_t)argc + 2, sizeof(*args));
	char shell[] = "sh";

	if (!place_program("demo", &script, err))
		return false;
	args[0] = shell;
	args[1] = script;
	for (int i = 1; i < argc; i++)
		args[i + 1] = argv[i];
	execv("/bin/sh", args);
	return err_sys(err, "cannot run %s", script);
}

/* Its arguments are the script's, all but --help. */
static bool run(struct session *session, int argc, char **argv, struct err *err)
{
	AUTO_STRS none = STRS_INIT;
	bool help = false;

	if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")))
		return command_parse(session, &cmd_demo, NULL, argc, argv, 0, 0, &none, &help, err);
	return become_demo(argc, argv, err);
}

const struct command cmd_demo = {
	.name = "demo",
	.summary = "find a planted regression on this machine",
	.usage = "[arguments of the demo script]",
	.about = "Makes a kernel tree with a regression in it, follows, builds and measures it in "
		 "QEMU\n"
		 "guests, and shows the report that comes out. Needs no settings and touches none.",
	.run = run,
};
